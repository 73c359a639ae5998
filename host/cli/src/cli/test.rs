//! `jp-policy test`: runs scenarios as a test runner runs tests.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, IsTerminal as _, Write as _},
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jp_policy_config::Config;
use jp_policy_core::{policy::PolicyFactory, text::clean};
use jp_policy_harness::{
    Scenario, junit,
    suite::{self, LoadedScenario, TestOutcome, TestResult},
};
use jp_policy_report::{ends, parked, responses, starts, text::duration, timeline::timeline_of};
use jp_policy_wasm::{Component, Engine};
use serde_json::{Value as Json, json};

use super::{Exit, Format, interrupt, policy::PolicyArgs, say};

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Rows of a timeline below a failure: more would push the next failure off the screen.
const ROWS: usize = 20;

/// Run scenarios and hold what happens against what they expect
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy test tests/scenarios
  jp-policy test my-policy/scenarios --policy my-policy/my-policy.wasm --junit report.xml

Exit codes: 0 every scenario came out as it says, 1 one did not, 2 wrong use, 130 interrupted.")]
pub(super) struct Args {
    /// Scenario files, and folders of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    policy: PolicyArgs,
    /// How the outcome is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write a report in JUnit's format too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let start = Instant::now();
    let files = suite::find(&args.paths)?;
    if files.is_empty() {
        let paths: Vec<_> = args.paths.iter().map(|path| format!("`{}`", path.display())).collect();
        bail!("no scenarios: there is no `*.toml` file in {}", paths.join(", "));
    }
    let loaded = suite::load(&files);
    let (tested, interrupted) = judge(args, &loaded)?;
    let took = start.elapsed();
    match args.format {
        Format::Text => print_text(&tested, files.len(), took)?,
        Format::Json => print_json(&tested, files.len(), took)?,
    }
    if let Some(path) = &args.junit {
        fs::write(path, junit(&tested, took)?)
            .with_context(|| format!("failed to write `{}`", path.display()))?;
    }
    Ok(match tested.iter().all(TestResult::passed) {
        _ if interrupted.load(Ordering::SeqCst) => Exit::Interrupted,
        true => Exit::Fine,
        false => Exit::Failed,
    })
}

/// What came of the scenarios, and the flag that an interrupt sets.
fn judge(args: &Args, loaded: &[LoadedScenario]) -> Result<(Vec<TestResult>, Arc<AtomicBool>)> {
    let engine = args.policy.engine()?;
    // A policy is compiled once, however many scenarios name it, and before the rest: it may have to be approved.
    let mut policies: BTreeMap<String, Result<Component, String>> = BTreeMap::new();
    for scenario in loaded.iter().flat_map(|loaded| &loaded.scenario) {
        policies.entry(policy_key(args, scenario)).or_insert_with(|| {
            let config = scenario.config.as_ref().cloned().unwrap_or_default();
            load_policy(args, &engine, &config)
        });
    }
    let progress = TestBar::new(loaded.len());
    // The first Ctrl-C lets what runs come to its end and reports what is done.
    let bar = progress.bar.clone();
    let interrupted = interrupt::listen(
        move || bar.suspend(|| say("stopping after the tests that run; once more to end at once")),
        || {},
    );
    let policy = |_: usize, scenario: &Scenario| match policies.get(&policy_key(args, scenario)) {
        Some(Ok(policy)) => Ok(policy as &dyn PolicyFactory),
        Some(Err(why)) => Err(why.clone()),
        None => Err("its policy was not loaded".to_owned()),
    };
    let tested = suite::judge_all(loaded, policy, |tested| {
        progress.seen(tested);
        if interrupted.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    progress.bar.finish_and_clear();
    Ok((tested, interrupted))
}

/// What tells the policies of scenarios apart: all that is used to load one.
fn policy_key(args: &Args, scenario: &Scenario) -> String {
    let plugin = scenario.config.as_ref().ok().and_then(|config| config.release.policy.as_ref());
    match plugin {
        Some(plugin) if args.policy.policy.is_none() => {
            let checksum = plugin.checksum.as_ref().map(|checksum| &checksum.value);
            format!("{:?}", (&plugin.name, &plugin.path, checksum, plugin.run, plugin.limits))
        }
        _ => String::new(),
    }
}

fn load_policy(args: &Args, engine: &Engine, config: &Config) -> Result<Component, String> {
    args.policy.load(engine, config).map_err(|error| format!("{error:#}"))
}

/// A bar on a terminal's standard error, and nothing elsewhere.
struct TestBar {
    bar: ProgressBar,
    failed: AtomicUsize,
}

impl TestBar {
    fn new(tests: usize) -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(tests as u64), target);
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, failed: AtomicUsize::new(0) }
    }

    fn seen(&self, tested: &TestResult) {
        if !tested.passed() {
            let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
            self.bar.set_message(format!("{failed} failed"));
        }
        self.bar.inc(1);
    }
}

