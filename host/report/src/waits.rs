//! Why calls wait: at an instant, or over a whole batch.
//!
//! The events of the batch, simulated or recorded, are followed one by one, and the state at an instant is what they make of it. So
//! a record is explained by what really happened and by nothing else; only a policy's reason comes from an instance that is asked
//! afterwards: a policy is a pure function, so it says now what it would have said then.

use std::collections::BTreeMap;

use jp_policy_core::{
    batch::{Batch, CallId, Carried, ExecutionId, Instant, Stage},
    policy::{Arguments, Policy, PolicyFactory, Refusal},
    record::{Record, RecordFile},
    scheduler::{self, Event, EventKind, Waiting},
};
use jp_policy_guest::{KeyIndex, Settings, ToolIndex, View};

/// Why a call waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitCause {
    /// For its own approval.
    Approval,
    /// For others: nothing starts before every call is written and decided.
    Barrier {
        /// Which are undecided.
        undecided: Vec<CallId>,
    },
    /// For a slot of its key, or its turn.
    Key {
        /// The key.
        key: KeyIndex,
        /// How many executions may hold a slot.
        limit: u32,
        /// Which do.
        holders: Vec<Holder>,
        /// How many executions of earlier batches do.
        earlier: usize,
        /// Which calls are before it in line.
        ahead: Vec<CallId>,
    },
    /// The policy was asked, and holds it back.
    Policy {
        /// When the policy wants to be asked again.
        wake_at: Option<Instant>,
    },
    /// The policy is being asked.
    Asked,
}

/// An execution that holds a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Of this call.
    pub call: CallId,
    /// When it was released.
    pub since: Instant,
    /// Whether it is from before a restart and is being stopped.
    pub stopping: bool,
}

/// A call that waits at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCall {
    /// Which.
    pub call: CallId,
    /// When it came in, or was approved.
    pub since: Instant,
    /// Why.
    pub cause: WaitCause,
    /// The policy's own reason.
    pub reason: Option<String>,
}

/// A stretch of time in which a call waited for one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitInterval {
    /// From.
    pub from: Instant,
    /// Until; none: what happened ends before it does.
    pub to: Option<Instant>,
    /// Why, as it was at the beginning.
    pub cause: WaitCause,
    /// The policy's own reason at the beginning.
    pub reason: Option<String>,
}

/// What a [`WaitAnalysis`] is made of.
pub struct BatchHistory {
    /// What happened when.
    pub record: Record,
    /// What the policy was configured with.
    pub settings: Settings,
    /// The same event by event.
    pub events: Vec<Event>,
    /// The keys of the executions that earlier batches had left.
    pub earlier: Vec<String>,
    /// When the last call had been written, if something waited for that.
    pub complete: Option<Instant>,
    /// Asked for its reasons; it decides nothing.
    pub policy: Option<Box<dyn Policy>>,
}

/// What happened to a batch, to be asked why its calls waited.
pub struct WaitAnalysis {
    /// What happened when.
    pub record: Record,
    settings: Settings,
    calls: Vec<(ToolIndex, u32)>,
    events: Vec<Event>,
    /// The keys of the executions that earlier batches had left.
    earlier: Vec<String>,
    /// When the last call had been written, if something waited for that.
    complete: Option<Instant>,
    /// From when on the policy did not decide any more.
    failed: Option<Instant>,
    policy: Option<Box<dyn Policy>>,
}

impl WaitAnalysis {
    /// Of a batch with its events.
    pub fn of_history(history: BatchHistory) -> Self {
        let BatchHistory { record, settings, events, earlier, complete, policy } = history;
        Self {
            calls: calls(&record),
            events,
            earlier,
            complete,
            failed: record.faults.first().map(|fault| fault.at),
            policy,
            settings,
            record,
        }
    }

    /// Of a record file. `settings` are those of its configuration; the policy is asked for its reasons and decides nothing.
    pub fn of_record(
        file: &RecordFile,
        settings: Settings,
        factory: Option<&dyn PolicyFactory>,
    ) -> Result<Self, Refusal> {
        let arguments = Arguments::default();
        for call in file.arguments() {
            arguments.push_text(&call);
        }
        let policy = match factory {
            Some(factory) => Some(factory.instantiate(&settings, arguments)?),
            None => None,
        };
        Ok(Self {
            calls: calls(&file.record),
            events: file.events.clone(),
            earlier: Vec::new(),
            complete: None,
            failed: file.faults.first().map(|fault| fault.at),
            policy,
            settings,
            record: file.record.clone(),
        })
    }

    /// Whether the calls of a key leave in written order: so they do under a policy that sees only the first of them. True as
    /// well where no policy is there to say it.
    pub fn in_order(&self) -> bool {
        self.policy.as_ref().is_none_or(|policy| policy.view() == View::Front)
    }

    /// The limit of a key.
    pub fn limit(&self, key: KeyIndex) -> u32 {
        self.settings.keys.get(key as usize).map_or(0, |key| key.limit)
    }

