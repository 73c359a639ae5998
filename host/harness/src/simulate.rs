//! Lets the scheduler live through a scenario in virtual time.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet},
    ops::ControlFlow,
};

use jp_policy_config::ConfigError;
use jp_policy_core::{
    batch::{CallId, Carried, End, ExecutionId, Instant, Stage},
    policy::{Arguments, Blueprint, Refusal},
    record::Record,
    scheduler::{Answer, Event, EventKind, Options, Scheduler},
    terms::OnError,
};
use jp_policy_report::Decisions;

use super::scenario::{Behaviour, PersonEvent, Scenario, ScenarioEvent};

/// How many steps a simulation may take beyond ten a call: what needs more does not come to an end.
const STEPS: usize = 100_000;

/// What came of a scenario.
pub struct Simulation {
    /// What happened.
    pub record: Record,
    /// Where the batch stands at the end.
    pub scheduler: Scheduler,
}

/// Looks on while a policy is asked.
pub trait Observer {
    /// The policy has answered, and the scheduler has not taken the answer in yet.
    fn answered(&mut self, now: Instant, answer: &Answer) {
        let _ = (now, answer);
    }

    /// Something happened.
    fn event(&mut self, event: &Event) {
        let _ = event;
    }

    /// The scheduler has taken the answer in: what it released runs, or the policy is at fault. The simulation ends here if it
    /// is told to.
    fn decided(&mut self, now: Instant, scheduler: &Scheduler) -> ControlFlow<()> {
        let _ = (now, scheduler);
        ControlFlow::Continue(())
    }
}

impl Observer for Decisions {
    fn answered(&mut self, now: Instant, answer: &Answer) {
        self.note(now, answer);
    }
}

/// How a scenario is lived through.
#[derive(Default)]
pub struct Setup<'a> {
    /// Stop there, with all that happens at this instant done; none: at the end.
    pub until: Option<Instant>,
    /// Who looks on.
    pub observer: Option<&'a mut dyn Observer>,
    /// Shuffles what happens at one instant, and whether the policy is asked in between or once for all of it: the same seed
    /// gives the same order. Causality stays: calls arrive in written order, a call before anything is decided about it, all
    /// that arrive at the instant before the batch is complete and before the policy is asked. None: ends come first, then
    /// everything else as it was planned, and the policy is asked once.
    pub seed: Option<u64>,
}

/// Why a scenario could not be lived through.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// Its configuration does not hold.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The policy does not serve it.
    #[error("policy \"{policy}\" does not serve the batch: {refusal}")]
    Refused {
        /// Which.
        policy: String,
        /// Why.
        refusal: Refusal,
    },
    /// It does not come to an end.
    #[error("the simulation does not come to an end: stopped at {at} ns")]
    Endless {
        /// Where it was.
        at: Instant,
    },
}

/// What happens at an instant. At one instant, ends come before all else, and things come in the order they were planned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Planned {
    /// A phase of a run is over.
    PhaseOver(CallId, ExecutionId, usize),
    Gone(ExecutionId),
    Reviewed(CallId),
    Answered(CallId),
    Arrives(CallId),
    Approved(CallId),
    NotRun(CallId),
    Complete,
    EndAgain(CallId),
    Cancel,
    Restart,
}

impl Planned {
    /// The call that arrives, if it is that.
    fn arrives(&self) -> Option<CallId> {
        match self {
            Self::Arrives(id) => Some(*id),
            _ => None,
        }
    }

    /// Whether it can't happen before this call and those written after it have arrived.
    fn follows(&self, arriving: CallId) -> bool {
        match self {
            Self::Approved(call) | Self::NotRun(call) | Self::Answered(call) => *call >= arriving,
            Self::Complete => true,
            _ => false,
        }
    }
}

/// Lives through the scenario under a policy.
pub fn simulate(
    scenario: &Scenario,
    blueprint: &dyn Blueprint,
) -> Result<Simulation, SimulateError> {
    simulate_with(scenario, blueprint, Setup::default())
}

