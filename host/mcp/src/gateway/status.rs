//! The status of a tool call, and the channels that carry it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jp_policy_runtime::tools::Progress;
use tokio::sync::watch;

/// Where a tool call stands. A fanned-out call has one status for all its operations.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CallStatus {
    /// It was submitted, and nothing else is known yet.
    #[default]
    Submitted,
    /// Nothing of it runs; why, in a few words.
    Queued(String),
    /// It runs. The words say how many operations are done, if it has some.
    Running(String),
    /// It runs and reports its own progress.
    Progress(Progress),
}

/// The watched calls of a batch that the batch has not taken yet, by id. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct WatchedCalls(Arc<Mutex<HashMap<String, watch::Sender<CallStatus>>>>);

impl WatchedCalls {
    /// Watches the call with this id, which is submitted after this.
    pub(super) fn add(&self, id: &str) -> watch::Receiver<CallStatus> {
        let (sender, status) = watch::channel(CallStatus::default());
        self.lock().insert(id.to_owned(), sender);
        status
    }

    /// Takes out the sender of a call, once; none: the call is not watched.
    pub(super) fn take(&self, id: &str) -> Option<watch::Sender<CallStatus>> {
        self.lock().remove(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<CallStatus>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
