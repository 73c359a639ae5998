//! `jp-policy config explain`: which layers touched a value, and which won.

use anyhow::Result;
use jp_policy_config::{Config, Explanation, Says, Winner};
use jp_policy_core::text::clean;
use serde_json::{Value as Json, json};

use super::page::{NAME, TITLE, place, print, row};
use crate::cli::{
    Exit, Format, config_args::ConfigArgs, diagnostics, layout::columns, print_envelope,
};

/// Say which layers touched a value, and which won
///
/// Layers have the names that jp gives them; `config` are the files of `--config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy config explain tools.github_issues.concurrency
  jp-policy config explain conversation.release.policy --format json

Exit codes: 0 fine, 2 wrong use, or there is no such tool.")]
pub(in crate::cli) struct Args {
    /// The value: names with dots between them, those with dots of their own in quotes
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    config: ConfigArgs,
    /// How the outcome is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let layers = args.config.layers()?;
    diagnostics::print(layers.problems());
    let explanation = layers.explain(&args.key)?;
    // What is wrong elsewhere is `check`'s to say; a value can be explained all the same.
    let config = layers.build().ok();
    if config.is_none() {
        diagnostics::warn("the configuration does not hold: `jp-policy config check` says why");
    }
    match args.format {
        Format::Text => print(&text(&explanation, config.as_ref(), columns()))?,
        Format::Json => print_envelope("config.explain", &to_json(&explanation))?,
    }
    Ok(Exit::Fine)
}

/// Width of the longest name of a layer, and two blanks.
const LAYER: usize = 16;

fn text(explanation: &Explanation, config: Option<&Config>, width: usize) -> String {
    let path: Vec<String> = explanation.path.iter().map(|name| clean(name)).collect();
    let mut out = format!("{TITLE}{}{TITLE:#}\n\n", path.join("."));
    let mut before: Option<&str> = None;
    for step in &explanation.steps {
        let name = format!("{NAME}{}{NAME:#}", step.layer.name());
        let shown = |path: &std::path::Path| clean(&path.display().to_string());
        let says = match &step.says {
            Says::Nothing => "-".to_owned(),
            Says::Missing(path) => format!("{} is not there", shown(path)),
            Says::Closed(path) => {
                format!("{} is not read: a layer before it says `inherit = false`", shown(path))
            }
            Says::Value { place, text, .. } => {
                format!("{}  {}", clean(&place.to_string()), clean(text))
            }
        };
        out += &row(&name, LAYER, &says, width);
        if let Says::Value { text, then, .. } = &step.says {
            let then = then.as_deref();
            if then != Some(text) && before.is_some_and(|_| then != before) {
                let made = then.map_or_else(|| "nothing is left".to_owned(), clean);
                out += &row("", LAYER, &format!("-> {made}"), width);
            }
            before = Some(then.unwrap_or_default());
        }
    }
    let value = explanation.value.as_deref().map_or_else(|| "unset".to_owned(), clean);
    out += &format!("\n{}", row("in force", LAYER, &value, width));
    for Winner { field, layer, place } in &explanation.winners {
        let place = format!("from {}  {}", layer.name(), clean(&place.to_string()));
        out += &row(
            &format!("  {}", field.as_deref().map_or_else(String::new, clean)),
            LAYER,
            &place,
            width,
        );
    }
    if let Some(meaning) = config.and_then(|config| meaning(explanation, config)) {
        out += &format!("\n{}", row("", 0, &meaning, width).trim_start_matches(' '));
    }
    out
}

/// What a tool's concurrency means for its calls.
fn meaning(explanation: &Explanation, config: &Config) -> Option<String> {
    let [_, tools, name, rest @ ..] = explanation.path.as_slice() else {
        return None;
    };
    let asked = rest.first().is_none_or(|field| field == "concurrency");
    let tool = config.tools.get(name).filter(|_| tools == "tools" && asked)?;
    let Some((key, limit)) = tool.concurrency.as_ref().and_then(|found| found.bound()) else {
        return Some(format!("Any number of executions of {} may run at once.", clean(name)));
    };
    let others: Vec<String> = config
        .tools
        .values()
        .filter(|other| other.name != *name)
        .filter(|other| other.concurrency.as_ref().is_some_and(|found| found.key == key))
        .map(|other| clean(&other.name))
        .collect();
    let shared = match others.as_slice() {
        [] => String::new(),
        others => format!(", those of {} counted in", others.join(", ")),
    };
    let executions = if limit == 1 { "execution" } else { "executions" };
    Some(format!("At most {limit} {executions} with key \"{}\" at once{shared}.", clean(key)))
}

fn to_json(explanation: &Explanation) -> Json {
    let steps = explanation.steps.iter().map(|step| {
        let mut json = json!({ "layer": step.layer.name() });
        match &step.says {
            Says::Nothing => json["says"] = "nothing".into(),
            Says::Missing(path) => {
                json["says"] = "missing".into();
                json["path"] = path.to_string_lossy().into();
            }
            Says::Closed(path) => {
                json["says"] = "closed".into();
                json["path"] = path.to_string_lossy().into();
            }
            Says::Value { place: at, text, then } => {
                json["says"] = "value".into();
                json["place"] = place(at);
                json["value"] = text.as_str().into();
                json["then"] = then.as_deref().into();
            }
        }
        json
    });
    let winners = explanation.winners.iter().map(|winner| {
        json!({ "field": winner.field, "layer": winner.layer.name(), "place": place(&winner.place) })
    });
    json!({
        "path": explanation.path,
        "layers": steps.collect::<Vec<_>>(),
        "value": explanation.value,
        "winners": winners.collect::<Vec<_>>(),
    })
}
