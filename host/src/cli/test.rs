//! `jp-policy test`: runs scenarios as a test runner runs tests.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::{Exit, Format, policy::PolicyArgs};
use crate::{
    harness::{Mismatch, Scenario, judge, timeline::duration},
    policy::wasm::{Component, Engine},
    text::clean,
};

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Run scenarios and hold what happens against what they expect
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy test tests/scenarios
  jp-policy test my-policy/scenarios --policy my-policy/my-policy.wasm --junit report.xml

Exit codes: 0 every scenario came out as it says, 1 one did not, 2 wrong use.")]
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

/// What came of one file.
struct Tested {
    file: PathBuf,
    title: String,
    problems: Vec<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let start = Instant::now();
    let mut files = Vec::new();
    for path in &args.paths {
        collect(path, &mut files)
            .with_context(|| format!("failed to read `{}`", path.display()))?;
    }
    if files.is_empty() {
        bail!("no scenarios: there is no `*.toml` file in {}", show(&args.paths));
    }
    let tested = test_all(&files, args)?;
    let failed = tested.iter().filter(|tested| !tested.problems.is_empty()).count();
    match args.format {
        Format::Text => print_text(&tested, failed, start)?,
        Format::Json => print_json(&tested)?,
    }
    if let Some(path) = &args.junit {
        fs::write(path, junit(&tested))
            .with_context(|| format!("failed to write `{}`", path.display()))?;
    }
    Ok(if failed > 0 { Exit::Failed } else { Exit::Fine })
}

/// Tests the files on all cores; the outcome is in their order.
fn test_all(files: &[PathBuf], args: &Args) -> Result<Vec<Tested>> {
    let engine = args.policy.engine()?;
    let scenarios: Vec<_> = files.iter().map(|file| Scenario::read(file)).collect();
    // A policy is compiled once, however many scenarios name it.
    let mut policies: BTreeMap<Option<PathBuf>, Result<Component, String>> = BTreeMap::new();
    for scenario in scenarios.iter().flatten() {
        let config = scenario.config.as_ref().cloned().unwrap_or_default();
        let path = config.release.policy.as_ref().map(|plugin| plugin.path.clone());
        policies.entry(path).or_insert_with(|| load(args, &engine, &config));
    }
    let test = |n: usize| {
        let file = files[n].clone();
        match &scenarios[n] {
            Err(error) => Tested { file, title: String::new(), problems: vec![error.to_string()] },
            Ok(scenario) => {
                let path =
                    scenario.config.as_ref().ok().and_then(|config| config.release.policy.as_ref());
                let problems = match policies.get(&path.map(|plugin| plugin.path.clone())) {
                    Some(Ok(policy)) => {
                        judge(scenario, policy).iter().map(Mismatch::to_string).collect()
                    }
                    Some(Err(error)) => vec![error.clone()],
                    None => Vec::new(),
                };
                Tested { file, title: scenario.title.clone(), problems }
            }
        }
    };
    let next = AtomicUsize::new(0);
    let mut tested: Vec<(usize, Tested)> = thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, usize::from).min(files.len());
        let worker = || {
            let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
            numbers.take_while(|n| *n < files.len()).map(|n| (n, test(n))).collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    tested.sort_by_key(|(n, _)| *n);
    Ok(tested.into_iter().map(|(_, tested)| tested).collect())
}

fn load(args: &Args, engine: &Engine, config: &crate::config::Config) -> Result<Component, String> {
    args.policy.load(engine, config).map_err(|error| format!("{error:#}"))
}

fn collect(path: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        // A file that is not there is said when it is read.
        into.push(path.to_owned());
        return Ok(());
    }
    let mut entries =
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|extension| extension == "toml") {
            collect(&entry, into)?;
        }
    }
    Ok(())
}

fn show(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

fn print_text(tested: &[Tested], failed: usize, start: Instant) -> Result<()> {
    let mut out = anstream::stdout().lock();
    for tested in tested.iter().filter(|tested| !tested.problems.is_empty()) {
        writeln!(
            out,
            "{BAD}failed{BAD:#}  {}  {}",
            clean(&tested.file.display().to_string()),
            clean(&tested.title)
        )?;
        for problem in &tested.problems {
            for line in problem.lines() {
                writeln!(out, "  {}", clean(line))?;
            }
        }
        writeln!(out)?;
    }
    let style = if failed > 0 { BAD } else { GOOD };
    let took = duration(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let passed = tested.len() - failed;
    writeln!(out, "{style}{passed} passed, {failed} failed{style:#} in {took}")?;
    Ok(())
}

fn print_json(tested: &[Tested]) -> Result<()> {
    let mut out = io::stdout().lock();
    let rows: Vec<_> = tested
        .iter()
        .map(|tested| {
            json!({
                "file": tested.file.display().to_string(),
                "title": tested.title,
                "passed": tested.problems.is_empty(),
                "problems": tested.problems,
            })
        })
        .collect();
    let envelope =
        json!({ "format": "jp-policy.test", "version": 1, "data": { "scenarios": rows } });
    writeln!(out, "{}", serde_json::to_string_pretty(&envelope)?)?;
    Ok(())
}

fn junit(tested: &[Tested]) -> String {
    let failed = tested.iter().filter(|tested| !tested.problems.is_empty()).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"jp-policy\" tests=\"{}\" failures=\"{failed}\">\n",
        tested.len()
    );
    for tested in tested {
        let file = xml_text(&tested.file.display().to_string());
        xml += &format!("<testcase classname=\"{file}\" name=\"{}\"", xml_text(&tested.title));
        if tested.problems.is_empty() {
            xml += "/>\n";
        } else {
            xml += &format!(
                "><failure>{}</failure></testcase>\n",
                xml_text(&tested.problems.join("\n"))
            );
        }
    }
    xml + "</testsuite>\n</testsuites>\n"
}

/// XML has no way to write most control characters, not even escaped.
fn xml_text(text: &str) -> String {
    let allowed = text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c });
    allowed.fold(String::new(), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
        out
    })
}