    /// What waits at an instant, all that happens at it done, in written order.
    pub fn at(&mut self, at: Instant) -> Vec<WaitingCall> {
        let mut follower = Follower::new(self);
        for event in self.events.iter().take_while(|event| event.at <= at) {
            follower.follow(event);
        }
        let holds = follower.holds(at);
        let calls = (0..).zip(follower.batch.calls());
        let waiting =
            calls.filter(|(_, call)| matches!(call.stage, Stage::Pending | Stage::Parked));
        let waiting: Vec<(CallId, Instant)> = waiting.map(|(id, call)| (id, call.since)).collect();
        let mut policy =
            self.policy.as_mut().filter(|_| self.failed.is_none_or(|failed| at < failed));
        let waits = waiting.into_iter().filter_map(|(call, since)| {
            let cause = follower.cause(holds, call)?;
            let reason = follower.reason(&cause, at, call, policy.as_deref_mut());
            Some(WaitingCall { call, since, cause, reason })
        });
        waits.collect()
    }

    /// How each call waited, in intervals of one cause each; calls in written order. What took no time is left out, and the time
    /// in which the policy thinks counts to the interval before it.
    pub fn history(&mut self) -> Vec<Vec<WaitInterval>> {
        let mut history: Vec<Vec<WaitInterval>> = vec![Vec::new(); self.calls.len()];
        let mut follower = Follower::new(self);
        let mut waiting: BTreeMap<CallId, Kind> = BTreeMap::new();
        let complete = self.complete.filter(|_| !self.events.is_empty());
        let mut complete = complete.into_iter().peekable();
        for events in self.events.chunk_by(|a, b| a.at == b.at) {
            let at = events[0].at;
            // The last call may have been written when nothing else happened.
            if let Some(written) = complete.next_if(|written| *written < at) {
                follower.note(written, &mut history, &mut waiting, self.failed, &mut self.policy);
            }
            for event in events {
                follower.follow(event);
            }
            complete.next_if(|written| *written == at);
            follower.note(at, &mut history, &mut waiting, self.failed, &mut self.policy);
        }
        history.into_iter().map(merge_intervals).collect()
    }

    /// The calls that held a slot of a key in an interval of time, in the order of their release.
    pub fn held(&self, key: KeyIndex, interval: &WaitInterval) -> Vec<CallId> {
        let (from, to) = (interval.from, interval.to.unwrap_or(Instant::MAX));
        let mut held: Vec<(Instant, CallId)> = Vec::new();
        for (id, call) in (0..).zip(&self.record.calls) {
            let runs = call.runs.iter().filter(|_| call.key == Some(key));
            let runs =
                runs.filter(|run| run.span.from < to && run.span.to.is_none_or(|end| end > from));
            held.extend(runs.map(|run| (run.span.from, id)));
        }
        held.sort_unstable();
        held.into_iter().map(|(_, call)| call).collect()
    }
}

fn calls(record: &Record) -> Vec<(ToolIndex, u32)> {
    record.calls.iter().map(|call| (call.tool, call.parent)).collect()
}

/// What a call waits for, without the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Approval,
    Barrier,
    Key,
    Policy,
    Asked,
}

/// Follows a batch through its events.
struct Follower {
    calls: Vec<(ToolIndex, u32)>,
    complete: Option<Instant>,
    batch: Batch,
    /// How many executions of earlier batches there were; theirs are the first ids.
    earlier: u64,
    /// Executions in flight by their number in the events.
    runs: BTreeMap<ExecutionId, InFlight>,
    /// Something was released since the last restart: the barrier is down.
    started: bool,
    /// Something happened since the last decision.
    due: bool,
    wake_at: Option<Instant>,
}

struct InFlight {
    local: ExecutionId,
    call: CallId,
    since: Instant,
}

impl Follower {
    fn new(analysis: &WaitAnalysis) -> Self {
        Self {
            calls: analysis.calls.clone(),
            complete: analysis.complete,
            batch: Batch::new(
                &analysis.settings,
                Carried::of(analysis.earlier.iter().cloned().map(Some)),
            ),
            earlier: analysis.earlier.len() as u64,
            runs: BTreeMap::new(),
            started: false,
            due: false,
            wake_at: None,
        }
    }

    fn follow(&mut self, event: &Event) {
        let at = event.at;
        match &event.kind {
            EventKind::Submitted(call) => {
                let (tool, parent) =
                    self.calls.get(*call as usize).copied().unwrap_or((ToolIndex::MAX, 0));
                self.batch.add(at, tool, parent);
            }
            EventKind::Parked(call) => {
                self.batch.park(at, *call);
                self.due = true;
            }
            EventKind::Released(call, execution) => {
                if let Some(local) = self.batch.release(at, *call) {
                    self.started = true;
                    self.runs.insert(*execution, InFlight { local, call: *call, since: at });
                }
            }
            EventKind::Ended(_, execution, end) => {
                if let Some(run) = self.runs.remove(execution) {
                    self.batch.end(at, run.local, *end);
                } else if execution.number() < self.earlier {
                    self.batch.end(at, *execution, *end);
                }
                self.due = true;
            }
            EventKind::Settled(call, _) => {
                self.batch.settle(at, *call);
                self.due = true;
            }
            EventKind::Restarted(call) => {
                self.batch.reset(at, *call);
                self.started = false;
                self.wake_at = None;
            }
            EventKind::Decided(decided) => {
                self.wake_at = decided.wake_at;
                self.due = false;
            }
            EventKind::Cancelled | EventKind::Fault(_) => self.wake_at = None,
            EventKind::Asked(_) | EventKind::Answered(_) | EventKind::Stop(_) => {}
        }
    }

