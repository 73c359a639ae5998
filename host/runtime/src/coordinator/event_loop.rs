//! The loop itself.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    panic::resume_unwind,
    sync::Arc,
    time::Duration,
};

use foldhash::fast::RandomState;
use jp_policy_config::{Config, nearest};
use jp_policy_core::{
    batch::{CallId, Carried, ExecutionId, Instant},
    policy::{Arguments, Blueprint, Refusal},
    record::Record,
    request::Request,
    scheduler::{Answer, Event, EventKind, Options, Scheduler, Settlement},
    terms::RunMode,
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    clock::{self, Clock},
    control::{Asker, Command, Handle, Hold},
    executions::{Active, Heard},
    line::Shared,
    parents::Parent,
    people::{People, Prompt},
    prompts::{Asked, Open, reply},
    response::{Response, Status},
    resume::Resumed,
};
use crate::tools::{Progress, Tools};

/// What a coordinator is made of.
pub struct Setup<'a> {
    /// The tools, and how releases are decided.
    pub config: &'a Config,
    /// Runs the tools: a [`Server`](crate::tools::Server), or what else has some.
    pub server: Arc<dyn Tools>,
    /// The policy.
    pub blueprint: &'a dyn Blueprint,
    /// Who is asked.
    pub people: Arc<dyn People>,
    /// How long one run of a call may take, from its release.
    pub timeout: Option<Duration>,
    /// What earlier batches left in flight.
    pub carried: Carried,
}

/// What the policy's decisions cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct PolicyCost {
    /// How often it was asked.
    pub decisions: u64,
    /// How long it took altogether.
    pub time: Duration,
    /// How long the slowest took.
    pub slowest: Duration,
}

/// What came of a batch.
#[derive(Debug)]
pub struct Finished {
    /// One response a call, in written order.
    pub responses: Vec<Response>,
    /// What happened when.
    pub record: Record,
    /// The calls as they were run: operations apart, arguments as a person has edited them.
    pub requests: Vec<Request>,
    /// What the policy cost.
    pub cost: PolicyCost,
}

/// The state of a batch at an event, for whoever watches.
pub struct Snapshot<'a> {
    /// The calls and why they wait.
    pub scheduler: &'a Scheduler,
    /// What has happened so far, this event included.
    pub record: &'a Record,
    /// The calls as they were written.
    pub requests: &'a [Request],
    /// The responses so far, of each call of the batch.
    pub responses: &'a [Option<Response>],
    parents: &'a [Parent],
}

impl<'a> Snapshot<'a> {
    /// The id of the tool call that a call is an operation of, if it is one.
    pub fn operation_of(&self, call: CallId) -> Option<&'a str> {
        let parent = self.record.calls.get(call as usize)?.parent;
        self.parents.get(parent as usize)?.fanned_id()
    }
}

/// Watches a batch.
pub trait Observer: Send {
    /// Something happened.
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>);

    /// A run of a call has come this far, as it says itself.
    fn progress(&mut self, call: CallId, progress: &Progress, snapshot: &Snapshot<'_>) {
        let _ = (call, progress, snapshot);
    }

    /// Whether it wants to be told the policy's reasons, of how many calls after each decision.
    fn reasons(&self) -> usize {
        0
    }

    /// Why a call still waits after a decision, in the policy's words.
    fn reason(&mut self, at: Instant, call: CallId, reason: &str) {
        let _ = (at, call, reason);
    }

    /// All that has happened so far is decided: what is parked now, waits.
    fn decided(&mut self, snapshot: &Snapshot<'_>) {
        let _ = snapshot;
    }
}

