//! Searches one kind of batch: every state it can come to, by every order of what may happen.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, OnceLock, PoisonError, atomic::Ordering},
};

use jp_policy_core::{
    batch::{CallId, Carried, End, ExecutionId, Instant, Stage},
    policy::{Arguments, Identity, OnFault, PolicyFactory},
    scheduler::{EventKind, Options, Scheduler},
};
use smallvec::SmallVec;
use stateright::{Checker as _, HasDiscoveries, Model, Property};

use super::{
    history::{self, Action, History, Step},
    invariants::Invariants,
    plan::Plan,
    progress::CheckProgress,
    purity::SharedPolicy,
    report::{CheckError, Refutation, not_configured},
    shapes::{self, BatchShape},
    violation::Violation,
};

/// Between two instants at which something happens.
const SECOND: Instant = 1_000_000_000;

/// Searches all batches of a kind. The refutation is the shortest history in which something goes wrong.
pub(super) fn search(
    factory: &Arc<dyn PolicyFactory>,
    plan: &Plan,
    shape: &BatchShape,
    progress: &Arc<CheckProgress>,
) -> Result<Option<Refutation>, CheckError> {
    let name = factory.identity().name.clone();
    let config = shapes::config(plan, &name, &shape.limits)?;
    let settings = config.settings();
    let fresh = {
        let (factory, settings) = (factory.clone(), settings.clone());
        Box::new(move || factory.instantiate(&settings, Arguments::default()))
    };
    let policy = match SharedPolicy::new(fresh) {
        Ok(policy) => policy,
        Err(refusal) => {
            let violation = not_configured(refusal, plan, &name)?;
            let scenario = history::scenario(&None, shape, config, 0);
            return Ok(Some(Refutation { violation, scenario, random: false, shown: false }));
        }
    };
    let options = Options { guard: config.release.guard, on_fault: OnFault::Default };
    let identity = Identity { name, digest: None };
    let scheduler =
        Scheduler::new(&settings, identity, Box::new(policy.clone()), options, Carried::default());
    let tools = shape.calls.iter().map(|key| {
        config
            .tool_index(&shapes::tool(*key))
            .expect("the configuration has the tools of its batches")
    });
    let search = Arc::new(Search {
        tools: tools.collect(),
        invariants: Invariants { rules: plan.rules, policy: policy.clone() },
        timed: shape.calls.len() <= plan.timed,
        policy,
        slept: Mutex::default(),
        found: Mutex::new(None),
        progress: progress.clone(),
    });
    let first = Position {
        timed: search.timed,
        scheduler,
        now: 0,
        decided: false,
        last: 0,
        live: SmallVec::new(),
        started: false,
        asked: false,
        restarted: false,
        wrong: false,
        before: None,
        step: None,
        history: OnceLock::new(),
    };
    let model = SearchModel { search: search.clone(), first: Mutex::new(first) };
    // One property: what makes a position wrong is kept beside, with the history that led there.
    let checker = model.checker().finish_when(HasDiscoveries::Any).spawn_bfs().join();
    progress.states.fetch_add(checker.unique_state_count(), Ordering::Relaxed);
    progress.steps.fetch_add(checker.state_count(), Ordering::Relaxed);
    progress.decisions.fetch_add(search.policy.decisions(), Ordering::Relaxed);
    drop(checker);
    let found = search.found.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok(found.map(|(violation, history)| {
        let until = violation.at().unwrap_or(0);
        let scenario = history::scenario(&history, shape, config, until);
        Refutation { violation, scenario, random: false, shown: false }
    }))
}

/// All batches of one kind.
struct Search {
    /// The tool of each call.
    tools: Vec<u32>,
    /// Whether times tell positions apart.
    timed: bool,
    policy: SharedPolicy,
    invariants: Invariants,
    /// Hashes of the positions from which it was tried whether the policy's wake-ups lead anywhere.
    slept: Mutex<HashSet<u64>>,
    /// What went wrong first.
    found: Mutex<Option<(Violation, History)>>,
    progress: Arc<CheckProgress>,
}

