//! `jp-policy config show`: what is in force.

use std::collections::BTreeMap;

use anyhow::Result;
use jp_policy_config::{Concurrency, Config, FileStatus, Layer, Layers, Tool};
use jp_policy_core::text::clean;
use serde_json::{Value as Json, json};

use super::{
    page::{NAME, place, print, row},
    policy::{About, about},
};
use crate::cli::{
    Exit, Format,
    config_args::ConfigArgs,
    diagnostics,
    layout::{columns, grouped, time},
    print_envelope,
};

/// Show what is in force: keys with their limits and tools, and the policy
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy config show
  jp-policy config show --config tools/ --format json

Exit codes: 0 fine, 2 wrong use or configuration.")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// How the outcome is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let layers = args.config.layers()?;
    let config = layers.clone().build()?;
    diagnostics::print(&config.warnings);
    let about = about(&config);
    match args.format {
        Format::Text => print(&text(&config, &layers, &about, columns()))?,
        Format::Json => print_envelope("config.show", &to_json(&config, &layers, &about))?,
    }
    Ok(Exit::Fine)
}

/// The keys that limit something, with the tools that name them.
fn keys(config: &Config) -> BTreeMap<&str, Vec<(&Tool, &Concurrency)>> {
    let mut keys: BTreeMap<&str, Vec<(&Tool, &Concurrency)>> = BTreeMap::new();
    for tool in config.tools.values() {
        if let Some(concurrency) = &tool.concurrency
            && let Some((key, _)) = concurrency.bound()
        {
            keys.entry(key).or_default().push((tool, concurrency));
        }
    }
    keys
}

/// The tools that nothing limits: those that say so, and those that say nothing.
fn unlimited(config: &Config) -> (Vec<&Tool>, Vec<&Tool>) {
    let bound =
        |tool: &&Tool| tool.concurrency.as_ref().is_some_and(|found| found.bound().is_some());
    config.tools.values().filter(|tool| !bound(tool)).partition(|tool| tool.unbounded_on_purpose)
}

/// A name longer than this has its members on lines of their own.
const LONGEST_KEY: usize = 24;

/// Width of the names of the lower part.
const LABEL: usize = 10;

fn text(config: &Config, layers: &Layers, about: &About, width: usize) -> String {
    let mut out = String::new();
    let keys = keys(config);
    if !keys.is_empty() {
        let shown = |key: &str| console::measure_text_width(&clean(key)).min(LONGEST_KEY);
        let name = keys.keys().map(|key| shown(key)).max().unwrap_or(0).max("key".len());
        let digits = keys.values().map(|members| members[0].1.limit.to_string().len()).max();
        let limit = digits.unwrap_or(0).max("limit".len());
        let indent = name + limit + 4;
        out += &format!("{NAME}{:<name$}  {:>limit$}  tools{NAME:#}\n", "key", "limit");
        for (key, members) in &keys {
            let (_, first) = members[0];
            let key = clean(key);
            let tools = names(members.iter().map(|(tool, _)| *tool));
            let gap = name.saturating_sub(console::measure_text_width(&key));
            if console::measure_text_width(&key) > name {
                out += &format!("{key}\n");
                out +=
                    &row(&format!("{:name$}  {:>limit$}", "", first.limit), indent, &tools, width);
            } else {
                let head = format!("{key}{}  {:>limit$}", " ".repeat(gap), first.limit);
                out += &row(&head, indent, &tools, width);
            }
            for (field, entry) in &first.fields {
                let value = clean(&entry.node.value.quote());
                out += &row("", indent, &format!("+ {} = {value}", clean(field)), width);
            }
        }
    }
    let (lifted, unset) = unlimited(config);
    let all_limited = unset.is_empty() && lifted.is_empty();
    if !keys.is_empty() && !all_limited {
        out.push('\n');
    }
    for (label, tools) in [("no limit", unset), ("lifted", lifted)] {
        if !tools.is_empty() {
            out += &row(&format!("{label:LABEL$}"), LABEL, &names(tools), width);
        }
    }
    if config.tools.is_empty() {
        out += &row("tools", LABEL, "none", width);
    }
    out += &policy(config, about, width);
    out += &sources(layers);
    out
}