impl Observer for () {
    fn event(&mut self, _: &Event, _: &Snapshot<'_>) {}
}

/// Serves one batch. See [`Coordinator::run`].
pub struct Coordinator {
    pub(super) scheduler: Scheduler,
    /// The tools among it.
    pub(super) shared: Arc<Shared>,
    pub(super) people: Arc<dyn People>,
    pub(super) tools: HashMap<String, u32, RandomState>,
    pub(super) keys: Vec<Option<u32>>,
    pub(super) record: Record,
    pub(super) arguments: Arguments,
    pub(super) requests: Vec<Request>,
    pub(super) responses: Vec<Option<Response>>,
    pub(super) active: HashMap<ExecutionId, Active, RandomState>,
    /// Tells all executions to end at once.
    pub(super) kill: CancellationToken,
    pub(super) prompts: VecDeque<Open>,
    pub(super) heard: UnboundedReceiver<Heard>,
    pub(super) commands: UnboundedReceiver<Command>,
    pub(super) handle: Handle,
    /// Those who may still submit calls.
    pub(super) submitters: Vec<Hold>,
    /// The tool calls that the calls of the batch come from.
    pub(super) parents: Vec<Parent>,
    /// Which of them somebody waits for, by the ticket's number.
    pub(super) tickets: HashMap<u64, usize>,
    pub(super) cost: PolicyCost,
    /// What calls that are cut short answer, where somebody said it.
    pub(super) message: Option<String>,
    pub(super) clock: Clock,
    /// What the clock said when the batch began.
    pub(super) start: Duration,
}

impl Coordinator {
    /// A coordinator for one batch. A policy that does not take the configuration is refused here, before any call runs.
    pub fn new(setup: Setup<'_>) -> Result<Self, Refusal> {
        let Setup { config, server, blueprint, people, timeout, carried } = setup;
        let settings = config.settings();
        let arguments = Arguments::default();
        let policy = blueprint.instantiate(&settings, arguments.clone())?;
        let options = Options { guard: config.release.guard, on_fault: config.release.on_fault };
        let (handle, commands) = Handle::new();
        let (to, heard) = unbounded_channel();
        let clock = Clock::system();
        Ok(Self {
            scheduler: Scheduler::new(
                &settings,
                blueprint.identity().clone(),
                policy,
                options,
                carried,
            ),
            people,
            shared: Arc::new(Shared { server, to, timeout }),
            tools: settings.tools.iter().map(|tool| tool.name.clone()).zip(0..).collect(),
            keys: settings.tools.iter().map(|tool| tool.key).collect(),
            record: Record::new(&settings),
            arguments,
            requests: Vec::new(),
            responses: Vec::new(),
            active: HashMap::default(),
            kill: CancellationToken::new(),
            prompts: VecDeque::new(),
            heard,
            commands,
            handle,
            submitters: Vec::new(),
            parents: Vec::new(),
            tickets: HashMap::new(),
            cost: PolicyCost::default(),
            message: None,
            start: clock.elapsed(),
            clock,
        })
    }

    /// Tells the time by another clock than the machine's. The batch begins now.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.start = clock.elapsed();
        self.clock = clock;
        self
    }

    /// Runs these calls to their end: until each has its response, nothing of theirs runs any more, and nobody is left who could
    /// submit another.
    pub async fn run(self, requests: Vec<Request>, observer: &mut dyn Observer) -> Finished {
        self.resume(requests.into_iter().map(Resumed::from).collect(), observer).await
    }

    /// The same for calls of which some have their response already: those are not run again, the others are, in written order.
    pub async fn resume(mut self, calls: Vec<Resumed>, observer: &mut dyn Observer) -> Finished {
        let people = self.people.clone();
        let mut answer: Option<JoinHandle<Answered>> = None;
        let mut asked: Vec<Asked<'_>> = Vec::new();
        self.submit(calls.into_iter().map(|call| (call, None)));
        loop {
            let now = self.now();
            self.drain(now, observer);
            if answer.is_none() {
                answer = self.ask(now, observer);
                self.drain(now, observer);
            }
            if answer.is_none() {
                observer.decided(&self.snapshot());
            }
            self.open(&*people, &mut asked);
            if self.scheduler.is_settled()
                && self.active.is_empty()
                && self.prompts.is_empty()
                && self.submitters.is_empty()
                && self.commands.is_empty()
            {
                break;
            }
            let wake = self.scheduler.poll_timeout();
            tokio::select! {
                // What somebody has said before they replied comes before their reply.
                biased;
                Some(command) = self.commands.recv() => {
                    self.command(command);
                    // Not those that come in meanwhile: whoever hands calls in without a pause must not keep the others waiting.
                    for _ in 0..self.commands.len() {
                        if let Ok(command) = self.commands.try_recv() {
                            self.command(command);
                        }
                    }
                }
                Some(heard) = self.heard.recv() => {
                    // What ends together is answered by one decision: whoever is about to end does so first.
                    tokio::task::yield_now().await;
                    let now = self.now();
                    self.hear(now, heard, observer);
                    for _ in 0..self.heard.len() {
                        if let Ok(heard) = self.heard.try_recv() {
                            self.hear(now, heard, observer);
                        }
                    }
                }
                answered = join(&mut answer), if answer.is_some() => {
                    answer = None;
                    self.answered(answered, observer);
                }
                (asked, reply) = reply(&mut asked) => self.reply(asked, reply),
                () = clock::wait(now, wake.unwrap_or(now)), if wake.is_some() => {}
            }
        }
        let responses = self.take_responses();
        Finished { responses, record: self.record, requests: self.requests, cost: self.cost }
    }