/// The search from the empty batch on.
struct SearchModel {
    search: Arc<Search>,
    /// Behind a lock, since a policy may be asked by one thread at a time only.
    first: Mutex<Position>,
}

/// Where a batch stands, and how it came there.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, not a step of one state"
)]
struct Position {
    /// Whether times tell it apart.
    timed: bool,
    scheduler: Scheduler,
    now: Instant,
    /// The policy was asked at this instant: what happens next happens later.
    decided: bool,
    /// The rank of what has happened last at this instant.
    last: u32,
    /// Executions that have not ended.
    live: SmallVec<[Live; 4]>,
    /// A call was released since the start or the restart.
    started: bool,
    /// A call has asked something, which happens once.
    asked: bool,
    /// It was restarted, which happens once.
    restarted: bool,
    wrong: bool,
    /// How it came to the position before this one.
    before: History,
    /// What came then: when, what, and the calls that were started by it.
    step: Option<(Instant, Action, Vec<CallId>)>,
    /// Both joined, made when it is first needed: most positions are known already, and need none.
    history: OnceLock<History>,
}

impl Model for SearchModel {
    type State = Position;
    type Action = Action;

    fn init_states(&self) -> Vec<Position> {
        vec![self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()]
    }

    fn actions(&self, position: &Position, actions: &mut Vec<Action>) {
        if !position.wrong && !self.search.progress.is_over() {
            position.actions(self.search.tools.len(), actions);
        }
    }

    fn next_state(&self, position: &Position, action: Action) -> Option<Position> {
        let mut next = position.clone();
        next.take(&self.search, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing goes wrong", |_, position: &Position| !position.wrong)]
    }
}

impl Search {
    /// Whether a policy that waits for its own wake-ups alone ever releases something, once for each kind of position.
    fn sleep(&self, scheduler: &Scheduler, now: Instant) -> Option<Violation> {
        if !Invariants::waits_for_itself(scheduler) {
            return None;
        }
        let mut state = DefaultHasher::new();
        scheduler.hash_state(now, false, &mut state);
        let mut slept = self.slept.lock().unwrap_or_else(PoisonError::into_inner);
        if !slept.insert(state.finish()) {
            return None;
        }
        let mut sleeper = scheduler.fork();
        sleeper.lend(Box::new(self.policy.clone()));
        for wakes in 1.. {
            let now = sleeper.poll_timeout()?;
            while let Some(question) = sleeper.poll_question(now) {
                sleeper.answer(now, question.ask());
            }
            while let Some(event) = sleeper.poll_event() {
                match event.kind {
                    EventKind::Released(..) => return None,
                    EventKind::Fault(fault) => return Some(Violation::Fault(fault)),
                    _ => {}
                }
            }
            if let Some(violation) = Invariants::starves(&sleeper, now, wakes) {
                return Some(violation);
            }
        }
        None
    }
}

/// Where an action stands among those of one instant. It is the order in which the simulator lets them happen: ends first, then
/// what becomes of each call in written order, then what is done to the batch.
fn rank(action: Action) -> u32 {
    match action {
        Action::Wake | Action::Decide => 0,
        Action::End { call, .. } | Action::Ask(call) | Action::Gone(call) => 1 + call,
        Action::Arrive(call) => 1_000 + 4 * call,
        Action::Approve(call) | Action::Reject(call) => 1_001 + 4 * call,
        Action::Answer(call) => 1_002 + 4 * call,
        Action::Cancel => u32::MAX - 1,
        Action::Restart => u32::MAX,
    }
}

impl Position {
    /// What may happen next in a batch of so many calls.
    fn actions(&self, calls: usize, actions: &mut Vec<Action>) {
        // Two or three for each call, and a few for the batch.
        actions.reserve(4 * calls + 4);
        let batch = self.scheduler.batch();
        let known = batch.calls().len();
        let waits = known < calls || batch.pending() + batch.parked() > 0;
        // What can't come to a question any more is the host's business alone.
        if self.scheduler.is_cancelled() || !waits && (self.restarted || batch.unsettled() == 0) {
            return;
        }
        for (id, call) in (0..).zip(batch.calls()) {
            match call.stage {
                Stage::Pending => {
                    actions.push(Action::Approve(id));
                    if !self.restarted {
                        actions.push(Action::Reject(id));
                    }
                }
                Stage::Running { execution, .. } if self.stops(execution) => {}
                Stage::Running { asking: true, .. } => actions.push(Action::Answer(id)),
                Stage::Running { asking: false, .. } => {
                    let end = |failed| Action::End { call: id, failed };
                    actions.extend([end(false), end(true)]);
                    if !self.asked {
                        actions.push(Action::Ask(id));
                    }
                }
                Stage::Parked | Stage::Ended { .. } | Stage::Settled => {}
            }
        }
        actions
            .extend(self.live.iter().filter(|live| live.stops).map(|live| Action::Gone(live.call)));
        if known < calls
            && let Ok(next) = CallId::try_from(known)
        {
            actions.push(Action::Arrive(next));
        }
        if batch.unsettled() > 0 && !self.scheduler.is_cancelled() {
            actions.push(Action::Cancel);
            if !self.restarted {
                actions.push(Action::Restart);
            }
        }
        if !self.decided {
            actions.retain(|action| rank(*action) > self.last);
            actions.push(Action::Decide);
        } else if self.scheduler.poll_timeout().is_some() {
            actions.push(Action::Wake);
        }
    }

