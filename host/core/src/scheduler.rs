//! The scheduler: joins the batch and the policy. No I/O, no clock, no task.
//!
//! It is driven like this, by the live program, the simulator and the checker alike:
//!
//! 1. Tell it what happened: [`submit`](Scheduler::submit), [`approve`](Scheduler::approve), [`settle`](Scheduler::settle),
//!    [`end`](Scheduler::end), [`cancel`](Scheduler::cancel), ... each with the time, `now`.
//! 2. While [`poll_question`](Scheduler::poll_question) gives a [`PolicyQuestion`], ask it ([`PolicyQuestion::ask`], here or on another
//!    thread) and hand the [`PolicyAnswer`] to [`answer`](Scheduler::answer). Things may happen in between.
//! 3. Drain [`poll_event`](Scheduler::poll_event) and do what the events say: start executions, stop them, write responses.
//! 4. Wait for the next thing to happen, at most until [`poll_timeout`](Scheduler::poll_timeout), and go back to 1. Extra
//!    wake-ups do nothing.
//!
//! What has happened together may be told together: one decision answers it all.

mod question;
mod search;

use std::{collections::VecDeque, sync::Arc};

use jp_policy_guest::{self as contract, Decision, Settings, View, rules};

use crate::{
    batch::{Batch, CallId, Carried, End, ExecutionId, Instant, KeyIndex, Stage, ToolIndex},
    policy::{Fault, FaultKind, Guard, Identity, OnFault, Policy, guard},
};

pub use question::{PolicyAnswer, PolicyQuestion};

/// A wake-up nearer than this counts as this: the clocks that drive the scheduler are no finer.
pub const MIN_WAKE: Instant = 1_000_000;

/// How many wake-ups in a row, each sooner than [`MIN_WAKE`] and each without a release, are a spin. A policy has no use for
/// one of them; a hundred are no accident.
pub const SPIN_WAKES: u32 = 100;

/// How many ids a report of a stall lists.
const STALL_IDS: usize = 32;

/// What has to be done, or is worth knowing, and when it came to be.
#[derive(Debug, Clone)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// What.
    pub kind: EventKind,
}

/// What has to be done, or is worth knowing.
#[derive(Debug, Clone)]
pub enum EventKind {
    /// A call came in; it is pending.
    Submitted(CallId),
    /// A call was approved; it is parked.
    Parked(CallId),
    /// To do: start this execution of the call.
    Released(CallId, ExecutionId),
    /// A running call asks a person something; its slot stays.
    Asked(CallId),
    /// It has its answer and goes on.
    Answered(CallId),
    /// An execution ended; its slot is free. The call is none if the execution was from before a restart or of an earlier
    /// batch. To do, if there is one: review the result where the tool wants that, then [`Scheduler::respond`].
    Ended(Option<CallId>, ExecutionId, End),
    /// A call has its response. To do, for a call that was cancelled or hit by a fault: write it.
    Settled(CallId, Settlement),
    /// To do: stop this execution, and tell [`Scheduler::end`] when it is really gone.
    Stop(ExecutionId),
    /// The batch was cancelled.
    Cancelled,
    /// A call is prepared again after a restart; it is pending. To do: approve it again.
    Restarted(CallId),
    /// The policy was asked and has answered.
    Decided(Box<Decided>),
    /// The policy did something that can't be accepted, and is out.
    Fault(Box<Fault>),
}

/// What the policy answered. [`EventKind`] has it in a box, so that the events of calls, of which there are many at once, stay
/// small.
#[derive(Debug, Clone)]
pub struct Decided {
    /// How many calls the policy was shown.
    pub shown: usize,
    /// Which it released, in written order.
    pub released: Vec<CallId>,
    /// When it wants to be asked again.
    pub wake_at: Option<Instant>,
}

/// How a call came to its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It ran, and its result or failure is the response.
    Responded,
    /// It was not run: rejected, skipped, unavailable, or its arguments can't be read.
    NotRun,
    /// It was cancelled before it ran.
    Cancelled,
    /// It was parked when the policy failed, and `on_fault` is `settle`.
    PolicyFault,
}

/// Why a waiting call waits, by key, limit and holders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    /// For its own approval.
    Approval,
    /// For the approval of others: nothing starts before every call of the batch is decided.
    Barrier {
        /// How many are undecided.
        pending: usize,
    },
    /// For a slot of its key, or its turn.
    Key {
        /// The key.
        key: KeyIndex,
        /// How many calls of the key wait before it.
        ahead: usize,
    },
    /// For the policy.
    Policy,
}

