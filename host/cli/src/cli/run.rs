//! `jp-policy run`: runs a batch of real calls.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use jp_policy_config::Config;
use jp_policy_core::{
    batch::Carried,
    policy::PolicyFactory,
    request::Request,
    text::{clean, plural},
};
use jp_policy_core::{
    response::{Response, Status},
    session::Submission,
};
use jp_policy_harness::fault_scenario;
use jp_policy_mcp::ConfiguredTools;
use jp_policy_report::{read_record, text::duration, timeline::timeline};
use jp_policy_runtime::{
    coordinator::{AutoPrompter, Coordinator, Finished, Prompter, Setup, resumed},
    message::{self, Requests},
    tools::Workspace,
};
use serde::Serialize;
use serde_json::json;

use super::{
    Exit, Format,
    config_args::ConfigArgs,
    diagnostics,
    limits::enough_open_files,
    live::Live,
    log_file,
    policy::refused,
    prompts::Person,
    reaper::Reaper,
    recording::{Recording, Watch},
    say,
    screen::Screen,
    signals::Signals,
    terminal::Terminal,
    tool_args::{ToolArgs, event_loop},
};

#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
/// Run a batch of tool calls as real processes
///
/// Responses go to standard output in the order the calls were written; the live view, the timeline and the sums go to standard
/// error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy run batch.json
  jp-policy run batch.json --config tools/
  jp-policy run batch.json --cfg conversation.tools.github_issues.concurrency.limit:=8
  jp-policy run message.json --config .jp/mcp/tools --policy delay.wasm
  jp-policy run batch.json --config tools/ --record today.jsonl --record-arguments
  jp-policy run --resume today.jsonl --config tools/
  llm ... | jp-policy run - --config tools/ --format json

BATCH is a JSON list of {id, name, arguments}, or an assistant message as Anthropic (tool_use), OpenAI chat (tool_calls) or
OpenAI responses (function_call) write it.

