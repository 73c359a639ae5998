//! `jp-policy check`: proves or refutes a policy.

use std::{
    io::{IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jp_policy_config::Config;
use jp_policy_core::{policy::PolicyFactory, text::clean};
use jp_policy_harness::check::{CheckProgress, Plan, Refutation, Report, check};
use jp_policy_report::text::duration;
use jp_policy_wasm::Component;
use serde_json::json;

use super::{
    Exit, Format,
    layout::grouped,
    policy::{CacheArgs, PolicyArgs},
    policy_settings::PolicySettings,
};

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Prove or refute a policy
///
/// Searches through all batches up to a bound and all orders of what may happen to them (calls that come in late, are approved late
/// or rejected, fail, ask; cancel; restart), then tries random ones far larger. Every policy has to answer validly, within its
/// budget and the limits, must not stall, spin or starve a call, and has to answer the same question alike, on an instance that has
/// answered others as on a fresh one. With --rules it has to keep the default rules too: order within a key, and no needless
/// waiting.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy check --rules
  jp-policy check my-policy.wasm
  jp-policy check delay.wasm --fields 'delay = \"2s\"' --random 5000

Exit codes: 0 nothing goes wrong, 1 something does, 2 wrong use.")]
pub(super) struct Args {
    /// The component; none: the default policy
    policy: Option<PathBuf>,
    /// Hold it to the default rules too
    #[arg(long)]
    rules: bool,
    /// Search batches of up to this many calls
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=8))]
    calls: u8,
    /// Search batches of up to this many keys
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(0..=8))]
    keys: u8,
    /// The limits that keys take
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2", value_parser = clap::value_parser!(u32).range(1..))]
    limits: Vec<u32>,
    /// Try this many random batches after the search
    #[arg(long, value_name = "N", default_value = "1000")]
    random: u32,
    /// Where the random batches start from
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// End the search after this time, and the random batches after a third of it, as far as they have come
    #[arg(long, value_name = "TIME", default_value = "40s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// Search batches of up to 3 calls, and try 100 random ones
    #[arg(long, conflicts_with_all = ["calls", "random"])]
    quick: bool,
    #[command(flatten)]
    settings: PolicySettings,
    /// Write the batch that refutes it there
    #[arg(long, value_name = "FILE", default_value = "refuted.toml")]
    out: PathBuf,
    #[command(flatten)]
    cache: CacheArgs,
    /// How the outcome is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let policy = PolicyArgs { policy: args.policy.clone(), cache: args.cache.clone() };
    let component = policy.load(&args.cache.engine()?, &Config::default())?;
    let quick = Plan::quick();
    let plan = Plan {
        calls: if args.quick { quick.calls } else { args.calls.into() },
        keys: args.keys.into(),
        limits: args.limits.clone(),
        random: if args.quick { quick.random } else { args.random },
        seed: args.seed,
        rules: args.rules,
        parameters: args.settings.read()?,
        path: args.policy.clone(),
        ..Plan::default()
    };
    let progress = Arc::new(CheckProgress::default());
    let start = Instant::now();
    let report = watched(&component, &plan, &progress, args.time)?;
    let took = start.elapsed();
    if let Some(refutation) = &report.refutation {
        std::fs::write(&args.out, refutation.scenario.to_toml()?)
            .with_context(|| format!("failed to write `{}`", args.out.display()))?;
    }
    let checked = Checked { component: &component, report: &report, progress: &progress, took };
    match args.format {
        Format::Text => print_text(args, &checked)?,
        Format::Json => print_json(args, &checked)?,
    }
    Ok(if report.refutation.is_some() { Exit::Failed } else { Exit::Fine })
}

/// What came of a check.
struct Checked<'a> {
    component: &'a Component,
    report: &'a Report,
    progress: &'a CheckProgress,
    took: Duration,
}