    fn holds(&self, at: Instant) -> bool {
        self.complete.is_some_and(|complete| at < complete)
            || (!self.started && self.batch.pending() > 0)
    }

    fn kind(&self, holds: bool, call: CallId) -> Option<Kind> {
        let known = self.batch.get(call)?;
        Some(match (known.stage, known.key) {
            (Stage::Pending, _) => Kind::Approval,
            (Stage::Parked, _) if holds => Kind::Barrier,
            (Stage::Parked, Some(key))
                if self.batch.running(key) >= self.batch.limit(key) as usize
                    || self.batch.waiting(key).next() != Some(call) =>
            {
                Kind::Key
            }
            (Stage::Parked, _) if self.due => Kind::Asked,
            (Stage::Parked, _) => Kind::Policy,
            _ => return None,
        })
    }

    fn cause(&self, holds: bool, call: CallId) -> Option<WaitCause> {
        Some(match scheduler::why(&self.batch, holds, call)? {
            Waiting::Approval => WaitCause::Approval,
            Waiting::Barrier { .. } => {
                let calls = (0..).zip(self.batch.calls());
                let undecided = calls.filter(|(_, call)| call.stage == Stage::Pending);
                WaitCause::Barrier { undecided: undecided.map(|(id, _)| id).collect() }
            }
            Waiting::Key { key, .. } => {
                let holders = self.holders(key);
                WaitCause::Key {
                    key,
                    limit: self.batch.limit(key),
                    earlier: self.batch.running(key).saturating_sub(holders.len()),
                    holders,
                    ahead: self.batch.waiting(key).take_while(|earlier| *earlier < call).collect(),
                }
            }
            Waiting::Policy if self.due => WaitCause::Asked,
            Waiting::Policy => WaitCause::Policy { wake_at: self.wake_at },
        })
    }

    fn holders(&self, key: KeyIndex) -> Vec<Holder> {
        let of_key =
            |run: &&InFlight| self.batch.get(run.call).is_some_and(|call| call.key == Some(key));
        let runs = self.runs.values().filter(of_key);
        let mut holders: Vec<Holder> = runs
            .map(|run| Holder {
                call: run.call,
                since: run.since,
                stopping: self.batch.call_of(run.local).is_none(),
            })
            .collect();
        holders.sort_by_key(|holder| (holder.since, holder.call));
        holders
    }

    /// The policy's reason, where it is the policy that could have released the call.
    fn reason(
        &self,
        cause: &WaitCause,
        at: Instant,
        call: CallId,
        policy: Option<&mut Box<dyn Policy>>,
    ) -> Option<String> {
        if matches!(cause, WaitCause::Approval | WaitCause::Barrier { .. } | WaitCause::Asked) {
            return None;
        }
        let policy = policy?;
        policy.explain(&self.batch.view(at, policy.view()), call)
    }

    /// Notes for what each call waits from now on.
    fn note(
        &self,
        at: Instant,
        history: &mut [Vec<WaitInterval>],
        waiting: &mut BTreeMap<CallId, Kind>,
        failed: Option<Instant>,
        policy: &mut Option<Box<dyn Policy>>,
    ) {
        let holds = self.holds(at);
        for (call, intervals) in (0..).zip(history.iter_mut()) {
            let kind = self.kind(holds, call);
            if waiting.get(&call).copied() == kind {
                continue;
            }
            if let Some(last) = intervals.last_mut() {
                last.to.get_or_insert(at);
            }
            waiting.remove(&call);
            let (Some(kind), Some(cause)) = (kind, self.cause(holds, call)) else {
                continue;
            };
            waiting.insert(call, kind);
            let policy = policy.as_mut().filter(|_| failed.is_none_or(|failed| at < failed));
            let reason = self.reason(&cause, at, call, policy);
            intervals.push(WaitInterval { from: at, to: None, cause, reason });
        }
    }
}

/// With what was being asked about as part of the interval before it, and what goes on after it as one.
fn merge_intervals(intervals: Vec<WaitInterval>) -> Vec<WaitInterval> {
    let mut merged: Vec<WaitInterval> = Vec::new();
    for interval in intervals {
        match merged.last_mut() {
            Some(last) if last.to == Some(interval.from) && continues(last, &interval) => {
                last.to = interval.to;
            }
            _ => merged.push(interval),
        }
    }
    merged
}

fn continues(last: &WaitInterval, next: &WaitInterval) -> bool {
    let same = match (&last.cause, &next.cause) {
        (_, WaitCause::Asked) => return true,
        (WaitCause::Key { key: a, .. }, WaitCause::Key { key: b, .. }) => a == b,
        (a, b) => a == b,
    };
    same && last.reason == next.reason
}