    fn stops(&self, execution: ExecutionId) -> bool {
        self.live.iter().any(|live| live.stops && live.execution == execution)
    }

    /// Lets it happen.
    fn take(&mut self, search: &Search, action: Action) {
        match action {
            Action::Decide => {}
            Action::Wake => {
                self.now = self.scheduler.poll_timeout().unwrap_or(self.now);
            }
            _ if self.decided => self.now = self.later(),
            _ => {}
        }
        self.last = rank(action);
        let now = self.now;
        let mut effects = StepEffects::default();
        match action {
            Action::Arrive(call) => {
                self.scheduler.submit(now, search.tools[call as usize], call);
            }
            Action::Approve(call) => {
                self.scheduler.approve(now, call);
            }
            Action::Reject(call) => {
                self.scheduler.settle(now, call);
            }
            Action::End { call, failed } => {
                if let Some(execution) = self.execution(call) {
                    let end = if failed { End::Failed } else { End::Succeeded };
                    self.scheduler.end(now, execution, end);
                }
            }
            Action::Ask(call) | Action::Answer(call) => {
                let asks = matches!(action, Action::Ask(_));
                self.asked = true;
                if let Some(execution) = self.execution(call) {
                    self.scheduler.set_asking(now, execution, asks);
                }
            }
            Action::Gone(call) => {
                let stopped = self.live.iter().find(|live| live.stops && live.call == call);
                if let Some(Live { execution, .. }) = stopped.copied() {
                    self.scheduler.end(now, execution, End::Stopped);
                }
            }
            Action::Cancel => self.scheduler.cancel(now),
            Action::Restart => {
                self.restarted = true;
                self.started = false;
                self.scheduler.restart(now);
            }
            Action::Wake => {}
            Action::Decide => self.decide(search, &mut effects),
        }
        // At an instant at which nothing has happened that the policy is asked about, nothing else has to.
        self.decided = action == Action::Decide || !self.scheduler.is_due();
        self.drain(&mut effects);
        let StepEffects { released, violation } = effects;
        self.step = Some((now, action, released));
        if let Some(violation) = violation {
            self.wrong = true;
            let mut found = search.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.get_or_insert_with(|| (violation, self.history()));
        }
    }

