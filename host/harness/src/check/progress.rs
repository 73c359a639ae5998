//! How far a check is.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// How far a check is; another thread may look.
#[derive(Debug, Default)]
pub struct CheckProgress {
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
    /// Set by a caller that has waited long enough for the search: it ends where it is, and the random batches begin. Set again, those
    /// end too.
    pub enough: AtomicBool,
}

impl CheckProgress {
    /// Whether the current part is to end where it is.
    pub(super) fn is_over(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }
}