    /// Asks the policy what it is to be asked now: here if it answers at once, else where there is time for it, and then its
    /// answer is to come.
    fn ask(&mut self, now: Instant, observer: &mut dyn Observer) -> Option<JoinHandle<Answered>> {
        let reasons = observer.reasons();
        while let Some(question) = self.scheduler.poll_question(now) {
            let start = std::time::Instant::now();
            // Reasons take as long as the policy takes.
            let answer = if reasons == 0 { question.ask_at_once() } else { Err(question) };
            match answer {
                Ok(answer) => {
                    let took = start.elapsed();
                    self.answered(Answered { answer, took, reasons: Vec::new() }, observer);
                }
                Err(question) => {
                    return Some(tokio::task::spawn_blocking(move || {
                        let start = std::time::Instant::now();
                        let mut answer = question.ask();
                        let took = start.elapsed();
                        let reasons = answer.reasons(reasons);
                        Answered { answer, took, reasons }
                    }));
                }
            }
        }
        None
    }

    fn answered(&mut self, answered: Answered, observer: &mut dyn Observer) {
        let Answered { answer, took, reasons } = answered;
        self.cost.decisions += 1;
        self.cost.time += took;
        self.cost.slowest = self.cost.slowest.max(took);
        let now = self.now();
        self.scheduler.answer(now, answer);
        self.drain(now, observer);
        // After a fault they are nobody's reasons any more.
        let reasons = reasons.into_iter().filter(|_| self.record.faults.is_empty());
        for (call, reason) in reasons {
            observer.reason(now, call, &reason);
        }
    }

    pub(super) fn now(&self) -> Instant {
        Instant::try_from(self.clock.elapsed().saturating_sub(self.start).as_nanos())
            .unwrap_or(Instant::MAX)
    }

    /// Adds tool calls at the end of the written order, and then prepares them.
    fn submit(&mut self, calls: impl Iterator<Item = (Resumed, Option<Asker>)>) {
        let now = self.now();
        let first = self.requests.len();
        let more = calls.size_hint().0;
        self.requests.reserve(more);
        self.responses.reserve(more);
        self.parents.reserve(more);
        self.record.calls.reserve(more);
        for (call, asker) in calls {
            self.add(now, call, asker);
        }
        for place in first..self.requests.len() {
            if self.responses[place].is_none()
                && let Ok(call) = CallId::try_from(place)
            {
                self.prepare(now, call);
            }
        }
    }

    fn add(&mut self, now: Instant, call: Resumed, asker: Option<Asker>) {
        let Resumed { request, responses } = call;
        let parent = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        let tool = self.tools.get(&*request.name).copied();
        let key = tool.and_then(|tool| self.keys.get(tool as usize).copied().flatten());
        // A tool that nobody knows has no key: its call is settled before it could matter.
        let tool = tool.unwrap_or(u32::MAX);
        let mut responses = responses.into_iter();
        for call in self.take_apart(request, asker) {
            self.record.announce(call.title(), tool, key, parent);
            // As the policy sees them: none, if they can't be read.
            self.arguments.push(call.arguments.clone().unwrap_or_default());
            self.requests.push(call);
            let response = responses.next().flatten();
            match response {
                Some(_) => self.scheduler.submit_answered(now, tool, parent),
                None => self.scheduler.submit(now, tool, parent),
            };
            self.responses.push(response);
        }
    }

    /// Approves a call, has it approved, or settles it because it can't run.
    fn prepare(&mut self, now: Instant, call: CallId) {
        let Request { id, name, arguments } = &mut self.requests[call as usize];
        let Some(terms) = self.shared.server.terms(name) else {
            let known = nearest(name, self.shared.server.names())
                .map(|known| format!("; did you mean `{known}`?"));
            let text = format!(
                "no tool `{}` is configured{}",
                name.escape_debug(),
                known.unwrap_or_default()
            );
            return self.settle(now, call, Status::Error, &text);
        };
        let checked = match arguments {
            Ok(arguments) => match self.shared.server.check_arguments(name, arguments) {
                Ok(Cow::Borrowed(_)) => Ok(()),
                Ok(Cow::Owned(filled)) => {
                    *arguments = Arc::new(filled);
                    self.arguments.replace(call, arguments.clone());
                    Ok(())
                }
                Err(error) => Err(error.to_string()),
            },
            Err(error) => Err(error.clone()),
        };
        if let Err(error) = checked {
            let text = format!("invalid arguments for tool `{name}`: {error}");
            // An operation that can't run has failed before any other has started.
            if let Some(gate) = self.gate(call) {
                gate.shut();
            }
            return self.settle(now, call, Status::Error, &text);
        }
        match terms.run {
            RunMode::Unattended => {
                self.scheduler.approve(now, call);
            }
            RunMode::Skip => {
                let text = format!("tool `{name}` is set to be skipped");
                self.settle(now, call, Status::NotRun, &text);
            }
            RunMode::Ask | RunMode::Edit => {
                let arguments = arguments.as_deref().cloned().unwrap_or_default();
                let (tool, id) = (name.clone(), id.clone());
                let edit = terms.run == RunMode::Edit;
                let prompt = Prompt::Approve { tool, id, arguments, edit, problem: None };
                self.prompts.push_back(Open { call, execution: None, prompt });
            }
        }
    }

