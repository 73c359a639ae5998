//! One watched tool call: where each of its calls stands, and the one status that this amounts to.

use std::collections::{BTreeMap, BTreeSet};

use jp_policy_core::{
    batch::{CallId, KeyIndex, Stage},
    scheduler::Waiting,
};
use jp_policy_runtime::tools::Progress;
use tokio::sync::watch;

use super::status::CallStatus;

/// A tool call of the batch that somebody watches.
pub(super) struct WatchedCall {
    sender: watch::Sender<CallStatus>,
    /// The key of its tool, and so of all its calls.
    key: Option<KeyIndex>,
    has_operations: bool,
    /// Its calls: itself, or its operations.
    stages: BTreeMap<CallId, Stage>,
    /// Those of them that are parked.
    parked: BTreeSet<CallId>,
    running: usize,
    /// How many have ended, or were settled without running.
    done: usize,
    settled: usize,
    /// Why its first parked call waits.
    reason: Option<Waiting>,
    /// What a running call of it has reported last.
    progress: Option<(CallId, Progress)>,
}

impl WatchedCall {
    /// A tool call without calls yet.
    pub(super) fn new(
        sender: watch::Sender<CallStatus>,
        key: Option<KeyIndex>,
        has_operations: bool,
    ) -> Self {
        Self {
            sender,
            key,
            has_operations,
            stages: BTreeMap::new(),
            parked: BTreeSet::new(),
            running: 0,
            done: 0,
            settled: 0,
            reason: None,
            progress: None,
        }
    }

    pub(super) fn key(&self) -> Option<KeyIndex> {
        self.key
    }

    /// A call of it is at this stage now.
    pub(super) fn set_stage(&mut self, call: CallId, stage: Stage) {
        let before = self.stages.insert(call, stage);
        let changed = |is: fn(Stage) -> bool, count: &mut usize| {
            *count -= usize::from(before.is_some_and(is));
            *count += usize::from(is(stage));
        };
        changed(is_running, &mut self.running);
        changed(|stage| matches!(stage, Stage::Ended { .. } | Stage::Settled), &mut self.done);
        changed(|stage| stage == Stage::Settled, &mut self.settled);
        if stage == Stage::Parked {
            self.parked.insert(call);
        } else {
            self.parked.remove(&call);
        }
        if !is_running(stage) {
            self.progress.take_if(|(reporting, _)| *reporting == call);
        }
    }

    /// A call of it reports this. `false`: it does not run.
    pub(super) fn set_progress(&mut self, call: CallId, progress: &Progress) -> bool {
        let runs = self.stages.get(&call).copied().is_some_and(is_running);
        if runs {
            self.progress = Some((call, progress.clone()));
        }
        runs
    }

    /// Its first parked call, if nothing of it runs.
    pub(super) fn queued(&self) -> Option<CallId> {
        self.parked.first().copied().filter(|_| self.running == 0)
    }

    /// Why that waits. `false`: for the same reason as before.
    pub(super) fn set_reason(&mut self, reason: Option<Waiting>) -> bool {
        let changed = self.reason != reason;
        self.reason = reason;
        changed
    }

    /// Whether all its calls have their response.
    pub(super) fn is_settled(&self) -> bool {
        self.settled == self.stages.len()
    }

    /// Sends its status, if that has changed. `words` says why it waits.
    pub(super) fn send(&self, words: impl FnOnce(&Waiting) -> String) {
        let Some(status) = self.status(words) else {
            return;
        };
        self.sender.send_if_modified(|known| {
            let changed = *known != status;
            *known = status;
            changed
        });
    }

    fn status(&self, words: impl FnOnce(&Waiting) -> String) -> Option<CallStatus> {
        let count = || format!(", {} of {} done", self.done, self.stages.len());
        // Before the first has ended there is nothing to count of a call that waits.
        let counted = |text: String| match self.done {
            0 => text,
            _ => text + &count(),
        };
        if self.running > 0 {
            let progress = self.progress.as_ref().map(|(_, progress)| progress);
            return Some(match (self.has_operations, progress) {
                (false, None) => CallStatus::Running("running".to_owned()),
                (false, Some(progress)) => CallStatus::Progress(progress.clone()),
                // The operations' own numbers can't be compared, and their words can be read.
                (true, progress) => {
                    let said = progress.and_then(|progress| progress.message.as_ref());
                    let said = said.map_or_else(String::new, |said| format!(": {said}"));
                    CallStatus::Running(format!("running{}{said}", count()))
                }
            });
        }
        if self.queued().is_some() {
            return Some(CallStatus::Queued(counted(words(self.reason.as_ref()?))));
        }
        let undecided = self.stages.len() > self.done;
        (self.done > 0 && undecided)
            .then(|| CallStatus::Queued(counted("waiting for approval".to_owned())))
    }
}

fn is_running(stage: Stage) -> bool {
    matches!(stage, Stage::Running { .. })
}

#[cfg(test)]
#[path = "watched_tests.rs"]
mod tests;
