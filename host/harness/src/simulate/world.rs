//! The world around a session: it plays the tools, the people and the clock, as the scenario says.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet},
    sync::Arc,
};

use jp_policy_core::{
    batch::{CallId, ExecutionId, Instant},
    description::CallDescription,
    outcome::{AnswerType, Outcome, Question},
    prompt::{Answer, Approval, Prompt, Reply, Review},
    record::Record,
    request::Request,
    run_end::RunEnd,
    scheduler::{Event, EventKind},
    session::{Action, Input, PromptId, Session, Submission},
};
use serde_json::{Map, Value as Json};

use super::{
    options::{SimulateError, SimulateOptions},
    tools::place_of,
};
use crate::scenario::{Behaviour, CallSpec, Ending, PersonEvent, Scenario, ScenarioEvent};

/// How many steps a simulation may take beyond ten a call: what needs more does not come to an end.
const STEPS: usize = 100_000;

/// What happens at an instant. At one instant, ends come before all else, and things come in the order they were planned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Planned {
    /// A phase of a run is over.
    PhaseOver(CallId, ExecutionId, usize),
    /// What was stopped, or left by an earlier batch, is really gone.
    Gone(ExecutionId),
    Reviewed(CallId),
    /// Whatever a call asks then is answered.
    Answered(CallId),
    /// The question of a call that has this number is answered, if it is still open.
    AnsweredTo(CallId, u32),
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
            Self::Approved(call)
            | Self::NotRun(call)
            | Self::Answered(call)
            | Self::AnsweredTo(call, _) => *call >= arriving,
            Self::Complete => true,
            _ => false,
        }
    }
}

pub(super) struct World<'a, 'o> {
    scenario: &'a Scenario,
    options: SimulateOptions<'o>,
    shuffle: Option<fastrand::Rng>,
    /// The place of each tool call in the session, by the number that the scenario gives it.
    parents: HashMap<u32, usize>,
    record: Record,
    session: Session,
    queue: BinaryHeap<Reverse<(Instant, bool, u64, Planned)>>,
    sequence: u64,
    /// Whoever looks on has seen enough.
    over: bool,
    /// The call of each execution, and its number among those of its call.
    executions: HashMap<ExecutionId, (CallId, usize)>,
    last_run: HashMap<CallId, (ExecutionId, usize)>,
    /// The prompt about each call that nobody has replied to.
    prompts: HashMap<CallId, PromptId>,
    /// The number of the question of each asking execution, and the phase that it goes on with.
    asking: HashMap<ExecutionId, (u32, usize)>,
    /// How many questions each call has asked.
    asked: HashMap<CallId, u32>,
    stopped: HashSet<ExecutionId>,
    /// Calls that were prepared again.
    restarted: HashSet<CallId>,
}

impl<'a, 'o> World<'a, 'o> {
    /// The world of a scenario, in which nothing is planned yet.
    pub(super) fn new(
        scenario: &'a Scenario,
        options: SimulateOptions<'o>,
        session: Session,
        record: Record,
    ) -> Self {
        Self {
            scenario,
            shuffle: options.seed.map(fastrand::Rng::with_seed),
            options,
            parents: HashMap::new(),
            record,
            session,
            queue: BinaryHeap::new(),
            sequence: 0,
            over: false,
            executions: HashMap::new(),
            last_run: HashMap::new(),
            prompts: HashMap::new(),
            asking: HashMap::new(),
            asked: HashMap::new(),
            stopped: HashSet::new(),
            restarted: HashSet::new(),
        }
    }

    /// What happened, and the session in which it did.
    pub(super) fn into_parts(self) -> (Record, Session) {
        (self.record, self.session)
    }

    fn plan(&mut self, at: Instant, planned: Planned) {
        self.sequence += 1;
        let late = !matches!(planned, Planned::PhaseOver(..) | Planned::Gone(_));
        self.queue.push(Reverse((at, late, self.sequence, planned)));
    }

