//! Observes a batch, and sends the status of each watched call when it changes.
//!
//! Whatever happens to other calls costs a watched one nothing: places in a queue are counted only after its key's queue or the
//! barrier has moved, in one walk for all watched calls of the key, and only as far as the last of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jp_policy_core::{
    batch::{Batch, CallId, KeyIndex},
    scheduler::{Event, EventKind, Scheduler, Settlement, Waiting},
    text::clean,
};
use jp_policy_runtime::{
    coordinator::{Observer, Snapshot},
    tools::Progress,
};

use super::{status::WatchedCalls, watched::WatchedCall};

/// The place of a tool call among the tool calls of the batch: its calls have it as `parent`.
type Place = u32;

/// The watched tool calls of which nothing runs and something is parked: each by the first call of it that is parked.
type Queue = BTreeMap<CallId, Place>;

/// Finds out where the watched calls of a batch stand.
#[derive(Default)]
pub(super) struct StatusWatcher {
    submitted: WatchedCalls,
    calls: HashMap<Place, WatchedCall>,
    /// By key; none: the calls without one.
    queues: BTreeMap<Option<KeyIndex>, Queue>,
    /// The keys whose queues have moved since their places were counted.
    moved: BTreeSet<Option<KeyIndex>>,
    /// The tool calls whose status may have changed since it was sent.
    changed: BTreeSet<Place>,
    /// How many calls were undecided when places were counted, if calls wait for the barrier.
    barrier: Option<usize>,
    /// How many waiting calls were looked at to count places.
    #[cfg(test)]
    pub(super) looked_at: usize,
}

impl StatusWatcher {
    /// Watches these calls from when they are submitted.
    pub(super) fn new(submitted: WatchedCalls) -> Self {
        Self { submitted, ..Self::default() }
    }

    /// A call came in: it is watched if its tool call is.
    fn submitted(&mut self, call: CallId, snapshot: &Snapshot<'_>) {
        let Some(known) = snapshot.scheduler().batch().get(call) else {
            return;
        };
        if !self.calls.contains_key(&known.parent) {
            let tool_call = snapshot.operation_of(call);
            let id = tool_call.or_else(|| snapshot.request(call).map(|request| &*request.id));
            let Some(sender) = id.and_then(|id| self.submitted.take(id)) else {
                return;
            };
            let watched = WatchedCall::new(sender, known.key, tool_call.is_some());
            self.calls.insert(known.parent, watched);
        }
        self.update(call, snapshot);
    }

    /// The stage of a call may have changed.
    fn update(&mut self, call: CallId, snapshot: &Snapshot<'_>) {
        let known = snapshot.scheduler().batch().get(call);
        let Some((known, watched)) =
            known.and_then(|known| Some((known, self.calls.get_mut(&known.parent)?)))
        else {
            return;
        };
        let (place, key) = (known.parent, watched.key());
        let before = watched.queued();
        watched.set_stage(call, known.stage);
        let queued = watched.queued();
        if watched.is_settled() {
            self.calls.remove(&place);
            self.changed.remove(&place);
        } else {
            self.changed.insert(place);
        }
        if before == queued {
            return;
        }
        let queue = self.queues.entry(key).or_default();
        if let Some(before) = before {
            queue.remove(&before);
        }
        if let Some(queued) = queued {
            queue.insert(queued, place);
            self.moved.insert(key);
        }
        if queue.is_empty() {
            self.queues.remove(&key);
        }
    }

    /// The calls that wait for the key of this call may stand elsewhere.
    fn queue_moved(&mut self, call: CallId, batch: &Batch) {
        if let Some(key) = batch.get(call).map(|call| call.key)
            && self.queues.contains_key(&key)
        {
            self.moved.insert(key);
        }
    }

    fn all_moved(&mut self) {
        self.moved.extend(self.queues.keys());
    }