/// The same, with somebody who looks on, or only a part of it.
pub fn simulate_with(
    scenario: &Scenario,
    blueprint: &dyn Blueprint,
    setup: Setup<'_>,
) -> Result<Simulation, SimulateError> {
    let config = scenario.config.as_ref().map_err(Clone::clone)?;
    let settings = config.settings();
    let arguments = Arguments::default();
    let policy =
        blueprint.instantiate(&settings, arguments.clone()).map_err(|refusal| match refusal {
            Refusal::Settings(problems) => SimulateError::Config(ConfigError(
                config.refused(&blueprint.identity().name, &problems),
            )),
            refusal => {
                SimulateError::Refused { policy: blueprint.identity().name.clone(), refusal }
            }
        })?;
    let options = Options { guard: config.release.guard, on_fault: config.release.on_fault };
    let carried = Carried::of(scenario.earlier.iter().map(|earlier| Some(earlier.key.clone())));
    let earlier: Vec<ExecutionId> = carried.executions().collect();
    let mut scheduler =
        Scheduler::new(&settings, blueprint.identity().clone(), policy, options, carried);
    if scenario.complete.is_some() {
        scheduler.set_open(true);
    }
    let tools =
        scenario.calls.iter().map(|call| config.tool_index(&call.tool).unwrap_or(0)).collect();
    let stops = scenario.calls.iter().map(|call| {
        let fan_out = config.tools.get(&call.tool).and_then(|tool| tool.fan_out.as_ref());
        fan_out.is_some_and(|fan_out| fan_out.on_error == OnError::Stop)
    });
    let mut world = World {
        scenario,
        shuffle: setup.seed.map(fastrand::Rng::with_seed),
        setup,
        stops: stops.collect(),
        tools,
        record: Record::new(&settings),
        scheduler,
        arguments,
        queue: BinaryHeap::new(),
        sequence: 0,
        asking: HashMap::new(),
        over: false,
        runs: HashMap::new(),
        asked: HashMap::new(),
        last_run: HashMap::new(),
        stopped: HashSet::new(),
        failed_parents: HashSet::new(),
        keys: settings.tools.iter().map(|tool| tool.key).collect(),
    };
    for (execution, spec) in earlier.into_iter().zip(&scenario.earlier) {
        world.plan(spec.gone, Planned::Gone(execution));
    }
    world.plan_scenario();
    world.run()?;
    Ok(Simulation { record: world.record, scheduler: world.scheduler })
}

struct World<'a, 'o> {
    scenario: &'a Scenario,
    setup: Setup<'o>,
    shuffle: Option<fastrand::Rng>,
    stops: Vec<bool>,
    tools: Vec<u32>,
    keys: Vec<Option<u32>>,
    record: Record,
    scheduler: Scheduler,
    arguments: Arguments,
    queue: BinaryHeap<Reverse<(Instant, bool, u64, Planned)>>,
    sequence: u64,
    /// The phase that each asking run goes on with.
    asking: HashMap<CallId, (ExecutionId, usize)>,
    /// The call of each run, and its number among the runs of its call.
    runs: HashMap<ExecutionId, (CallId, usize)>,
    last_run: HashMap<CallId, (ExecutionId, usize)>,
    /// Whoever looks on has seen enough.
    over: bool,
    /// How many questions each call has asked.
    asked: HashMap<CallId, usize>,
    stopped: HashSet<ExecutionId>,
    /// Tool calls of which an operation has failed: the server's gate.
    failed_parents: HashSet<u32>,
}

impl World<'_, '_> {
    fn plan(&mut self, at: Instant, planned: Planned) {
        self.sequence += 1;
        let late = !matches!(planned, Planned::PhaseOver(..) | Planned::Gone(_));
        self.queue.push(Reverse((at, late, self.sequence, planned)));
    }

    fn plan_scenario(&mut self) {
        for (id, call) in (0..).zip(&self.scenario.calls) {
            self.plan(call.arrives, Planned::Arrives(id));
            match &call.decision {
                PersonEvent::Approved(times) => {
                    for at in times {
                        self.plan(*at, Planned::Approved(id));
                    }
                }
                PersonEvent::NotRun(at) => self.plan(*at, Planned::NotRun(id)),
                PersonEvent::Never => {}
            }
            for at in &call.answered {
                self.plan(*at, Planned::Answered(id));
            }
        }
        if let Some(at) = self.scenario.complete {
            self.plan(at, Planned::Complete);
        }
        for event in &self.scenario.events {
            match event {
                ScenarioEvent::Cancel(at) => self.plan(*at, Planned::Cancel),
                ScenarioEvent::Restart(at) => self.plan(*at, Planned::Restart),
                ScenarioEvent::EndAgain(at, label) => {
                    let call = self.scenario.calls.iter().position(|call| call.label == *label);
                    if let Some(call) = call.and_then(|call| CallId::try_from(call).ok()) {
                        self.plan(*at, Planned::EndAgain(call));
                    }
                }
            }
        }
    }