Exit codes: 0 every call succeeded, 1 a call failed, 2 wrong use or configuration, 3 the policy failed (with --strict),
130 interrupted.")]
pub(super) struct Args {
    /// The batch: a file, or `-` for standard input
    #[arg(required_unless_present = "resume")]
    batch: Option<PathBuf>,
    /// Go on with the batch of a record that was cut off: calls without a response are run again. The record must have been
    /// written with --record-arguments
    #[arg(long, value_name = "RECORD", conflicts_with = "batch")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    tools: ToolArgs,
    /// Run in a copy of the workspace, and throw it away afterwards
    #[arg(long)]
    scratch: bool,
    /// What becomes of calls that want approval [default: ask on a terminal, none elsewhere]
    #[arg(long, value_enum, value_name = "WHICH")]
    approve: Option<Approve>,
    /// How responses are written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// End with exit code 3 if the policy did something that could not be accepted
    #[arg(long)]
    strict: bool,
    /// Write a scenario that reproduces a policy's fault into this folder
    #[arg(long, value_name = "FOLDER")]
    fault_dir: Option<PathBuf>,
    /// Write what happens into this file, line by line, for `replay` and `explain`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Record the calls' arguments and responses too
    #[arg(long, requires = "record")]
    record_arguments: bool,
    /// Write what happens, and what the policy says, to the end of this file, for whoever looks for a mistake
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    /// No live view, no timeline, no sums
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Approve {
    /// Approve them
    All,
    /// Reject them
    None,
    /// Ask the person at the terminal
    Ask,
}

/// How long tools that were asked to stop are waited for when the batch is over.
const LEAVE: Duration = Duration::from_secs(1);

pub(super) fn run(args: &Args) -> Result<Exit> {
    if let Some(path) = &args.log_file {
        log_file::start(path)?;
    }
    let (calls, odd) = calls(args)?;
    let mut config = args.config.load()?;
    if !args.quiet {
        diagnostics::print(&config.warnings);
        for warning in &odd {
            diagnostics::warn(warning);
        }
    }
    args.tools.lift(&mut config);
    let reaper = match Reaper::start() {
        Ok(reaper) => Some(Arc::new(reaper)),
        Err(error) => {
            diagnostics::warn(&format!(
                "without a reaper process, killing jp-policy leaves its tools behind: {error}"
            ));
            None
        }
    };
    let (root, _scratch) = workspace(args, reaper.as_deref())?;
    let engine = args.tools.policy.cache.engine_and(|error| {
        if !args.quiet {
            diagnostics::warn(&error.to_string());
        }
    })?;
    let factory = args.tools.policy.load(&engine, &config)?;
    let screen = Screen::stderr(args.quiet);
    let signals = Signals::new(screen.clone(), has_person());
    let terminal = Terminal::prepared(&screen);
    let mut recording = match &args.record {
        Some(path) => Some(Recording::start(
            path,
            args.tools.policy.policy.as_deref(),
            args.record_arguments,
            &config,
            &factory,
            screen.clone(),
        )?),
        None => None,
    };
    let server = ConfiguredTools::new(&config, Workspace { root, ..Workspace::default() });
    let server = match &reaper {
        Some(reaper) => server.watched_by(reaper.clone()),
        None => server,
    };
    let server = Arc::new(server);
    let setup = Setup {
        config: &config,
        tools: server.clone(),
        factory: &factory,
        prompter: people(args.approve, &screen, &signals)?,
        timeout: args.tools.timeout,
        carried: Carried::default(),
    };
    enough_open_files()?;
    let runtime = event_loop(2)?;
    let start = Instant::now();
    let finished = runtime.block_on(async {
        let coordinator = match Coordinator::new(setup) {
            Ok(coordinator) => coordinator,
            Err(refusal) => return Err(refused(&config, &factory, refusal)),
        };
        let listener = tokio::spawn(signals.clone().listen(coordinator.handle()));
        let mut watch = Watch { live: Live::new(screen.clone()), recording: recording.as_mut() };
        let finished = coordinator.resume(calls, &mut watch).await;
        server.close().await;
        watch.live.finish();
        if let Some(recording) = &mut recording {
            recording.finish();
        }
        listener.abort();
        Ok(finished)
    })?;
    drop(terminal);
    // A policy that still thinks, or a prompt that is still open, is not waited for.
    runtime.shutdown_timeout(LEAVE);
    if !args.quiet {
        let width =
            console::Term::stderr().size_checked().map_or(100, |(_, width)| usize::from(width));
        say(&format!("\n{}", timeline(&finished.record, width, screen.styled()).trim_end()));
        say(&sums(&finished, &config, &factory, start.elapsed()));
    }
    print(&finished, args.format)?;
    write_faults(args, &config, &finished)?;
    let faulty = args.strict && !finished.record.faults.is_empty();
    let failed = finished.responses.iter().any(|response| response.status != Status::Ok);
    Ok(match (signals.stopped(), faulty, failed) {
        (true, ..) => Exit::Interrupted,
        (false, true, _) => Exit::Fault,
        (false, false, true) => Exit::Failed,
        (false, false, false) => Exit::Fine,
    })
}

/// The calls to run, and what is odd about them.
fn calls(args: &Args) -> Result<(Vec<Submission>, Vec<String>)> {
    if let Some(path) = &args.resume {
        let calls = resumed(&read_record(path)?);
        let calls = calls.with_context(|| format!("failed to go on with `{}`", path.display()))?;
        return Ok((calls, Vec::new()));
    }
    let batch = args.batch.as_deref().unwrap_or(Path::new("-"));
    let Requests { calls, warnings } = read_batch(batch)?;
    Ok((calls.into_iter().map(Submission::from).collect(), warnings))
}

fn read_batch(path: &Path) -> Result<Requests> {
    let shown = if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        format!("`{}`", path.display())
    };
    let text = if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    let text = text.with_context(|| format!("failed to read batch {shown}"))?;
    message::parse(&text).with_context(|| format!("failed to read batch {shown}"))
}

/// The folder that calls run in, and what has to live as long as it is needed.
fn workspace(args: &Args, reaper: Option<&Reaper>) -> Result<(PathBuf, Option<tempfile::TempDir>)> {
    let root = args.tools.root()?;
    if !args.scratch {
        return Ok((root, None));
    }
    let scratch = tempfile::tempdir().context("failed to make a scratch folder")?;
    if let Some(reaper) = reaper {
        reaper.scratch(scratch.path());
    }
    let skipped = scratch.path().canonicalize().context("failed to open the scratch folder")?;
    copy(&root, scratch.path(), &skipped).with_context(|| {
        format!("failed to copy workspace `{}`", args.tools.workspace().display())
    })?;
    Ok((scratch.path().to_owned(), Some(scratch)))
}

/// Copies a folder. `skipped` is the copy itself, which may stand inside of it.
fn copy(from: &Path, to: &Path, skipped: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if entry.path() == skipped {
            continue;
        }
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target, skipped)?;
        } else if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Whether a person can be asked.
fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn people(
    approve: Option<Approve>,
    screen: &Screen,
    signals: &Arc<Signals>,
) -> Result<Arc<dyn Prompter>> {
    Ok(match (approve, has_person()) {
        (Some(Approve::Ask), false) => {
            bail!("`--approve ask` needs a terminal; use `--approve all` or `--approve none`")
        }
        (Some(Approve::Ask) | None, true) => Arc::new(Person::new(screen.clone(), signals.clone())),
        (Some(Approve::All), _) => Arc::new(AutoPrompter { approve: true }),
        (Some(Approve::None) | None, _) => Arc::new(AutoPrompter { approve: false }),
    })
}

/// One file a fault, named by its kind and this process.
fn write_faults(args: &Args, config: &Config, finished: &Finished) -> Result<()> {
    let Some(folder) = &args.fault_dir else {
        return Ok(());
    };
    for fault in &finished.record.faults {
        let arguments = finished.requests.iter().map(Request::arguments_as_json);
        let arguments: Vec<String> = arguments.collect();
        let scenario = fault_scenario(&finished.record, config, fault, &arguments);
        let name = format!("{}-{}.toml", fault.kind.word(), std::process::id());
        let path = folder.join(name);
        let write = || {
            fs::create_dir_all(folder)?;
            fs::write(&path, &scenario)
        };
        write().with_context(|| format!("failed to write fault `{}`", path.display()))?;
        say(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// One line: how many calls, how many failed, the peak of each key, the time, and what the policy cost.
fn sums(
    finished: &Finished,
    config: &Config,
    factory: &dyn PolicyFactory,
    took: Duration,
) -> String {
    let count =
        |status| finished.responses.iter().filter(|response| response.status == status).count();
    let mut parts = vec![plural(finished.responses.len(), "call")];
    for (status, word) in
        [(Status::Error, "failed"), (Status::NotRun, "not run"), (Status::Cancelled, "cancelled")]
    {
        if count(status) > 0 || status == Status::Error {
            parts.push(format!("{} {word}", count(status)));
        }
    }
    let settings = config.settings();
    for (key, peak) in
        settings.keys.iter().zip(&finished.record.peaks).filter(|(_, peak)| **peak > 0)
    {
        parts.push(format!("key {}: peak {peak} of {}", clean(&key.name), key.limit));
    }
    let nanos = |time: Duration| duration(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    parts.push(nanos(took));
    let cost = finished.cost;
    let each = cost
        .time
        .checked_div(u32::try_from(cost.decisions).unwrap_or(u32::MAX))
        .unwrap_or_default();
    let decisions = plural(usize::try_from(cost.decisions).unwrap_or(usize::MAX), "decision");
    parts.push(format!(
        "{decisions} by policy {} in {} ({} each)",
        factory.identity(),
        nanos(cost.time),
        nanos(each)
    ));
    parts.join(", ")
}

/// What `--format json` prints. Large results are read while they are written, one after the other.
#[derive(Serialize)]
struct Envelope<'a> {
    format: &'static str,
    version: u32,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    responses: &'a [Response],
    peaks: BTreeMap<&'a str, u32>,
    decisions: u64,
    faults: Vec<serde_json::Value>,
}

/// Knows how what was written ends.
struct Lines<W> {
    out: W,
    last: u8,
}

impl<W: io::Write> io::Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.last = bytes[..written].last().copied().unwrap_or(self.last);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn print(finished: &Finished, format: Format) -> Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Format::Json => {
            let faults = finished.record.faults.iter().map(|fault| {
                json!({
                    "kind": fault.kind.word(),
                    "policy": fault.policy.name,
                    "digest": fault.policy.digest,
                    "message": fault.to_string(),
                    "at": fault.at,
                })
            });
            let envelope = Envelope {
                format: "jp-policy.run",
                version: 1,
                data: Data {
                    responses: &finished.responses,
                    peaks: finished.record.peaks_by_key(),
                    decisions: finished.cost.decisions,
                    faults: faults.collect(),
                },
            };
            serde_json::to_writer_pretty(&mut out, &envelope).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Format::Text => {
            for response in &finished.responses {
                let status = match response.status {
                    Status::Ok => "ok",
                    Status::Error => "error",
                    Status::NotRun => "not run",
                    Status::Cancelled => "cancelled",
                };
                writeln!(out, "--- {} {}: {status}", clean(&response.id), clean(&response.name))?;
                let mut lines = Lines { out: &mut out, last: b'\n' };
                response.write_to(&mut lines)?;
                if lines.last != b'\n' {
                    writeln!(out)?;
                }
            }
        }
    }
    out.flush()?;
    Ok(())
}