    /// Plans all that the scenario says; `earlier` are the executions that an earlier batch left in flight.
    pub(super) fn plan_scenario(&mut self, earlier: Vec<ExecutionId>) {
        if self.scenario.complete.is_some() {
            self.session.handle(0, Input::SetOpen(true));
        }
        for (execution, spec) in earlier.into_iter().zip(&self.scenario.earlier) {
            self.plan(spec.gone, Planned::Gone(execution));
        }
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

    /// Lives until nothing is planned any more.
    pub(super) fn run(&mut self) -> Result<(), SimulateError> {
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
            match planned.into_iter().chain(self.session.poll_timeout()).min() {
                Some(next) if self.options.until.is_none_or(|until| next <= until) => {
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
        self.act(now);
        while !self.over
            && let Some(question) = self.session.poll_question(now)
        {
            let answer = question.ask();
            if let Some(observer) = &mut self.options.observer {
                observer.answered(now, &answer);
            }
            self.session.handle(now, Input::Decided(answer));
            if let Some(observer) = &mut self.options.observer {
                self.over = observer.decided(now, self.session.scheduler()).is_break();
            }
            // What a release brings about at the same instant may bring the next question about.
            self.act(now);
        }
        // After a fault the default rules decide without a question.
        self.act(now);
    }

    fn happen(&mut self, now: Instant, planned: &Planned) {
        let input = match *planned {
            Planned::Arrives(call) => Some(Input::Submit(vec![self.submission(call)])),
            Planned::Approved(call) => self.reply(call, Reply::Approval(Approval::Run(None))),
            Planned::NotRun(call) => {
                self.reply(call, Reply::Approval(Approval::Reject("not approved".to_owned())))
            }
            Planned::Answered(call) => self.answer(call, |_| true),
            Planned::AnsweredTo(call, number) => self.answer(call, |asked| asked == number),
            Planned::Reviewed(call) => self.reply(call, Reply::Review(Review::Deliver)),
            Planned::Complete => Some(Input::SetOpen(false)),
            Planned::PhaseOver(call, execution, phase) => {
                self.phase_over(now, call, execution, phase)
            }
            Planned::Gone(execution) => Some(Input::Ran { execution, end: RunEnd::Stopped }),
            Planned::EndAgain(call) => self
                .last_run
                .get(&call)
                .map(|(execution, _)| Input::Ran { execution: *execution, end: succeeds() }),
            Planned::Cancel => Some(Input::Cancel(None)),
            Planned::Restart => Some(Input::Restart),
        };
        if let Some(input) = input {
            self.session.handle(now, input);
        }
        self.act(now);
    }

    fn spec(&self, call: CallId) -> &CallSpec {
        &self.scenario.calls[call as usize]
    }

    /// A call that comes in. The scenario has taken fanned-out calls apart.
    fn submission(&mut self, call: CallId) -> Submission {
        let spec = &self.scenario.calls[call as usize];
        let next = self.parents.len();
        let place = *self.parents.entry(spec.parent).or_insert(next);
        let arguments: Option<Map<String, Json>> = match spec.arguments.as_str() {
            "{}" => None,
            text => serde_json::from_str(text).ok(),
        };
        let request = Request {
            id: call.to_string().into(),
            name: spec.tool.as_str().into(),
            arguments: Ok(Arc::new(arguments.unwrap_or_default())),
        };
        Submission { operation_of: Some(place), ..request.into() }
    }

    /// A reply to the prompt about a call; none, if there is none.
    fn reply(&self, call: CallId, reply: Reply) -> Option<Input> {
        let prompt = *self.prompts.get(&call)?;
        Some(Input::Replied { prompt, reply })
    }

    /// The reply to the question that a call has open, if its number is one that is meant.
    fn answer(&self, call: CallId, is_meant: impl Fn(u32) -> bool) -> Option<Input> {
        let (execution, _) = *self.last_run.get(&call)?;
        let (_, next) = *self.asking.get(&execution).filter(|(asked, _)| is_meant(*asked))?;
        let dismissed = self.behaviour(execution).is_some_and(|does| does.is_dismissed(next - 1));
        let answer = if dismissed { Answer::Dismissed } else { Answer::Given(Json::Null) };
        self.reply(call, Reply::Answer(answer))
    }

    fn phase_over(
        &mut self,
        now: Instant,
        call: CallId,
        execution: ExecutionId,
        phase: usize,
    ) -> Option<Input> {
        if self.stopped.contains(&execution) {
            // It is gone when it is gone.
            return None;
        }
        let behaviour = self.behaviour(execution);
        let asks = behaviour.and_then(|does| does.phases.get(phase)).is_some_and(|it| it.asks);
        if !asks {
            let fails = behaviour.is_some_and(|does| does.ending == Ending::Fails);
            let end = if fails { Outcome::error("failed").into() } else { succeeds() };
            return Some(Input::Ran { execution, end });
        }
        let ends = behaviour.is_some_and(|does| does.is_dismissed(phase));
        let number = self.asked.entry(call).or_default();
        let asked = *number;
        *number += 1;
        self.asking.insert(execution, (asked, phase + 1));
        let after = self.spec(call).answered_after.get(asked as usize).copied();
        if let Some(after) = after {
            self.plan(now.saturating_add(after), Planned::AnsweredTo(call, asked));
        }
        let question = Question {
            id: "question".to_owned(),
            text: "?".to_owned(),
            pre_amble: None,
            answer_type: AnswerType::Text,
            default: None,
        };
        // As local tools ask: nothing runs meanwhile, and nothing will.
        if ends {
            let end = Outcome::NeedsInput { question }.into();
            return Some(Input::Ran { execution, end });
        }
        Some(Input::Asks { execution, number: asked, question })
    }

    fn start_phase(&mut self, now: Instant, execution: ExecutionId, phase: usize) {
        let Some((call, _)) = self.executions.get(&execution).copied() else {
            return;
        };
        let behaviour = self.behaviour(execution);
        let takes = behaviour.and_then(|does| does.phases.get(phase)).map_or(0, |it| it.takes);
        self.plan(now.saturating_add(takes), Planned::PhaseOver(call, execution, phase));
    }

    fn behaviour(&self, execution: ExecutionId) -> Option<&Behaviour> {
        let (call, run) = *self.executions.get(&execution)?;
        self.scenario.calls[call as usize].behaviour(run)
    }

    /// Does what the session says.
    fn act(&mut self, now: Instant) {
        while let Some(action) = self.session.poll_action(now) {
            match action {
                Action::Event(event) => self.event(now, &event),
                Action::Run(run) => self.start_phase(now, run.execution, 0),
                Action::Stop(execution) => {
                    self.stopped.insert(execution);
                    if let Some((call, _)) = self.executions.get(&execution).copied() {
                        let gone = self.spec(call).gone.iter().copied();
                        let gone = gone.filter(|at| *at >= now).min().unwrap_or(now);
                        self.plan(gone, Planned::Gone(execution));
                    }
                }
                Action::Answer { execution, answer, .. } => {
                    let phase = self.asking.remove(&execution);
                    // Without an answer it is about to be stopped, or was stopped before a restart.
                    if let (Some((_, phase)), Some(_)) = (phase, answer) {
                        self.start_phase(now, execution, phase);
                    }
                }
                Action::Prompt { id, prompt } => self.prompted(now, id, &prompt),
                // A reply to a prompt that was closed does nothing.
                Action::ClosePrompt(_) => {}
                // How a call came out is in its record.
                Action::Respond(place) => drop(self.session.hand_over(place)),
            }
        }
    }

    fn event(&mut self, now: Instant, event: &Event) {
        let (session, scenario) = (&self.session, self.scenario);
        self.record.observe(event, |call| {
            let label = scenario.calls[call as usize].label.as_str().into();
            Some(CallDescription { label, ..session.describe(call)? })
        });
        if let Some(observer) = &mut self.options.observer {
            observer.event(event);
        }
        match event.kind {
            EventKind::Released(call, execution) => {
                let run = self.last_run.get(&call).map_or(0, |(_, run)| run + 1);
                self.last_run.insert(call, (execution, run));
                self.executions.insert(execution, (call, run));
            }
            EventKind::Ended(_, execution, _) => {
                self.asking.remove(&execution);
            }
            EventKind::Restarted(call) => {
                self.restarted.insert(call);
                self.decide_again(now, call);
            }
            _ => {}
        }
    }

    /// Somebody is asked about a call.
    fn prompted(&mut self, now: Instant, id: PromptId, prompt: &Prompt) {
        let Some(call) = place_of(prompt.subject().1) else {
            return;
        };
        self.prompts.insert(call, id);
        match prompt {
            Prompt::Approve { .. } if self.restarted.contains(&call) => {
                self.decide_again(now, call);
            }
            Prompt::Review { .. } => match self.spec(call).reviewed {
                Some(at) if at > now => self.plan(at, Planned::Reviewed(call)),
                _ => {
                    let reply = Reply::Review(Review::Deliver);
                    self.session.handle(now, Input::Replied { prompt: id, reply });
                }
            },
            Prompt::Approve { .. } | Prompt::Question { .. } => {}
        }
    }

    /// A call is prepared again. What was decided about it is decided at once; what is still to come stays to come.
    fn decide_again(&mut self, now: Instant, call: CallId) {
        let approved = match &self.spec(call).decision {
            PersonEvent::Approved(times) => {
                times.contains(&now) || times.iter().all(|at| *at < now)
            }
            PersonEvent::NotRun(_) | PersonEvent::Never => false,
        };
        if approved && let Some(input) = self.reply(call, Reply::Approval(Approval::Run(None))) {
            self.session.handle(now, input);
        }
    }
}

fn succeeds() -> RunEnd {
    Outcome::Success { content: String::new() }.into()
}