    fn run(&mut self) -> Result<(), SimulateError> {
        let mut now = 0;
        for _ in 0..STEPS + 10 * self.scenario.calls.len() {
            match self.shuffle.take() {
                Some(mut rng) => {
                    self.happen_shuffled(now, &mut rng);
                    self.shuffle = Some(rng);
                }
                None => {
                    while let Some(planned) = self.due(now) {
                        self.happen(now, &planned);
                    }
                }
            }
            self.ask(now);
            if self.over {
                return Ok(());
            }
            let planned = self.queue.peek().map(|Reverse((at, ..))| *at);
            match planned.into_iter().chain(self.scheduler.poll_timeout()).min() {
                Some(next) if self.setup.until.is_none_or(|until| next <= until) => {
                    now = next.max(now);
                }
                _ => return Ok(()),
            }
        }
        Err(SimulateError::Endless { at: now })
    }

    /// Takes the next thing that happens now out of the queue.
    fn due(&mut self, now: Instant) -> Option<Planned> {
        let due = self.queue.peek().is_some_and(|Reverse((at, ..))| *at <= now);
        let Reverse((.., planned)) = due.then(|| self.queue.pop())??;
        Some(planned)
    }

    /// Lets everything happen that happens now, in an order of chance.
    fn happen_shuffled(&mut self, now: Instant, rng: &mut fastrand::Rng) {
        loop {
            let mut due: Vec<Planned> = std::iter::from_fn(|| self.due(now)).collect();
            if due.is_empty() {
                return;
            }
            rng.shuffle(&mut due);
            // Arrivals take the places of arrivals, in written order; what follows from one comes after all of them.
            let mut arriving: Vec<CallId> = due.iter().filter_map(Planned::arrives).collect();
            arriving.sort_unstable_by_key(|id| Reverse(*id));
            let (mut first, mut then) = (Vec::new(), Vec::new());
            let earliest = arriving.last().copied();
            for planned in due {
                match planned {
                    Planned::Arrives(_) => first.extend(arriving.pop().map(Planned::Arrives)),
                    planned if earliest.is_some_and(|id| planned.follows(id)) => then.push(planned),
                    planned => first.push(planned),
                }
            }
            let all = first.iter().chain(&then);
            let mut arriving = first.iter().filter_map(Planned::arrives).count();
            for planned in all {
                self.happen(now, planned);
                arriving -= usize::from(planned.arrives().is_some());
                if arriving == 0 && rng.bool() {
                    self.ask(now);
                }
            }
        }
    }

    /// Asks the policy for as long as there is a question, and does what it brings about.
    fn ask(&mut self, now: Instant) {
        self.drain(now);
        while !self.over
            && let Some(question) = self.scheduler.poll_question(now)
        {
            let answer = question.ask();
            if let Some(observer) = &mut self.setup.observer {
                observer.answered(now, &answer);
            }
            self.scheduler.answer(now, answer);
            if let Some(observer) = &mut self.setup.observer {
                self.over = observer.decided(now, &self.scheduler).is_break();
            }
            // What a release brings about at the same instant may bring the next question about.
            self.drain(now);
        }
        self.drain(now);
    }

    fn happen(&mut self, now: Instant, planned: &Planned) {
        match *planned {
            Planned::Arrives(id) => {
                let call = &self.scenario.calls[id as usize];
                let tool = self.tools[id as usize];
                self.record.announce(
                    &call.label,
                    tool,
                    self.keys.get(tool as usize).copied().flatten(),
                    call.parent,
                );
                self.arguments.push_text(&call.arguments);
                self.scheduler.submit(now, tool, call.parent);
            }
            Planned::Approved(call) => {
                self.scheduler.approve(now, call);
            }
            Planned::NotRun(call) => {
                self.scheduler.settle(now, call);
            }
            Planned::Complete => self.scheduler.set_open(false),
            Planned::PhaseOver(call, execution, phase) => {
                self.phase_over(now, call, execution, phase);
            }
            Planned::Answered(call) => {
                if let Some((execution, phase)) = self.asking.remove(&call) {
                    self.scheduler.set_asking(now, execution, false);
                    self.start_phase(now, call, execution, phase);
                }
            }
            Planned::Gone(execution) => self.scheduler.end(now, execution, End::Stopped),
            Planned::Reviewed(call) => {
                self.scheduler.respond(now, call);
            }
            Planned::EndAgain(call) => {
                if let Some((execution, _)) = self.last_run.get(&call) {
                    self.scheduler.end(now, *execution, End::Succeeded);
                }
            }
            Planned::Cancel => {
                self.scheduler.cancel(now);
                // Results that were under review are kept as they are.
                for call in (0..).take(self.scheduler.batch().calls().len()) {
                    self.scheduler.respond(now, call);
                }
            }
            Planned::Restart => self.scheduler.restart(now),
        }
        self.drain(now);
    }