/// How a scheduler treats its policy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// What the host checks of a decision.
    pub guard: Guard,
    /// What follows a fault.
    pub on_fault: OnFault,
}

/// Who decides.
enum Decider {
    /// The policy; it is away while a question is open.
    Policy(Option<Box<dyn Policy>>),
    /// The default rules, after a fault.
    Rules,
    /// Nobody: what is parked is settled, after a fault.
    Nobody,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, not a step of one state"
)]
/// One batch and its policy. See the module's documentation for how it is driven.
pub struct Scheduler {
    batch: Batch,
    decider: Decider,
    identity: Arc<Identity>,
    options: Options,
    events: VecDeque<Event>,
    /// Something happened since the last question that could let a call start.
    due: bool,
    /// The last question is asked again only because it wanted to be.
    woken: bool,
    wake_at: Option<Instant>,
    spins: u32,
    /// A call of this run of the batch was released: the barrier is down.
    started: bool,
    /// More calls are being written; nothing starts before they are here.
    open: bool,
    cancelled: bool,
}

impl Scheduler {
    /// A scheduler for one batch, empty yet. `carried` is what earlier batches left in flight.
    pub fn new(
        settings: &Settings,
        identity: Identity,
        policy: Box<dyn Policy>,
        options: Options,
        carried: Carried,
    ) -> Self {
        Self {
            batch: Batch::new(settings, carried),
            decider: Decider::Policy(Some(policy)),
            identity: Arc::new(identity),
            options,
            events: VecDeque::new(),
            due: false,
            woken: false,
            wake_at: None,
            spins: 0,
            started: false,
            open: false,
            cancelled: false,
        }
    }

    /// The calls and where they stand.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The policy that decides, or did until its fault.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How it treats its policy.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Whether every call has its response. Executions may still be in flight: see [`into_carried`](Self::into_carried).
    pub fn is_settled(&self) -> bool {
        self.batch.unsettled() == 0
    }

    /// Whether the batch was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// What is still in flight, for the next batch's [`new`](Self::new).
    pub fn into_carried(self) -> Carried {
        self.batch.into_carried()
    }

    /// Says whether more calls are being written. While they are, nothing starts.
    pub fn set_open(&mut self, open: bool) {
        self.open = open;
        self.due = true;
    }

    /// Makes room for so many more calls.
    pub fn reserve(&mut self, more: usize) {
        self.batch.reserve(more);
        // Each is submitted and approved before the first question.
        self.events.reserve(2 * more);
    }

    /// Adds a call at the end of the written order; it is pending. `parent` is the place of its tool call among the tool calls:
    /// the operations of a fanned-out call share it. After a cancel the call is settled at once.
    pub fn submit(&mut self, now: Instant, tool: ToolIndex, parent: u32) -> CallId {
        let call = self.batch.add(now, tool, parent);
        self.emit(now, EventKind::Submitted(call));
        if self.cancelled {
            self.settle_as(now, call, Settlement::Cancelled);
        }
        call
    }

    /// Adds a call that has its response already, from before the program was started: it is settled, and keeps its place.
    pub fn submit_answered(&mut self, now: Instant, tool: ToolIndex, parent: u32) -> CallId {
        let call = self.batch.add(now, tool, parent);
        self.emit(now, EventKind::Submitted(call));
        self.settle_as(now, call, Settlement::Responded);
        call
    }

    /// A pending call is approved. `false`: it was not pending.
    pub fn approve(&mut self, now: Instant, call: CallId) -> bool {
        let parked = self.batch.park(now, call);
        if parked {
            self.emit(now, EventKind::Parked(call));
            self.happened();
            if matches!(self.decider, Decider::Nobody) {
                self.settle_as(now, call, Settlement::PolicyFault);
            }
        }
        parked
    }

    /// A pending or parked call gets its response without having run. `false`: it runs, or has run.
    pub fn settle(&mut self, now: Instant, call: CallId) -> bool {
        let waits = self
            .batch
            .get(call)
            .is_some_and(|call| matches!(call.stage, Stage::Pending | Stage::Parked));
        waits && self.settle_as(now, call, Settlement::NotRun)
    }

    /// A running call asks a person something, or has its answer. The slot stays.
    pub fn set_asking(&mut self, now: Instant, execution: ExecutionId, asking: bool) {
        if let Some(call) = self.batch.set_asking(now, execution, asking) {
            self.emit(now, if asking { EventKind::Asked(call) } else { EventKind::Answered(call) });
        }
    }