fn print_text(tested: &[TestResult], files: usize, took: Duration) -> Result<()> {
    let mut out = anstream::stdout().lock();
    print_failures(&mut out, tested)?;
    let failed = tested.iter().filter(|tested| !tested.passed()).count();
    let passed = tested.len() - failed;
    let left = match files - tested.len() {
        0 => String::new(),
        left => format!(", {left} not run"),
    };
    let style = if failed > 0 || !left.is_empty() { BAD } else { GOOD };
    let took = duration(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    writeln!(out, "{style}{passed} passed, {failed} failed{left}{style:#} in {took}")?;
    Ok(())
}

/// The scenarios that came out otherwise than they say, with what differs and a timeline.
pub(super) fn print_failures(out: &mut impl io::Write, tested: &[TestResult]) -> Result<()> {
    let styled = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    let width = console::Term::stdout().size_checked().map_or(100, |(_, width)| usize::from(width));
    let inner = width.saturating_sub(2);
    for tested in tested.iter().filter(|tested| !tested.passed()) {
        let file = clean(&tested.file.display().to_string());
        writeln!(
            out,
            "{BAD}failed{BAD:#}  {}",
            format!("{file}  {}", clean(&tested.title)).trim_end()
        )?;
        match &tested.outcome {
            TestOutcome::Passed => {}
            TestOutcome::Broken(why) => indented(out, &cleaned(why))?,
            TestOutcome::Failed(verdict) => {
                for mismatch in &verdict.mismatches {
                    indented(out, &mismatch.to_text(inner, styled))?;
                }
                if let Some(record) = verdict.record.as_ref().filter(|it| !it.calls.is_empty()) {
                    writeln!(out)?;
                    indented(out, &timeline_of(record, inner, styled, ROWS))?;
                    for fault in &record.faults {
                        indented(out, &format!("fault: {}", clean(&fault.to_string())))?;
                    }
                }
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Clean, line by line.
fn cleaned(text: &str) -> String {
    text.lines().map(|line| clean(line) + "\n").collect()
}

fn indented(out: &mut impl io::Write, text: &str) -> io::Result<()> {
    for line in text.lines() {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    Ok(())
}

fn print_json(tested: &[TestResult], files: usize, took: Duration) -> Result<()> {
    let failed = tested.iter().filter(|tested| !tested.passed()).count();
    let data = json!({
        "passed": tested.len() - failed,
        "failed": failed,
        "not_run": files - tested.len(),
        "seconds": took.as_secs_f64(),
        "scenarios": tested.iter().map(to_json).collect::<Json>(),
    });
    super::print_envelope("test", &data)
}

fn to_json(tested: &TestResult) -> Json {
    let mut json = json!({
        "file": tested.file.display().to_string(),
        "title": tested.title,
        "passed": tested.passed(),
        "seconds": tested.took.as_secs_f64(),
        "problems": tested.problems(),
    });
    if let TestOutcome::Failed(verdict) = &tested.outcome {
        let mismatches = verdict.mismatches.iter().map(|mismatch| {
            let changes = mismatch.changes().map(|changes| {
                let differing = changes
                    .iter()
                    .filter(|it| it.kind != jp_policy_harness::diff::ChangeKind::Same);
                differing
                    .map(|change| {
                        json!({
                            "kind": change.kind.word(),
                            "expected": change.expected,
                            "actual": change.actual,
                        })
                    })
                    .collect::<Json>()
            });
            json!({
                "what": mismatch.what,
                "expected": mismatch.expected,
                "actual": mismatch.actual,
                "changes": changes,
            })
        });
        json["mismatches"] = mismatches.collect();
        json["actual"] = verdict.record.as_ref().map_or(Json::Null, |record| {
            json!({
                "starts": starts(record),
                "ends": ends(record),
                "parked": parked(record),
                "responses": responses(record),
            })
        });
    }
    json
}
