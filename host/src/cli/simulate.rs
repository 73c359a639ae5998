//! `jp-policy simulate`: lets scenarios run in virtual time and shows what happens.

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use serde_json::{Value as Json, json};

use super::{Exit, Format, policy::PolicyArgs};
use crate::{
    harness::{
        Scenario, Simulation, ends, parked, responses, seconds, simulate, starts,
        timeline::timeline,
    },
    text::clean,
};

/// Let scenarios run in virtual time and show what happens
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy simulate tests/scenarios/question/034-question-keeps-slot.toml
  jp-policy simulate fault/trap-4711.toml --policy fixed.wasm

Exit codes: 0 every scenario came to its end, 2 wrong use or a scenario that can't be read.")]
pub(super) struct Args {
    /// Scenario files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    policy: PolicyArgs,
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
        let simulation = simulate(&scenario, &policy)
            .with_context(|| format!("failed to simulate `{}`", file.display()))?;
        if args.format == Format::Json {
            data.push(to_json(file, &scenario, &simulation));
            continue;
        }
        if n > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}: {}\n", clean(&file.display().to_string()), clean(&scenario.title))?;
        write!(out, "{}", timeline(&simulation.record, width, styled))?;
        for fault in &simulation.record.faults {
            writeln!(out, "fault at {}s: {}", seconds(fault.at), clean(&fault.to_string()))?;
        }
    }
    if args.format == Format::Json {
        let envelope = json!({ "format": "jp-policy.simulate", "version": 1, "data": data });
        writeln!(out, "{}", serde_json::to_string_pretty(&envelope)?)?;
    }
    Ok(Exit::Fine)
}

fn to_json(file: &std::path::Path, scenario: &Scenario, simulation: &Simulation) -> Json {
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
