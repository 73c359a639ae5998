//! Many scenarios at once, as a test runner has them: found, read and judged on all cores.

use std::{
    fs, io,
    ops::ControlFlow,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use jp_policy_config::ConfigError;
use jp_policy_core::policy::PolicyFactory;

use super::{
    scenario::Scenario,
    verdict::{Verdict, verdict},
};

/// Where scenarios could not be looked for.
#[derive(Debug, thiserror::Error)]
#[error("failed to read `{}`: {error}", .path.display())]
pub struct FindError {
    /// The path that was given, or a folder below it.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// A scenario file that was read.
pub struct LoadedScenario {
    /// The file.
    pub file: PathBuf,
    /// The scenario in it, or all that is wrong with it.
    pub scenario: Result<Scenario, ConfigError>,
    /// How long the reading took.
    pub took: Duration,
}

/// What came of one file.
#[derive(Debug)]
pub struct TestResult {
    /// The file.
    pub file: PathBuf,
    /// What it is about; empty if it could not be read.
    pub title: String,
    /// How long it took, reading included.
    pub took: Duration,
    /// How it came out.
    pub outcome: TestOutcome,
}

/// How a scenario came out.
#[derive(Debug)]
pub enum TestOutcome {
    /// As it says.
    Passed,
    /// Otherwise.
    Failed(Box<Verdict>),
    /// It could not be tested at all: it can't be read, or its policy can't be loaded.
    Broken(String),
}

impl TestResult {
    /// Whether it came out as it says.
    pub fn passed(&self) -> bool {
        matches!(self.outcome, TestOutcome::Passed)
    }

    /// What is wrong, one text each; none if it passed.
    pub fn problems(&self) -> Vec<String> {
        match &self.outcome {
            TestOutcome::Passed => Vec::new(),
            TestOutcome::Failed(verdict) => {
                verdict.mismatches.iter().map(ToString::to_string).collect()
            }
            TestOutcome::Broken(why) => vec![why.clone()],
        }
    }
}

/// The scenario files among these paths, sorted within each: a file counts as it is, of a folder all `*.toml` in it and below.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FindError> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    Ok(files)
}

fn collect(path: &Path, into: &mut Vec<PathBuf>) -> Result<(), FindError> {
    let failed = |error| FindError { path: path.to_owned(), error };
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        into.push(path.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(failed)?;
    let mut entries =
        entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(failed)?;
    entries.sort();
    for entry in entries {
        // A folder behind a link could lead back here.
        let folder = entry.is_dir() && !entry.is_symlink();
        if folder || (!entry.is_dir() && entry.extension().is_some_and(|it| it == "toml")) {
            collect(&entry, into)?;
        }
    }
    Ok(())
}

/// Reads the files on all cores; in their order.
pub fn load(files: &[PathBuf]) -> Vec<LoadedScenario> {
    parallel_map(files.len(), |n| {
        let start = Instant::now();
        let scenario = Scenario::read(&files[n]);
        ControlFlow::Continue(LoadedScenario {
            file: files[n].clone(),
            scenario,
            took: start.elapsed(),
        })
    })
}

/// Judges the scenarios on all cores; what was judged, in their order.
///
/// `policy` gives the policy of the scenario with this number, or says why there is none. `observe` is told of each result,
/// and can break off: what has not begun by then is left out.
pub fn judge_all<'p>(
    loaded: &[LoadedScenario],
    policy: impl Fn(usize, &Scenario) -> Result<&'p dyn PolicyFactory, String> + Sync,
    observe: impl Fn(&TestResult) -> ControlFlow<()> + Sync,
) -> Vec<TestResult> {
    parallel_map(loaded.len(), |n| {
        let start = Instant::now();
        let LoadedScenario { file, scenario, took } = &loaded[n];
        let (title, outcome) = match scenario {
            Err(error) => (String::new(), TestOutcome::Broken(error.to_string())),
            Ok(scenario) => (scenario.title.clone(), test(scenario, policy(n, scenario))),
        };
        let result =
            TestResult { file: file.clone(), title, took: *took + start.elapsed(), outcome };
        match observe(&result) {
            ControlFlow::Continue(()) => ControlFlow::Continue(result),
            ControlFlow::Break(()) => ControlFlow::Break(result),
        }
    })
}

fn test(scenario: &Scenario, policy: Result<&dyn PolicyFactory, String>) -> TestOutcome {
    match policy {
        Err(why) => TestOutcome::Broken(why),
        Ok(policy) => {
            let verdict = verdict(scenario, policy);
            if verdict.mismatches.is_empty() {
                TestOutcome::Passed
            } else {
                TestOutcome::Failed(Box::new(verdict))
            }
        }
    }
}

/// Does so many pieces of work on all cores, and returns what came of them in their order; a break leaves out what has not begun.
fn parallel_map<T: Send>(
    pieces: usize,
    work: impl Fn(usize) -> ControlFlow<T, T> + Sync,
) -> Vec<T> {
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let worker = || {
        let mut done = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= pieces {
                break;
            }
            let (ControlFlow::Continue(piece) | ControlFlow::Break(piece)) = {
                let piece = work(n);
                over.fetch_or(piece.is_break(), Ordering::Relaxed);
                piece
            };
            done.push((n, piece));
        }
        done
    };
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, usize::from).min(pieces);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        // A panic goes on: what the worker had done would be missing.
        let join = |worker: thread::ScopedJoinHandle<'_, Vec<(usize, T)>>| worker.join();
        workers
            .into_iter()
            .flat_map(|worker| join(worker).unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(n, _)| *n);
    done.into_iter().map(|(_, piece)| piece).collect()
}

#[cfg(test)]
#[path = "suite_tests.rs"]
mod tests;