fn names<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> String {
    tools.into_iter().map(|tool| clean(&tool.name)).collect::<Vec<_>>().join(", ")
}

fn policy(config: &Config, about: &About, width: usize) -> String {
    let mut out = "\n".to_owned();
    let path = about.path.as_deref().map_or("embedded".to_owned(), clean);
    out += &row("policy", LABEL, &format!("{}, {path}", clean(&about.name)), width);
    let digest = match &about.digest {
        Ok(digest) => digest.clone(),
        Err(error) => format!("unknown: {}", clean(error)),
    };
    out += &row("digest", LABEL, &digest, width);
    let budget = &about.budget;
    let costs = format!(
        "{} instructions and {} a question, {} MiB of memory",
        grouped(budget.fuel),
        time(budget.time),
        grouped(u64::try_from(budget.memory >> 20).unwrap_or(u64::MAX)),
    );
    out += &row("budget", LABEL, &costs, width);
    out += &row("guard", LABEL, config.release.guard.word(), width);
    out += &row("on_fault", LABEL, config.release.on_fault.word(), width);
    out
}

/// The layers that say something, each with its files; of many the last, for what a file extends mostly comes before it.
fn sources(layers: &Layers) -> String {
    let mut files: BTreeMap<Layer, Vec<String>> = BTreeMap::new();
    for (layer, source) in layers.sources() {
        files.entry(layer).or_default().push(clean(&source.path().display().to_string()));
    }
    let mut out = "\n".to_owned();
    for (n, (layer, mut files)) in files.into_iter().enumerate() {
        let many = files.len().saturating_sub(MOST_FILES);
        if many > 0 {
            files.drain(..=many);
            files.insert(0, format!("{} other files", many + 1));
        }
        let label = if n == 0 { "layers" } else { "" };
        let head = format!("{label:LABEL$}{:LAYER$}", layer.name());
        // A path that is broken is none: each has a line of its own.
        for (n, file) in files.into_iter().enumerate() {
            let head = if n == 0 { head.as_str() } else { "" };
            out += &row(head, LABEL + LAYER, &file, usize::MAX);
        }
    }
    out
}

/// Files of a layer that are named.
const MOST_FILES: usize = 3;

/// Width of the longest name of a layer, and two blanks.
const LAYER: usize = 16;

fn to_json(config: &Config, layers: &Layers, about: &About) -> Json {
    let keys = keys(config).into_iter().map(|(key, members)| {
        let (_, first) = members[0];
        let fields = first.fields.iter();
        let fields = fields.map(|(name, entry)| (name.clone(), entry.node.value.to_json()));
        json!({
            "key": key,
            "limit": first.limit,
            "fields": fields.collect::<serde_json::Map<_, _>>(),
            "tools": members.iter().map(|(tool, concurrency)| {
                json!({ "name": tool.name, "place": place(&concurrency.place) })
            }).collect::<Vec<_>>(),
        })
    });
    let (lifted, unset) = unlimited(config);
    let list =
        |tools: Vec<&Tool>| tools.into_iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    let sources = layers.sources().map(
        |(layer, source)| json!({ "layer": layer.name(), "path": source.path().to_string_lossy() }),
    );
    let looked = layers.searched().iter().map(|looked| {
        json!({
            "layer": looked.layer.name(),
            "path": looked.path.to_string_lossy(),
            "outcome": match looked.status {
                FileStatus::Read => "read",
                FileStatus::Missing => "missing",
                FileStatus::Closed => "closed",
            },
        })
    });
    json!({
        "keys": keys.collect::<Vec<_>>(),
        "no_limit": list(unset),
        "lifted": list(lifted),
        "policy": {
            "name": about.name,
            "path": about.path,
            "digest": about.digest.as_ref().ok(),
            "error": about.digest.as_ref().err(),
            "budget": {
                "fuel": about.budget.fuel,
                "start_fuel": about.budget.start_fuel,
                "time_ns": u64::try_from(about.budget.time.as_nanos()).unwrap_or(u64::MAX),
                "memory": about.budget.memory,
            },
            "guard": config.release.guard.word(),
            "on_fault": config.release.on_fault.word(),
        },
        "sources": sources.collect::<Vec<_>>(),
        "places": looked.collect::<Vec<_>>(),
    })
}
