//! `jp-policy bench`: what a policy costs, beside the default policy in the same run.

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
    sync::atomic::Ordering,
    time::Duration,
};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use jp_policy_core::{policy::Refusal, text::clean};
use jp_policy_harness::bench::{
    Bench, BenchError, BenchProgress, Cost, Cut, Loading, Measured, Plan, Row, Subject, Timing,
    bench,
};
use jp_policy_wasm::{Budget, Component};
use serde_json::{Value as Json, json};

use super::{
    Exit, Format, interrupt,
    layout::{columns, digits, grouped, time, wrapped},
    policy_settings::PolicySettings,
    print_envelope, say, view_word,
};

/// Measure what a policy costs, beside the default policy
///
/// Instructions and time of a decision, by how many calls wait and how many keys they wait for; memory, loading and compiling.
/// Instructions are the same on every machine. Times are not: compare their ratio to the default policy's, which is measured in the
/// same run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy bench my-policy.wasm --quick
  jp-policy bench policies/delay.wasm --fields 'delay = \"1s\"'

Exit codes: 0 measured, 1 the policy failed at some size, 2 wrong use or a policy that can't be used, 130 interrupted (what was measured by then is shown).")]
pub(super) struct Args {
    /// The component
    #[arg(value_name = "POLICY")]
    file: PathBuf,
    #[command(flatten)]
    settings: PolicySettings,
    /// Take few samples of each number: enough to see what matters
    #[arg(long)]
    quick: bool,
    /// How the outcome is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

const TITLE: Style = Style::new().bold();
const HEAD: Style = Style::new().dimmed();
const BAD: Style = AnsiColor::Red.on_default().bold();

pub(super) fn run(args: &Args) -> Result<Exit> {
    let parameters = args.settings.read()?;
    let budget = Budget::default();
    let bytes = Component::read(&args.file, budget)?;
    let path = args.file.display().to_string();
    let plan = if args.quick { Plan::quick() } else { Plan::full() };
    let folder = tempfile::tempdir().context("failed to make a folder for compiled code")?;
    let bar = Bar::new();
    let interrupted = {
        let (bar, folder) = (bar.clone(), folder.path().to_owned());
        interrupt::listen(
            move || bar.stopping(),
            // What is left of it is not worth a word to somebody in a hurry.
            move || drop(fs::remove_dir_all(&folder)),
        )
    };
    let go_on = |progress: Option<BenchProgress>| {
        let going_on = !interrupted.load(Ordering::SeqCst);
        if let Some(progress) = progress.filter(|_| going_on) {
            bar.show(&progress);
        }
        going_on
    };
    let subject = Subject { path: &path, bytes: &bytes, budget };
    let outcome = bench(&subject, &parameters, &plan, folder.path(), &go_on);
    bar.clear();
    let bench = outcome.map_err(|error| match error {
        BenchError::Refused { policy, refusal: Refusal::Settings(problems) } => {
            anyhow::Error::from(parameters.refused(&policy, &problems))
        }
        other => other.into(),
    })?;
    match args.format {
        Format::Text => {
            let text = text_of(&path, &bench, columns());
            anstream::stdout().lock().write_all(text.as_bytes())?;
        }
        Format::Json => print_envelope("bench", &to_json(&path, &bench))?,
    }
    let rows = bench.policy.by_calls.iter().chain(&bench.policy.by_keys);
    let failed = rows.filter_map(|row| row.cost.as_ref().err()).any(|cut| *cut != Cut::Stopped);
    Ok(match (bench.stopped, failed) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Fine,
    })
}