/// Checks, with a bar that shows how far it is where there is a terminal.
pub(super) fn watched(
    component: &Component,
    plan: &Plan,
    progress: &Arc<CheckProgress>,
    time: Duration,
) -> Result<Report> {
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr())
    } else {
        ProgressBar::hidden()
    };
    let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}  {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let checked = thread::scope(|scope| {
        let factory: Arc<dyn PolicyFactory> = Arc::new(component.clone());
        let worker = scope.spawn(move || check(&factory, plan, progress));
        // Once for the search, and once for what follows it.
        let mut deadlines = [time, time + time / 3].into_iter().peekable();
        let start = Instant::now();
        while !worker.is_finished() {
            if deadlines.next_if(|deadline| start.elapsed() >= *deadline).is_some() {
                progress.enough.store(true, Ordering::Relaxed);
            }
            bar.set_length(progress.total.load(Ordering::Relaxed).max(1) as u64);
            bar.set_position(progress.done.load(Ordering::Relaxed) as u64);
            let decisions = progress.decisions.load(Ordering::Relaxed);
            bar.set_message(format!("{} decisions", grouped(decisions)));
            thread::park_timeout(Duration::from_millis(50));
        }
        worker.join()
    });
    bar.finish_and_clear();
    match checked {
        Ok(report) => Ok(report?),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn print_text(args: &Args, checked: &Checked<'_>) -> Result<()> {
    let Checked { component, report, progress, took } = *checked;
    let mut out = anstream::stdout().lock();
    let policy = clean(&component.identity().to_string());
    let standard = if args.rules { "the contract and the default rules" } else { "the contract" };
    if let Some(refutation) = &report.refutation {
        writeln!(out, "{BAD}refuted{BAD:#}  policy \"{policy}\" breaks {standard}:")?;
        writeln!(out, "  {}", clean(&refutation.violation.to_string()))?;
        writeln!(out, "  {}", story(refutation, &args.out))?;
    } else {
        writeln!(out, "{GOOD}holds{GOOD:#}  policy \"{policy}\" keeps {standard}")?;
    }
    let count = |n: usize| grouped(n as u64);
    let of = if report.batches == report.kinds || report.refutation.is_some() {
        String::new()
    } else {
        format!(" of {} (then the time was up: --time)", count(report.kinds))
    };
    writeln!(
        out,
        "searched {}{of} kinds of batches: {} states, {} steps; {} random batches",
        count(report.batches),
        count(progress.states.load(Ordering::Relaxed)),
        count(progress.steps.load(Ordering::Relaxed)),
        count(report.random)
    )?;
    let decisions = progress.decisions.load(Ordering::Relaxed);
    let rate = u128::from(decisions) * 1_000_000_000 / took.as_nanos().max(1);
    writeln!(
        out,
        "{} decisions in {}, {} a second",
        grouped(decisions),
        duration(nanos(took)),
        grouped(u64::try_from(rate).unwrap_or(u64::MAX))
    )?;
    Ok(())
}

/// Where the batch that refutes a policy stands, and how to see it.
pub(super) fn story(refutation: &Refutation, file: &Path) -> String {
    let calls = refutation.scenario.calls.len();
    let found =
        if refutation.random { "the smallest random batch found" } else { "the smallest batch" };
    let s = if calls == 1 { "" } else { "s" };
    let file = clean(&file.display().to_string());
    if refutation.shown {
        format!("{found} has {calls} call{s}: see it with `jp-policy simulate {file}`")
    } else {
        format!(
            "{found} has {calls} call{s} and is in `{file}`; alone it does not show it, since that hangs on what was asked before"
        )
    }
}

fn print_json(args: &Args, checked: &Checked<'_>) -> Result<()> {
    let Checked { component, report, progress, took } = *checked;
    let identity = component.identity();
    let data = json!({
        "policy": identity.name,
        "digest": identity.digest,
        "rules": args.rules,
        "holds": report.refutation.is_none(),
        "violation": report.refutation.as_ref().map(|refutation| json!({
            "kind": refutation.violation.word(),
            "at": refutation.violation.at(),
            "message": refutation.violation.to_string(),
            "random": refutation.random,
            "scenario": args.out.display().to_string(),
        })),
        "batches": report.batches,
        "kinds": report.kinds,
        "random": report.random,
        "states": progress.states.load(Ordering::Relaxed),
        "steps": progress.steps.load(Ordering::Relaxed),
        "decisions": progress.decisions.load(Ordering::Relaxed),
        "nanos": nanos(took),
    });
    super::print_envelope("check", &data)
}

fn nanos(took: Duration) -> u64 {
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}