    /// How it came about.
    fn history(&self) -> History {
        let join = || match &self.step {
            None => self.before.clone(),
            Some((at, action, released)) => Some(Arc::new(Step {
                at: *at,
                action: *action,
                released: released.clone(),
                before: self.before.clone(),
            })),
        };
        self.history.get_or_init(join).clone()
    }

    /// The next instant at which something can happen: before any wake-up, so that it can come in between.
    fn later(&self) -> Instant {
        let step = match self.scheduler.poll_timeout() {
            Some(at) if at.saturating_sub(self.now) <= SECOND => {
                (at.saturating_sub(self.now) / 2).max(1)
            }
            _ => SECOND,
        };
        self.now.saturating_add(step)
    }

    fn execution(&self, call: CallId) -> Option<ExecutionId> {
        match self.scheduler.batch().get(call)?.stage {
            Stage::Running { execution, .. } => Some(execution),
            _ => None,
        }
    }

    fn decide(&mut self, search: &Search, effects: &mut StepEffects) {
        let now = self.now;
        self.scheduler.lend(Box::new(search.policy.clone()));
        while let Some(question) = self.scheduler.poll_question(now) {
            self.scheduler.answer(now, question.ask());
            self.drain(effects);
        }
        if effects.violation.is_none() {
            effects.violation = search
                .invariants
                .judge(&self.scheduler, now)
                .or_else(|| search.sleep(&self.scheduler, now));
        }
    }

    /// Does what the scheduler's events say; a result needs no review.
    fn drain(&mut self, effects: &mut StepEffects) {
        while let Some(event) = self.scheduler.poll_event() {
            match event.kind {
                EventKind::Released(call, execution) => {
                    if !self.started && self.scheduler.batch().pending() > 0 {
                        effects.violation = Some(Violation::Barrier { at: event.at, call });
                    }
                    self.started = true;
                    // In the order of the calls, so that the order of their starts tells no positions apart.
                    let place = self.live.partition_point(|live| live.call <= call);
                    self.live.insert(place, Live { execution, call, stops: false });
                    effects.released.push(call);
                }
                EventKind::Stop(execution) => {
                    let stopped = self.live.iter_mut().find(|live| live.execution == execution);
                    if let Some(live) = stopped {
                        live.stops = true;
                    }
                }
                EventKind::Ended(call, execution, _) => {
                    self.live.retain(|live| live.execution != execution);
                    if let Some(call) = call {
                        self.scheduler.respond(self.now, call);
                    }
                }
                EventKind::Fault(fault) => effects.violation = Some(Violation::Fault(fault)),
                _ => {}
            }
        }
    }
}

/// What came of an action.
#[derive(Default)]
struct StepEffects {
    released: Vec<CallId>,
    violation: Option<Violation>,
}

/// An execution that has not ended.
#[derive(Debug, Clone, Copy)]
struct Live {
    execution: ExecutionId,
    call: CallId,
    /// It was told to stop.
    stops: bool,
}

impl Clone for Position {
    fn clone(&self) -> Self {
        Self {
            scheduler: self.scheduler.fork(),
            live: SmallVec::from_slice(&self.live),
            before: self.history(),
            step: None,
            history: OnceLock::new(),
            ..*self
        }
    }
}

/// Two positions are one if they go on alike, however they came about.
impl Hash for Position {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.scheduler.hash_state(self.now, self.timed, state);
        (self.decided, self.started, self.asked, self.restarted, self.wrong).hash(state);
        if !self.decided {
            self.last.hash(state);
        }
        for live in &self.live {
            (live.call, live.stops).hash(state);
        }
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        let hash = |position: &Self| {
            let mut state = DefaultHasher::new();
            position.hash(&mut state);
            state.finish()
        };
        hash(self) == hash(other)
    }
}