/// The progress bar, on a terminal.
#[derive(Clone)]
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new() -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{spinner} {bar:20} {pos}/{len} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        // Compiling a scripting guest takes long, and there is nothing to tell meanwhile.
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(Some(bar))
    }

    fn show(&self, BenchProgress { done, steps, what }: &BenchProgress) {
        if let Some(bar) = &self.0 {
            bar.set_length(*steps as u64);
            bar.set_position(*done as u64);
            bar.set_message(clean(what));
        }
    }

    /// What is being measured comes to its end first: a scripting guest takes long to compile.
    fn stopping(&self) {
        const STOPPING: &str = "stopping; Ctrl-C again to stop at once";
        match &self.0 {
            Some(bar) => bar.set_message(STOPPING),
            None => say(STOPPING),
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn text_of(path: &str, bench: &Bench, width: usize) -> String {
    let Bench { plan, policy, default, stopped } = bench;
    let name = clean(&policy.identity.name);
    let mut out = format!("{TITLE}{name}{TITLE:#}  {}\n", clean(path));
    if let Some(digest) = &policy.identity.digest {
        out += &format!("{digest}\n");
    }
    out += "\nx: how many times what the default policy costs in this run\n";
    out += &loading(policy, default);
    let about = format!(
        "a decision, {} view, {} keys of limit {} with all slots free",
        view_word(policy.view),
        plan.keys,
        plan.limit
    );
    out += &format!("\n{TITLE}{about}{TITLE:#}\n");
    out += &rows("waiting", |row| row.calls, &policy.by_calls, &default.by_calls, width);
    let about = format!("a decision, {} waiting calls", grouped(plan.calls_by_keys.into()));
    out += &format!("\n{TITLE}{about}{TITLE:#}\n");
    out += &rows("keys", |row| row.keys, &policy.by_keys, &default.by_keys, width);
    if policy.view != default.view {
        let note = format!(
            "The default policy sees the {} view, which does not grow with the batch; {name} asks for the {} view.",
            view_word(default.view),
            view_word(policy.view)
        );
        out += &format!("\n{}\n", wrapped(note.split(' '), 0, 0, width));
    }
    if *stopped {
        out += &format!("\n{BAD}stopped before the end{BAD:#}\n");
    }
    out
}

/// How many times the second the first is.
fn ratio(own: f64, default: f64) -> String {
    if default > 0.0 { digits(own / default) } else { "-".to_owned() }
}

fn times(own: Duration, default: Duration) -> String {
    ratio(own.as_nanos() as f64, default.as_nanos() as f64)
}

fn loading(policy: &Measured, default: &Measured) -> String {
    let mut out = format!(
        "\n{TITLE}{:<21}{TITLE:#}{HEAD}{:>6} {:>14} {:>14}{HEAD:#}\n",
        "to have it", "x", "this", "default"
    );
    let mut line = |name: &str, x: &str, own: &str, default: &str| {
        out += &format!("{name:<21}{x:>6} {own:>14} {default:>14}\n");
    };
    let (own, other) = (&policy.loading, &default.loading);
    let timing = |timing: Option<Timing>| timing.map_or("-".to_owned(), |it| time(it.time));
    let mut timings = |name, own: Option<Timing>, other: Option<Timing>| {
        let x = own.zip(other).map_or("-".to_owned(), |(own, other)| times(own.time, other.time));
        line(name, &x, &timing(own), &timing(other));
    };
    timings("compile", own.compile, other.compile);
    timings("load and keep", Some(own.cold), Some(other.cold));
    timings("load what was kept", Some(own.cached), Some(other.cached));
    timings("instance, configured", own.instance, other.instance);
    let mut bytes = |name, own: Option<u64>, other: Option<u64>| {
        let x = own.zip(other).map_or("-".to_owned(), |(a, b)| ratio(a as f64, b as f64));
        let show =
            |bytes: Option<u64>| bytes.map_or("-".to_owned(), |it| format!("{} B", grouped(it)));
        line(name, &x, &show(own), &show(other));
    };
    bytes("file", Some(own.bytes), Some(other.bytes));
    bytes("linear memory, most", memory(policy), memory(default));
    bytes("resident memory", own.resident, other.resident);
    if own.compile.is_none() {
        out += "(compile: not measured, because loading it once took so long)\n";
    }
    out
}

/// The most linear memory that an instance had after any of its questions.
fn memory(measured: &Measured) -> Option<u64> {
    let rows = measured.by_calls.iter().chain(&measured.by_keys);
    rows.filter_map(|row| Some(row.cost.as_ref().ok()?.memory as u64)).max()
}

fn rows(size: &str, of: fn(&Row) -> u32, policy: &[Row], default: &[Row], width: usize) -> String {
    let mut out = format!(
        "{HEAD}{size:>8} {:>7}  {:>6} {:>6}  {:>13} {:>8}  {:>13} {:>8}{HEAD:#}\n",
        "shown", "x inst", "x time", "instructions", "time", "default inst", "time"
    );
    for (row, other) in policy.iter().zip(default) {
        let size = grouped(of(row).into());
        match &row.cost {
            Ok(cost) => {
                let (x_fuel, x_time, other_fuel, other_time) = match &other.cost {
                    Ok(other) => (
                        ratio(cost.fuel as f64, other.fuel as f64),
                        times(cost.time, other.time),
                        grouped(other.fuel),
                        time(other.time),
                    ),
                    Err(_) => ("-".to_owned(), "-".to_owned(), "-".to_owned(), "-".to_owned()),
                };
                out += &format!(
                    "{size:>8} {:>7}  {x_fuel:>6} {x_time:>6}  {:>13} {:>8}  {other_fuel:>13} {other_time:>8}\n{}",
                    grouped(row.shown as u64),
                    grouped(cost.fuel),
                    time(cost.time),
                    note(cost),
                );
            }
            Err(cut) => {
                let text = cut_text(cut);
                let style = if *cut == Cut::Stopped { HEAD } else { BAD };
                let text = wrapped(text.split(' '), 10, 10, width);
                out += &format!("{size:>8}  {style}{text}{style:#}\n");
            }
        }
    }
    out
}

/// What has to be known of the numbers of a row, on a line of its own.
fn note(cost: &Cost) -> String {
    let once = (cost.asked == 1).then(|| "asked once".to_owned());
    let more = cost.most_fuel > cost.fuel;
    let more =
        more.then(|| format!("up to {} instructions when asked again", grouped(cost.most_fuel)));
    let notes: Vec<String> = once.into_iter().chain(more).collect();
    if notes.is_empty() {
        return String::new();
    }
    format!("{HEAD}          ({}){HEAD:#}\n", notes.join("; "))
}

fn cut_text(cut: &Cut) -> String {
    match cut {
        Cut::Refused(words) => clean(words),
        Cut::Fault(fault) => format!("it {}", clean(&fault.to_string())),
        Cut::AfterFault { calls, keys } => format!(
            "not asked, because it failed with {} calls and {keys} keys",
            grouped((*calls).into())
        ),
        Cut::Stopped => "stopped".to_owned(),
    }
}

fn to_json(path: &str, bench: &Bench) -> Json {
    json!({
        "file": path,
        "stopped": bench.stopped,
        "keys": bench.plan.keys,
        "calls_by_keys": bench.plan.calls_by_keys,
        "limit": bench.plan.limit,
        "policy": measured_json(&bench.policy),
        "default": measured_json(&bench.default),
    })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn measured_json(measured: &Measured) -> Json {
    let Loading { bytes, compile, cold, cached, instance, resident } = &measured.loading;
    let timing =
        |timing: &Timing| json!({ "nanoseconds": nanos(timing.time), "samples": timing.samples });
    json!({
        "name": measured.identity.name,
        "digest": measured.identity.digest,
        "view": view_word(measured.view),
        "bytes": bytes,
        "compile": compile.as_ref().map(timing),
        "load_and_keep": timing(cold),
        "load_kept": timing(cached),
        "instance": instance.as_ref().map(timing),
        "memory_bytes": memory(measured),
        "resident_bytes": resident,
        "by_calls": measured.by_calls.iter().map(row_json).collect::<Vec<_>>(),
        "by_keys": measured.by_keys.iter().map(row_json).collect::<Vec<_>>(),
    })
}

fn row_json(row: &Row) -> Json {
    let mut json = json!({ "calls": row.calls, "keys": row.keys, "shown": row.shown });
    let rest = match &row.cost {
        Ok(cost) => json!({
            "instructions": cost.fuel,
            "most_instructions": cost.most_fuel,
            "nanoseconds": nanos(cost.time),
            "samples": cost.asked,
            "released": cost.released,
            "memory_bytes": cost.memory,
        }),
        Err(cut) => {
            let word = match cut {
                Cut::Refused(_) => "refused",
                Cut::Fault(fault) => fault.word(),
                Cut::AfterFault { .. } => "not asked",
                Cut::Stopped => "stopped",
            };
            json!({ "cut": word, "why": cut_text(cut) })
        }
    };
    if let (Some(json), Json::Object(rest)) = (json.as_object_mut(), rest) {
        json.extend(rest);
    }
    json
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
