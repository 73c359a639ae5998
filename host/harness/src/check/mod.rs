//! Proves or refutes a policy: searches through all batches up to a bound and all orders of what may happen to them, then tries
//! random ones far larger.
//!
//! Whatever is found was seen to happen with the scheduler that runs live, and comes as a scenario that shows it again. What is
//! left out of the search is time: it passes (a second between two instants, and whatever wake-ups ask for), but two histories that
//! differ in nothing but how long ago things happened count as one, except in the smallest batches.

mod batches;
mod history;
mod model;
mod random;
mod standard;
mod violation;
mod witness;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

pub use violation::{Impurity, Violation};

use jp_policy_core::policy::{PolicyFactory, Refusal};

use super::{Extras, Scenario, simulate};

/// What is searched.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Calls of the largest batch of the search.
    pub calls: usize,
    /// Keys of the largest batch; calls without a key come on top.
    pub keys: usize,
    /// The limits that each key takes.
    pub limits: Vec<u32>,
    /// Times are told apart in batches of up to this many calls.
    pub timed: usize,
    /// Random batches after the search.
    pub random: u32,
    /// Where the random batches start from.
    pub seed: u64,
    /// Holds the policy to the default rules too: order within a key, and no needless waiting.
    pub rules: bool,
    /// What the policy is given beyond keys and limits.
    pub extras: Extras,
    /// The component's file, for the scenario that is written; none: the embedded default.
    pub path: Option<std::path::PathBuf>,
    /// Threads that search.
    pub threads: usize,
}

impl Default for Plan {
    /// Four calls, two keys, limits of 1 and 2; all cores.
    fn default() -> Self {
        Self {
            calls: 4,
            keys: 2,
            limits: vec![1, 2],
            timed: 2,
            random: 1_000,
            seed: 0,
            rules: false,
            extras: Extras::default(),
            path: None,
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl Plan {
    /// Three calls and a hundred random batches: seconds, for whoever works on a policy.
    #[must_use]
    pub fn quick() -> Self {
        Self { calls: 3, random: 100, ..Self::default() }
    }
}

/// How far a check is; another thread may look.
#[derive(Debug, Default)]
pub struct Progress {
    /// Kinds of batches to search, and random batches to try.
    pub total: AtomicUsize,
    /// Those that are done.
    pub done: AtomicUsize,
    /// States of batches that were reached, each once.
    pub states: AtomicUsize,
    /// Steps from one state to another that were taken.
    pub steps: AtomicUsize,
    /// Questions that the policy has answered.
    pub decisions: AtomicU64,
    /// Set by whoever has waited long enough for the search: it ends where it is, and the random batches begin. Set again, those
    /// end too.
    pub enough: AtomicBool,
}

impl Progress {
    fn over(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }
}

/// What a policy was refuted by.
#[derive(Debug)]
pub struct Refutation {
    /// What went wrong.
    pub violation: Violation,
    /// The smallest batch found in which it does.
    pub scenario: Scenario,
    /// Whether a random batch showed it, and not the search.
    pub random: bool,
    /// Whether the batch alone shows it again. If not, it hangs on what the policy was asked before, which it must not.
    pub shown: bool,
}

/// What came of a check that could be made.
#[derive(Debug)]
pub struct Report {
    /// Kinds of batches that were searched whole.
    pub batches: usize,
    /// Kinds of batches that there are.
    pub kinds: usize,
    /// Random batches that were tried.
    pub random: usize,
    /// What went wrong; none: the policy holds.
    pub refutation: Option<Refutation>,
}

/// Why a policy can't be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The settings of the check are no configuration.
    #[error(transparent)]
    Config(#[from] jp_policy_config::ConfigError),
    /// The policy does not take the settings.
    #[error("{0}")]
    Unloadable(String),
}

/// Checks a policy. A search that finds nothing ends with the random batches; `progress` counts.
pub fn check(
    factory: &Arc<dyn PolicyFactory>,
    plan: &Plan,
    progress: &Arc<Progress>,
) -> Result<Report, CheckError> {
    let shapes = batches::shapes(plan);
    progress.total.store(shapes.len() + plan.random as usize, Ordering::Relaxed);
    let mut report = Report { batches: 0, kinds: shapes.len(), random: 0, refutation: None };
    report.refutation = search(factory, plan, &shapes, progress)?;
    report.batches = progress.done.load(Ordering::Relaxed);
    if report.refutation.is_none() {
        progress.enough.store(false, Ordering::Relaxed);
        report.refutation = random::random(factory, plan, progress)?;
        report.random = progress.done.load(Ordering::Relaxed) - report.batches;
    }
    if let Some(Refutation { violation, scenario, shown, .. }) = &mut report.refutation {
        scenario.title = violation.to_string();
        *shown = match (&*violation, simulate(scenario, &**factory)) {
            (Violation::Fault(fault), Ok(simulation)) => {
                simulation.record.faults.first().is_some_and(|again| again.kind == fault.kind)
            }
            (Violation::Impure { .. }, _) => false,
            _ => true,
        };
    }
    Ok(report)
}

/// Searches the batches, smallest first, on all threads. The smallest batch that went wrong is what is found.
fn search(
    factory: &Arc<dyn PolicyFactory>,
    plan: &Plan,
    shapes: &[batches::Shape],
    progress: &Arc<Progress>,
) -> Result<Option<Refutation>, CheckError> {
    let next = AtomicUsize::new(0);
    let worst: Mutex<Option<(usize, Result<Refutation, CheckError>)>> = Mutex::new(None);
    let found = |n: usize, result| {
        let mut worst = worst.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if worst.as_ref().is_none_or(|(earlier, _)| n < *earlier) {
            *worst = Some((n, result));
        }
        // Smaller ones that others are at still come to their end.
        next.store(shapes.len(), Ordering::Relaxed);
    };
    thread::scope(|scope| {
        for _ in 0..plan.threads.clamp(1, shapes.len().max(1)) {
            scope.spawn(|| {
                while !progress.over() {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(shape) = shapes.get(n) else {
                        return;
                    };
                    match model::search(factory, plan, shape, progress) {
                        // One that was cut short is not searched whole.
                        Ok(None) if progress.over() => {}
                        Ok(None) => {
                            progress.done.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(Some(refutation)) => return found(n, Ok(refutation)),
                        Err(error) => return found(n, Err(error)),
                    }
                }
            });
        }
    });
    let worst = worst.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    worst.map(|(_, result)| result).transpose()
}

/// A policy that does not come up: what it did is a violation, what it asks for has to be given.
fn not_configured(refusal: Refusal, plan: &Plan, name: &str) -> Result<Violation, CheckError> {
    match plan.extras.refusal(name, refusal) {
        Ok(problems) => Err(problems.into()),
        Err(Refusal::Fault(kind)) => Ok(Violation::NotConfigured(kind)),
        Err(other) => Err(CheckError::Unloadable(other.to_string())),
    }
}