    /// An execution has ended: its slot is free. A second notice of the same end does nothing.
    pub fn end(&mut self, now: Instant, execution: ExecutionId, end: End) {
        if let Some(call) = self.batch.end(now, execution, end) {
            self.emit(now, EventKind::Ended(call, execution, end));
            self.happened();
        }
    }

    /// A call that has ended has its response, after any review. `false`: it has not ended, or had it already.
    pub fn respond(&mut self, now: Instant, call: CallId) -> bool {
        let ended =
            self.batch.get(call).is_some_and(|call| matches!(call.stage, Stage::Ended { .. }));
        let settled = ended && self.batch.settle(now, call);
        if settled {
            self.emit(now, EventKind::Settled(call, Settlement::Responded));
        }
        settled
    }

    /// Cancels: pending and parked calls are settled at once, running ones are to be stopped. What has ended keeps its result.
    pub fn cancel(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.cancelled, true) {
            self.emit(now, EventKind::Cancelled);
        }
        self.wake_at = None;
        for call in self.calls() {
            self.withdraw(now, call);
        }
    }

    /// Cancels one call: it is settled at once, or, if it runs, to be stopped. What has ended keeps its result.
    pub fn withdraw(&mut self, now: Instant, call: CallId) {
        match self.batch.get(call).map(|call| call.stage) {
            Some(Stage::Pending | Stage::Parked) => {
                self.settle_as(now, call, Settlement::Cancelled);
            }
            Some(Stage::Running { execution, .. }) => {
                self.emit(now, EventKind::Stop(execution));
            }
            _ => {}
        }
    }

    /// Prepares every call without a response again: it is pending and is released in written order once more. Running
    /// executions are to be stopped and hold their slots until they are gone.
    pub fn restart(&mut self, now: Instant) {
        if self.cancelled {
            return;
        }
        self.started = false;
        self.wake_at = None;
        self.happened();
        for call in self.calls() {
            let stage = self.batch.get(call).map(|call| call.stage);
            if matches!(stage, None | Some(Stage::Settled)) {
                continue;
            }
            if let Some(execution) = self.batch.reset(now, call) {
                self.emit(now, EventKind::Stop(execution));
            }
            self.emit(now, EventKind::Restarted(call));
        }
    }

    /// The next question for the policy, if there is one now.
    ///
    /// There is none while another is open, while the barrier holds, and while no call that the policy would see is parked.
    pub fn poll_question(&mut self, now: Instant) -> Option<PolicyQuestion> {
        if self.wake_at.is_some_and(|at| at <= now) {
            self.wake_at = None;
            self.woken = !self.due;
            self.due = true;
        }
        while self.due && !self.holds() {
            match &mut self.decider {
                Decider::Policy(policy) => {
                    let policy = policy.take()?;
                    let batch = self.batch.view(now, policy.view());
                    self.due = false;
                    if batch.calls.iter().any(|call| call.state == contract::State::Parked) {
                        return Some(PolicyQuestion {
                            policy,
                            batch,
                            revision: self.batch.revision(),
                        });
                    }
                    self.decider = Decider::Policy(Some(policy));
                }
                Decider::Rules => {
                    self.due = false;
                    let view = self.batch.view(now, View::Front);
                    let released = rules::release(self.batch.limits(), &view);
                    self.release(now, &released);
                }
                Decider::Nobody => self.due = false,
            }
        }
        None
    }

    /// Takes the answer to the open question.
    pub fn answer(&mut self, now: Instant, answer: PolicyAnswer) {
        let PolicyAnswer { policy, batch, revision, result } = answer;
        let decision = match result {
            Ok(decision) => decision,
            Err(kind) => {
                let policy = (*self.identity).clone();
                return self
                    .fault(now, Fault { kind, policy, at: now, question: batch, answer: None });
            }
        };
        let checked = guard::check(&decision, &self.batch, revision, self.options.guard);
        let checked = checked.and_then(|released| {
            let wake_at = self.admit(now, &released, &decision, revision)?;
            Ok((released, wake_at))
        });
        match checked {
            Ok((released, wake_at)) => {
                let shown = batch.calls.len();
                let decided = Decided { shown, released: released.clone(), wake_at };
                self.emit(now, EventKind::Decided(Box::new(decided)));
                self.decider = Decider::Policy(Some(policy));
                self.wake_at = wake_at;
                self.release(now, &released);
            }
            // The policy goes with its instance: after a fault it is never entered again.
            Err(kind) => {
                let policy = (*self.identity).clone();
                self.fault(
                    now,
                    Fault { kind, policy, at: now, question: batch, answer: Some(decision) },
                );
            }
        }
    }

    /// What has to be done, or is worth knowing, in the order it came to be.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether there are events that nobody has taken.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// When to call [`poll_question`](Self::poll_question) again even if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.wake_at
    }

    /// Why a call waits; none if it does not.
    pub fn why(&self, call: CallId) -> Option<Waiting> {
        why(&self.batch, self.holds(), call)
    }

    /// Why a parked call waits, in the policy's own words, if it has any: none too while a question is open and after a fault.
    pub fn reason(&mut self, now: Instant, call: CallId) -> Option<String> {
        let Decider::Policy(Some(policy)) = &mut self.decider else {
            return None;
        };
        policy.explain(&self.batch.view(now, policy.view()), call)
    }

    /// Whether the barrier holds: nothing of this batch runs yet, and a call of it is undecided or still being written.
    fn holds(&self) -> bool {
        self.open || (!self.started && self.batch.pending() > 0)
    }

    /// A decision that passed the guard: looks for what only time shows, stalls and spins.
    fn admit(
        &mut self,
        now: Instant,
        released: &[CallId],
        decision: &Decision,
        revision: u64,
    ) -> Result<Option<Instant>, FaultKind> {
        let idle = released.is_empty() && self.batch.revision() == revision;
        // Not `at < now + MIN_WAKE`, which is never so at the end of time.
        let soon = decision.wake_at.is_some_and(|at| at.saturating_sub(now) < MIN_WAKE);
        if !idle || !soon {
            self.spins = 0;
        } else if self.woken {
            self.spins += 1;
            if self.spins >= SPIN_WAKES {
                return Err(FaultKind::Spin { wakes: self.spins });
            }
        }
        self.woken = false;
        let nobody = self.batch.in_flight() == 0 && self.batch.pending() == 0;
        if idle && nobody && decision.wake_at.is_none() && self.batch.parked() > 0 {
            let parked = self.parked().into_iter().take(STALL_IDS).collect();
            return Err(FaultKind::Stall { parked });
        }
        let wake_at = decision.wake_at.map(|at| at.max(now.saturating_add(MIN_WAKE)));
        Ok(wake_at.filter(|_| !self.cancelled))
    }

    fn fault(&mut self, now: Instant, fault: Fault) {
        self.emit(now, EventKind::Fault(Box::new(fault)));
        self.wake_at = None;
        match self.options.on_fault {
            OnFault::Default => {
                self.decider = Decider::Rules;
                self.due = true;
            }
            OnFault::Settle => {
                self.decider = Decider::Nobody;
                for call in self.parked() {
                    self.settle_as(now, call, Settlement::PolicyFault);
                }
            }
        }
    }

    fn release(&mut self, now: Instant, calls: &[CallId]) {
        for &call in calls {
            if let Some(execution) = self.batch.release(now, call) {
                self.started = true;
                self.emit(now, EventKind::Released(call, execution));
            }
        }
    }

    fn settle_as(&mut self, now: Instant, call: CallId, settlement: Settlement) -> bool {
        let settled = self.batch.settle(now, call);
        if settled {
            self.emit(now, EventKind::Settled(call, settlement));
            self.happened();
        }
        settled
    }

    fn happened(&mut self) {
        self.due = true;
    }

    fn calls(&self) -> std::ops::Range<CallId> {
        0..CallId::try_from(self.batch.calls().len()).unwrap_or(CallId::MAX)
    }

    fn parked(&self) -> Vec<CallId> {
        let parked =
            |call: &CallId| self.batch.get(*call).is_some_and(|call| call.stage == Stage::Parked);
        self.calls().filter(parked).collect()
    }

    fn emit(&mut self, at: Instant, kind: EventKind) {
        self.events.push_back(Event { at, kind });
    }
}

/// Why a call of a batch waits; `holds`: whether the barrier does.
pub fn why(batch: &Batch, holds: bool, call: CallId) -> Option<Waiting> {
    let known = batch.get(call)?;
    match (known.stage, known.key) {
        (Stage::Pending, _) => Some(Waiting::Approval),
        (Stage::Parked, _) if holds => Some(Waiting::Barrier { pending: batch.pending() }),
        (Stage::Parked, Some(key)) => {
            let ahead = batch.waiting(key).take_while(|earlier| *earlier < call).count();
            let full = batch.running(key) >= batch.limit(key) as usize;
            Some(if full || ahead > 0 { Waiting::Key { key, ahead } } else { Waiting::Policy })
        }
        (Stage::Parked, None) => Some(Waiting::Policy),
        _ => None,
    }
}

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;