    /// Counts the places of the watched calls that wait for a key.
    fn count_places(&mut self, key: Option<KeyIndex>, scheduler: &Scheduler) {
        let Some(queue) = self.queues.get(&key) else {
            return;
        };
        let first = queue.keys().next().and_then(|call| scheduler.why(*call));
        let barrier = first.filter(|reason| matches!(reason, Waiting::Barrier { .. }));
        if let Some(Waiting::Barrier { pending }) = barrier {
            self.barrier = Some(pending);
        }
        let mut waiting =
            key.into_iter().flat_map(|key| scheduler.batch().waiting(key)).enumerate();
        for (call, place) in queue {
            let reason = match (&barrier, key) {
                (Some(barrier), _) => Some(barrier.clone()),
                (None, None) => scheduler.why(*call),
                (None, Some(key)) => waiting
                    .by_ref()
                    .inspect(|_| {
                        #[cfg(test)]
                        {
                            self.looked_at += 1;
                        }
                    })
                    .find(|(_, waiting)| waiting == call)
                    .and_then(|(ahead, _)| match ahead {
                        // The slot that it waits for may be free, and the policy hold it back.
                        0 => scheduler.why(*call),
                        ahead => Some(Waiting::Key { key, ahead }),
                    }),
            };
            if let Some(watched) = self.calls.get_mut(place)
                && watched.set_reason(reason)
            {
                self.changed.insert(*place);
            }
        }
    }
}

impl Observer for StatusWatcher {
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>) {
        let batch = snapshot.scheduler().batch();
        match &event.kind {
            EventKind::Submitted(call) => self.submitted(*call, snapshot),
            EventKind::Released(call, _) => {
                if self.barrier.take().is_some() {
                    self.all_moved();
                }
                self.queue_moved(*call, batch);
                self.update(*call, snapshot);
            }
            EventKind::Ended(Some(call), ..)
            | EventKind::Restarted(call)
            | EventKind::Settled(
                call,
                Settlement::NotRun | Settlement::Cancelled | Settlement::PolicyFault,
            ) => {
                self.queue_moved(*call, batch);
                self.update(*call, snapshot);
            }
            EventKind::Parked(call) | EventKind::Settled(call, Settlement::Responded) => {
                self.update(*call, snapshot);
            }
            // Of which key the slot was is not known any more.
            EventKind::Ended(None, ..) => self.all_moved(),
            EventKind::Asked(_)
            | EventKind::Answered(_)
            | EventKind::Stop(_)
            | EventKind::Cancelled
            | EventKind::Decided(_)
            | EventKind::Fault(_) => {}
        }
    }

    fn progress(&mut self, call: CallId, progress: &Progress, snapshot: &Snapshot<'_>) {
        let known = snapshot.scheduler().batch().get(call);
        let watched = known.and_then(|known| self.calls.get_mut(&known.parent));
        if let Some(watched) = watched
            && watched.set_progress(call, progress)
        {
            watched.send(|reason| why(reason, snapshot.scheduler()));
        }
    }

    fn decided(&mut self, snapshot: &Snapshot<'_>) {
        let scheduler = snapshot.scheduler();
        if self.barrier.is_some_and(|pending| pending != scheduler.batch().pending()) {
            self.barrier = None;
            self.all_moved();
        }
        for key in std::mem::take(&mut self.moved) {
            self.count_places(key, scheduler);
        }
        for place in std::mem::take(&mut self.changed) {
            if let Some(watched) = self.calls.get(&place) {
                watched.send(|reason| why(reason, scheduler));
            }
        }
    }
}

/// Why a call waits, in a few words.
fn why(reason: &Waiting, scheduler: &Scheduler) -> String {
    let key_name = |key| clean(scheduler.batch().key_name(key));
    match *reason {
        Waiting::Key { key, ahead: 0 } => format!("queued: key {}, next in line", key_name(key)),
        Waiting::Key { key, ahead } => format!("queued: key {}, {ahead} ahead", key_name(key)),
        Waiting::Barrier { pending: 1 } => "queued: 1 call waits for approval".to_owned(),
        Waiting::Barrier { pending } => format!("queued: {pending} calls wait for approval"),
        Waiting::Policy => format!("queued: held by policy {}", clean(&scheduler.identity().name)),
        Waiting::Approval => "queued".to_owned(),
    }
}

#[cfg(test)]
#[path = "watcher_tests.rs"]
mod tests;
