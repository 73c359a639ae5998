//! `jp-policy simulate`: lets scenarios run in virtual time and shows what happens.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use jp_policy_core::text::{clean, escape};
use jp_policy_harness::{Scenario, SimulateOptions, Simulation, simulate_with};
use jp_policy_report::{
    Decisions, ends, parked, responses, seconds, starts, svg, timeline::timeline, trace,
};
use serde_json::{Value as Json, json};

use super::{Exit, Format, policy::PolicyArgs, print_envelope, say};

/// Let scenarios run in virtual time and show what happens
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy simulate tests/scenarios/question/034-question-keeps-slot.toml
  jp-policy simulate batch.toml --policy mine.wasm --decisions
  jp-policy simulate batch.toml --svg timeline.svg --trace trace.json   # for ui.perfetto.dev
  jp-policy simulate fault/trap-4711.toml --policy fixed.wasm

Exit codes: 0 every scenario came to its end, 2 wrong use or a scenario that can't be read.")]
pub(super) struct Args {
    /// Scenario files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Show each decision too: what the policy was asked and what it answered
    #[arg(long)]
    decisions: bool,
    /// Draw the timeline as an SVG picture; with several scenarios FILE-1, FILE-2, ... before the extension
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the timeline as a trace for Perfetto or chrome://tracing; numbered as --svg is
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Shuffle what happens at one instant, the same way for the same number
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How the outcome is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let engine = args.policy.engine()?;
    let mut out = anstream::stdout().lock();
    let styled = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let width = console::Term::stdout().size_checked().map_or(100, |(_, width)| usize::from(width));
    let mut data = Vec::new();
    for (n, file) in args.files.iter().enumerate() {
        let scenario = Scenario::read(file)?;
        let config = scenario.config.as_ref().map_err(Clone::clone)?;
        let policy = args.policy.load(&engine, config)?;
        let mut decisions = Decisions::default();
        let setup = SimulateOptions {
            observer: Some(&mut decisions),
            seed: args.seed,
            ..SimulateOptions::default()
        };
        let simulation = simulate_with(&scenario, &policy, setup)
            .with_context(|| format!("failed to simulate `{}`", file.display()))?;
        let record = &simulation.record;
        let settings = config.settings();
        if let Some(path) = &args.svg {
            args.write(path, n, &svg(record, heading(file, &scenario)))?;
        }
        if let Some(path) = &args.trace {
            args.write(path, n, &format!("{}\n", trace(record, &decisions.0)))?;
        }
        if args.format == Format::Json {
            let mut json = to_json(file, &scenario, &simulation);
            if args.decisions {
                json["questions"] = decisions.to_json(&settings, record);
            }
            data.push(json);
            continue;
        }
        if n > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}: {}\n", clean(&file.display().to_string()), clean(&scenario.title))?;
        write!(out, "{}", timeline(record, width, styled))?;
        for fault in &record.faults {
            writeln!(out, "fault at {}s: {}", seconds(fault.at), clean(&fault.to_string()))?;
        }
        if args.decisions {
            write!(out, "\n{}", decisions.to_text(&settings, record, width.max(40)))?;
        }
    }
    if args.format == Format::Json {
        print_envelope("simulate", &Json::Array(data))?;
    }
    Ok(Exit::Fine)
}

impl Args {
    /// Writes what was asked for of the scenario with this number, and says where if that is not the path that was given.
    fn write(&self, path: &Path, n: usize, contents: &str) -> Result<()> {
        let several = self.files.len() > 1;
        let path = if several { numbered(path, n + 1) } else { path.to_owned() };
        fs::write(&path, contents)
            .with_context(|| format!("failed to write `{}`", path.display()))?;
        if several {
            let [path, file] = [&path, &self.files[n]].map(|it| escape(&it.display().to_string()));
            say(&format!("wrote {path} of {file}"));
        }
        Ok(())
    }
}

/// `a/b.svg` as `a/b-3.svg`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The title, or the file's name where there is none.
fn heading<'a>(file: &'a Path, scenario: &'a Scenario) -> &'a str {
    let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    if scenario.title.trim().is_empty() { name } else { &scenario.title }
}

fn to_json(file: &Path, scenario: &Scenario, simulation: &Simulation) -> Json {
    let record = &simulation.record;
    json!({
        "file": file.display().to_string(),
        "title": scenario.title,
        "starts": starts(record),
        "ends": ends(record),
        "parked": parked(record),
        "responses": responses(record),
        "peaks": record.peaks_by_key(),
        "decisions": record.decisions,
        "faults": record.faults.iter().map(|fault| json!({
            "kind": fault.kind.word(),
            "at": fault.at,
            "message": fault.to_string(),
        })).collect::<Vec<_>>(),
    })
}
