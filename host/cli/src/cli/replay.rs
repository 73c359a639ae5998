//! `jp-policy replay`: lets other policies decide about the calls of a record or a scenario.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use jp_policy_config::Config;
use jp_policy_core::{
    batch::CallId,
    policy::PolicyFactory,
    record::{Conclusion, RecordFile},
    scheduler::Settlement,
    text::clean,
};
use jp_policy_harness::{Assumed, Input, ReplayInput, Scenario, overlay, replay};
use jp_policy_report::{
    ReplayOutcome,
    side_by_side::{names, side_by_side},
};
use jp_policy_wasm::{Component, Engine};
use serde_json::{Value as Json, json};

use super::{
    Exit, Format, diagnostics,
    policy::{CacheArgs, PolicyArgs},
    print_envelope,
};

/// Let other policies decide about the same calls, side by side
///
/// Of a record (`run --record`): what really happened, and what each policy would have done with the same calls, arrivals,
/// approvals, durations, questions, failures and cancels, in virtual time. Of a scenario: the default policy, the scenario's own
/// and the given ones.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy replay today.jsonl --policy delay.wasm
  jp-policy replay today.jsonl --policy delay.wasm --policy cap.wasm --format json
  jp-policy replay today.jsonl --policy delay.wasm --config with-a-delay.toml
  jp-policy replay policies/delay/scenarios/from-start.toml --policy policies/delay.wasm

Exit codes: 0 every policy came to the end, 2 wrong use or a file that can't be read, 3 a policy failed (with --strict).")]
pub(super) struct Args {
    /// A record, or a scenario
    file: PathBuf,
    /// Let this component decide; more than one is fine [default: the default policy]
    #[arg(long, value_name = "FILE")]
    policy: Vec<PathBuf>,
    /// Lay configuration over that of the record: another limit, or a field for a policy; a policy in it decides too
    #[arg(long, value_name = "PATH", num_args = 1..)]
    config: Vec<PathBuf>,
    #[command(flatten)]
    cache: CacheArgs,
    /// How the outcomes are written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// End with exit code 3 if a policy did something that could not be accepted
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let input = Input::read(&args.file)?;
    let engine = args.cache.engine()?;
    let real = matches!(input, Input::Record(_));
    let (mut outcomes, mut scenario, assumed) = match input {
        Input::Record(file) => {
            conclusion(&args.file, &file);
            let ReplayInput { outcome, scenario, assumed } = ReplayInput::new(&file)?;
            (vec![outcome], scenario, assumed)
        }
        Input::Scenario(scenario) => (Vec::new(), *scenario, Vec::new()),
    };
    let config = scenario.config.clone()?;
    if !args.config.is_empty() {
        scenario.config = Ok(overlay(&config, &args.config)?);
    }
    // That of a record has decided already.
    let decided = if real { config.release.policy.map(|plugin| plugin.path) } else { None };
    for policy in policies(args, &engine, &scenario, real, decided.as_deref())? {
        outcomes.push(outcome(args, &scenario, &policy)?);
    }
    let mut out = anstream::stdout().lock();
    match args.format {
        Format::Json => {
            let data = to_json(&args.file, &outcomes, &assumed);
            print_envelope("replay", &data)?;
        }
        Format::Text => {
            let styled =
                anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
            let width =
                console::Term::stdout().size_checked().map_or(100, |(_, width)| usize::from(width));
            if !scenario.title.is_empty() {
                let file = clean(&args.file.display().to_string());
                writeln!(out, "{file}: {}\n", clean(&scenario.title))?;
            }
            write!(out, "{}", side_by_side(&outcomes, width, styled))?;
            write_assumed(&mut out, &outcomes, &assumed)?;
        }
    }
    out.flush()?;
    let faulty = outcomes.iter().any(|outcome| !outcome.real && !outcome.faults.is_empty());
    Ok(if args.strict && faulty { Exit::Fault } else { Exit::Fine })
}

