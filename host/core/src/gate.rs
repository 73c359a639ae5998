//! The stop gate of a fanned-out call whose `on_error` is `stop` (RFD 129, fan-out).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::run_end::RunEnd;

/// Whether an operation of the call has failed, or was cancelled by itself. Nothing else: limits and order are the Host's.
///
/// Who runs an operation [reports](Self::report) how it ended before the session learns of it, so whatever is released because of
/// that end finds the gate shut. An operation that finds it shut is not run, and ends at once.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Mutex<bool>>);

impl Gate {
    /// An operation has failed, or was cancelled. Once this returns, none begins.
    pub fn shut(&self) {
        *self.lock() = true;
    }

    /// Whether one has.
    pub fn is_shut(&self) -> bool {
        *self.lock()
    }

    /// A run of an operation is over: shuts the gate if that was a failure, whichever way it came about.
    pub fn report(&self, end: &RunEnd) {
        if end.is_failure() {
            self.shut();
        }
    }

    /// Begins an operation, unless one has failed; none does meanwhile.
    pub fn enter<T>(&self, begin: impl FnOnce() -> T) -> Option<T> {
        let shut = self.lock();
        (!*shut).then(begin)
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
