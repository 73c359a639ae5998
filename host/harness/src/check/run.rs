//! The whole check: the search on all threads, the random batches, and whether the refutation can be shown again.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use jp_policy_core::policy::PolicyFactory;

use super::{
    model,
    plan::Plan,
    progress::CheckProgress,
    random,
    report::{CheckError, Refutation, Report},
    shapes::{BatchShape, shapes},
    violation::Violation,
};
use crate::simulate;

/// Checks a policy. A search that finds nothing ends with the random batches; `progress` counts.
pub fn check(
    factory: &Arc<dyn PolicyFactory>,
    plan: &Plan,
    progress: &Arc<CheckProgress>,
) -> Result<Report, CheckError> {
    let shapes = shapes(plan);
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
    shapes: &[BatchShape],
    progress: &Arc<CheckProgress>,
) -> Result<Option<Refutation>, CheckError> {
    let next = AtomicUsize::new(0);
    let worst: Mutex<Option<(usize, Result<Refutation, CheckError>)>> = Mutex::new(None);
    let found = |n: usize, result| {
        let mut worst = worst.lock().unwrap_or_else(PoisonError::into_inner);
        if worst.as_ref().is_none_or(|(earlier, _)| n < *earlier) {
            *worst = Some((n, result));
        }
        // Smaller ones that others are at still come to their end.
        next.store(shapes.len(), Ordering::Relaxed);
    };
    thread::scope(|scope| {
        for _ in 0..plan.threads.clamp(1, shapes.len().max(1)) {
            scope.spawn(|| {
                while !progress.is_over() {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(shape) = shapes.get(n) else {
                        return;
                    };
                    match model::search(factory, plan, shape, progress) {
                        // One that was cut short is not searched whole.
                        Ok(None) if progress.is_over() => {}
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
    let worst = worst.into_inner().unwrap_or_else(PoisonError::into_inner);
    worst.map(|(_, result)| result).transpose()
}