    fn phase_over(&mut self, now: Instant, call: CallId, execution: ExecutionId, phase: usize) {
        if self.stopped.contains(&execution) {
            // It is gone when it is gone.
            return;
        }
        let behaviour = self.behaviour(execution);
        let asks = behaviour.and_then(|does| does.phases.get(phase)).is_some_and(|it| it.asks);
        let fails = behaviour.is_some_and(|does| does.fails);
        if asks {
            self.scheduler.set_asking(now, execution, true);
            self.asking.insert(call, (execution, phase + 1));
            let asked = self.asked.entry(call).or_default();
            let answered = self.scenario.calls[call as usize].answered_after.get(*asked);
            *asked += 1;
            if let Some(after) = answered {
                self.plan(now.saturating_add(*after), Planned::Answered(call));
            }
            return;
        }
        if fails {
            self.failed_parents.insert(self.scenario.calls[call as usize].parent);
        }
        self.scheduler.end(now, execution, if fails { End::Failed } else { End::Succeeded });
    }

    fn start_phase(&mut self, now: Instant, call: CallId, execution: ExecutionId, phase: usize) {
        let behaviour = self.behaviour(execution);
        let takes = behaviour.and_then(|does| does.phases.get(phase)).map_or(0, |it| it.takes);
        self.plan(now.saturating_add(takes), Planned::PhaseOver(call, execution, phase));
    }

    fn behaviour(&self, execution: ExecutionId) -> Option<&Behaviour> {
        let (call, run) = *self.runs.get(&execution)?;
        self.scenario.calls[call as usize].behaviour(run)
    }

    /// Does what the scheduler's events say.
    fn drain(&mut self, now: Instant) {
        while let Some(event) = self.scheduler.poll_event() {
            self.record.observe(&event);
            if let Some(observer) = &mut self.setup.observer {
                observer.event(&event);
            }
            match event.kind {
                EventKind::Released(call, execution) => {
                    let run = self.last_run.get(&call).map_or(0, |(_, run)| run + 1);
                    self.last_run.insert(call, (execution, run));
                    self.runs.insert(execution, (call, run));
                    let parent = self.scenario.calls[call as usize].parent;
                    if self.stops[call as usize] && self.failed_parents.contains(&parent) {
                        self.record.gate(call, execution);
                        self.scheduler.end(now, execution, End::Failed);
                    } else {
                        self.start_phase(now, call, execution, 0);
                    }
                }
                EventKind::Stop(execution) => {
                    self.stopped.insert(execution);
                    if let Some((call, _)) = self.runs.get(&execution).copied() {
                        self.asking.remove(&call);
                        let gone = self.scenario.calls[call as usize].gone.iter().copied();
                        let gone = gone.filter(|at| *at >= now).min().unwrap_or(now);
                        self.plan(gone, Planned::Gone(execution));
                    }
                }
                EventKind::Ended(Some(call), ..) => {
                    match self.scenario.calls[call as usize].reviewed {
                        Some(at) if at > now && !self.scheduler.is_cancelled() => {
                            self.plan(at, Planned::Reviewed(call));
                        }
                        _ => {
                            self.scheduler.respond(now, call);
                        }
                    }
                }
                EventKind::Restarted(call) => {
                    // It is prepared again at once; a decision that is still to come stays to come.
                    let decided = match &self.scenario.calls[call as usize].decision {
                        PersonEvent::Approved(times) => {
                            times.contains(&now) || times.iter().all(|at| *at < now)
                        }
                        PersonEvent::NotRun(_) | PersonEvent::Never => false,
                    };
                    if decided
                        && self
                            .scheduler
                            .batch()
                            .get(call)
                            .is_some_and(|call| call.stage == Stage::Pending)
                    {
                        self.scheduler.approve(now, call);
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
#[path = "simulate_tests.rs"]
mod tests;