    pub(super) fn settle(&mut self, now: Instant, call: CallId, status: Status, content: &str) {
        if self.scheduler.settle(now, call) {
            self.write(call, status, content);
        }
    }

    pub(super) fn write(&mut self, call: CallId, status: Status, content: &str) {
        let request = &self.requests[call as usize];
        self.responses[call as usize] =
            Some(Response::new(&request.id, &request.name, status, content));
    }

    pub(super) fn write_cancelled(&mut self, call: CallId) {
        let name = &self.requests[call as usize].name;
        let own = self.shared.server.terms(name).unwrap_or_default().cancellation_response;
        let text = self.message.as_deref().unwrap_or(own).to_owned();
        self.write(call, Status::Cancelled, &text);
    }

    fn command(&mut self, command: Command) {
        let now = self.now();
        tracing::debug!(target: "people", "{}", command.word());
        match command {
            Command::Submit(request, asker) => {
                self.submit(std::iter::once((request.into(), Some(asker))));
            }
            Command::Withdraw(ticket) => self.withdraw(now, ticket),
            Command::Close(hold) => self.close(hold),
            Command::Cancel(message) => {
                self.message = self.message.take().or(message);
                self.cancel(now);
            }
            Command::Kill => {
                self.cancel(now);
                self.kill.cancel();
            }
            Command::Restart => self.scheduler.restart(now),
        }
    }

    /// Results that are under review are delivered as they are: what has finished keeps its real result.
    fn cancel(&mut self, now: Instant) {
        self.scheduler.cancel(now);
        for call in (0..).take(self.requests.len()) {
            self.scheduler.respond(now, call);
        }
    }

    /// Does what the scheduler's events say.
    fn drain(&mut self, now: Instant, observer: &mut dyn Observer) {
        while let Some(event) = self.scheduler.poll_event() {
            self.record.observe(&event);
            tell(&event);
            match &event.kind {
                EventKind::Released(call, execution) => self.start(now, *call, *execution),
                EventKind::Stop(execution) => self.stop(now, *execution),
                EventKind::Ended(Some(call), ..) => self.review(now, *call),
                EventKind::Restarted(call) => self.prepare(now, *call),
                EventKind::Settled(call, Settlement::Cancelled) => self.write_cancelled(*call),
                EventKind::Settled(call, Settlement::PolicyFault) => {
                    let text = format!(
                        "not run: release policy \"{}\" failed, and `conversation.release.on_fault` is \"settle\"",
                        self.scheduler.identity()
                    );
                    self.write(*call, Status::Error, &text);
                }
                _ => {}
            }
            observer.event(&event, &self.snapshot());
            if let EventKind::Settled(call, _) = event.kind {
                self.hand_over(call);
            }
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            scheduler: &self.scheduler,
            record: &self.record,
            requests: &self.requests,
            responses: &self.responses,
            parents: &self.parents,
        }
    }
}

/// A question that was answered.
struct Answered {
    answer: Answer,
    took: Duration,
    reasons: Vec<(CallId, String)>,
}

async fn join(answer: &mut Option<JoinHandle<Answered>>) -> Answered {
    match answer {
        Some(answer) => answer.await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(error) => unreachable!("nobody aborts a question: {error}"),
        }),
        None => std::future::pending().await,
    }
}

/// Tells whoever listens what happened.
fn tell(event: &Event) {
    let at = humantime::format_duration(Duration::from_nanos(event.at));
    if let EventKind::Fault(fault) = &event.kind {
        tracing::error!(target: "policy", %at, kind = fault.kind.word(), "{fault}");
        return;
    }
    tracing::debug!(target: "batch", %at, "{:?}", event.kind);
}