/// The policies in the order of their outcomes. A scenario is shown under the default policy first, and under its own.
fn policies(
    args: &Args,
    engine: &Engine,
    scenario: &Scenario,
    real: bool,
    decided: Option<&Path>,
) -> Result<Vec<Component>> {
    let load = |path: Option<&Path>, config: &Config| {
        let policy = path.map(Path::to_owned);
        PolicyArgs { policy, cache: args.cache.clone() }.load(engine, config)
    };
    let config = scenario.config.as_ref().map_err(Clone::clone)?;
    let own = config.release.policy.as_ref().map(|plugin| plugin.path.as_path());
    let own = own.is_some() && own != decided;
    let mut policies = Vec::new();
    if !real || (args.policy.is_empty() && !own) {
        policies.push(load(None, &Config::default())?);
    }
    if own {
        policies.push(load(None, config)?);
    }
    for path in &args.policy {
        let policy = load(Some(path), &Config::default())?;
        // A scenario may name the same component.
        if !policies.iter().any(|known| known.identity().digest == policy.identity().digest) {
            policies.push(policy);
        }
    }
    Ok(policies)
}

fn outcome(args: &Args, scenario: &Scenario, policy: &Component) -> Result<ReplayOutcome> {
    replay(scenario, policy).with_context(|| format!("failed to replay `{}`", args.file.display()))
}

/// Says where a record does not go to the end of its batch.
pub(super) fn conclusion(path: &Path, file: &RecordFile) {
    if let Conclusion::CutOff { torn } = file.conclusion {
        let last = if torn { " in the middle of a line" } else { "" };
        diagnostics::warn(&format!(
            "record `{}` ends{last} before its batch was over: the program was killed there, or could not write",
            path.display()
        ));
    }
}

fn write_assumed(
    out: &mut impl io::Write,
    outcomes: &[ReplayOutcome],
    assumed: &[Assumed],
) -> Result<()> {
    const SHOWN: usize = 10;
    let Some(first) = outcomes.first().filter(|_| !assumed.is_empty()) else {
        return Ok(());
    };
    writeln!(out, "\nThe record does not tell all:")?;
    for it in assumed.iter().take(SHOWN) {
        let label = first.record.calls.get(it.call as usize).map_or("", |call| &call.label);
        writeln!(out, "  call {} ({}) {}", u64::from(it.call) + 1, clean(label), it.what)?;
    }
    if assumed.len() > SHOWN {
        writeln!(out, "  and so of {} more", assumed.len() - SHOWN)?;
    }
    Ok(())
}

fn to_json(file: &Path, outcomes: &[ReplayOutcome], assumed: &[Assumed]) -> Json {
    let first = outcomes.first();
    let calls = first.map(|first| first.record.calls.as_slice()).unwrap_or_default();
    let keys = first.map(|first| first.record.keys.as_slice()).unwrap_or_default();
    json!({
        "file": file.display().to_string(),
        "calls": calls.iter().map(|call| json!({
            "label": call.label,
            "key": call.key.and_then(|key| keys.get(key as usize)),
        })).collect::<Vec<_>>(),
        "outcomes": outcomes
            .iter()
            .zip(names(outcomes))
            .map(|(outcome, name)| outcome_json(outcome, &name))
            .collect::<Vec<_>>(),
        "assumed": assumed.iter().map(|it| json!({
            "call": it.call,
            "what": it.what.to_string(),
        })).collect::<Vec<_>>(),
    })
}

fn outcome_json(outcome: &ReplayOutcome, name: &str) -> Json {
    let record = &outcome.record;
    let calls = (0..).zip(&record.calls).map(|(id, call): (CallId, _)| {
        let how = call.settled.map(|(_, how)| match how {
            Settlement::Responded if call.runs.last().is_some_and(|run| run.gated) => "not-run",
            Settlement::Responded if call.succeeded() => "ok",
            Settlement::Responded => "error",
            Settlement::NotRun => "not-run",
            Settlement::Cancelled => "cancelled",
            Settlement::PolicyFault => "policy-fault",
        });
        json!({
            "started": outcome.started(id),
            "ended": call.runs.iter().rfind(|run| !run.gated).and_then(|run| run.span.to),
            "waited": outcome.waited(id),
            "response": how,
        })
    });
    json!({
        "name": name,
        "policy": outcome.policy.name,
        "digest": outcome.policy.digest,
        "real": outcome.real,
        "total": record.until,
        "waited": outcome.waited_altogether(),
        "decisions": record.decisions,
        "peaks": record.peaks_by_key(),
        "starts": outcome.order(),
        "calls": calls.collect::<Vec<_>>(),
        "left_out": outcome.left_out.iter().map(|left| json!({
            "key": left.key,
            "field": left.field,
            "message": left.message,
        })).collect::<Vec<_>>(),
        "faults": outcome.faults.iter().map(|fault| json!({
            "kind": fault.kind,
            "at": fault.at,
            "message": fault.message,
        })).collect::<Vec<_>>(),
    })
}
