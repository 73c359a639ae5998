//! `jp-policy config check`: says everything that is wrong with the configuration.

use anyhow::Result;
use jp_policy_config::{ConfigError, Diagnostic, Severity};
use jp_policy_core::text::plural;
use serde_json::json;

use super::{
    page::{place, print},
    policy,
};
use crate::cli::{
    Exit, Format, config_args::ConfigArgs, diagnostics, policy::CacheArgs, print_envelope,
};

/// Say everything that is wrong with the configuration
///
/// The configured policy is asked too, whether it takes the fields and options that it is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy config check
  jp-policy config check --config tools/ --strict --format json

Exit codes: 0 it holds, 1 it does not, 2 wrong use, or there is none.")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Take warnings for errors
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    cache: CacheArgs,
    /// How the outcome is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let (problems, tools, keys) = match args.config.layers()?.build() {
        Ok(config) => {
            let mut problems = config.warnings.clone();
            problems.extend(policy::problems(&config, &args.cache)?);
            (problems, config.tools.len(), config.settings().keys.len())
        }
        Err(ConfigError(problems)) => (problems, 0, 0),
    };
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let holds = errors == 0 && (warnings == 0 || !args.strict);
    match args.format {
        Format::Json => print_envelope(
            "config.check",
            &json!({
                "holds": holds,
                "problems": problems.iter().map(to_json).collect::<Vec<_>>(),
            }),
        )?,
        Format::Text => {
            diagnostics::print(&problems);
            let found = match (errors, warnings) {
                (0, 0) => String::new(),
                (0, warnings) => format!(", {}", plural(warnings, "warning")),
                (errors, 0) => plural(errors, "error"),
                (errors, warnings) => {
                    format!("{}, {}", plural(errors, "error"), plural(warnings, "warning"))
                }
            };
            print(&if errors == 0 {
                let about = format!("{}, {}", plural(tools, "tool"), plural(keys, "key"));
                format!(
                    "the configuration {}: {about}{found}\n",
                    if holds { "holds" } else { "does not hold" }
                )
            } else {
                format!("the configuration does not hold: {found}\n")
            })?;
        }
    }
    Ok(if holds { Exit::Fine } else { Exit::Failed })
}

fn to_json(problem: &Diagnostic) -> serde_json::Value {
    let places = problem.labels.iter().map(|(at, label)| {
        let mut at = place(at);
        at["label"] = label.as_str().into();
        at
    });
    json!({
        "severity": match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": problem.message,
        "places": places.collect::<Vec<_>>(),
        "help": problem.help,
    })
}
