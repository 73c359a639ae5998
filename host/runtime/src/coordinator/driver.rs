//! The loop that drives a session.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant as Stopwatch},
};

use foldhash::fast::RandomState;
use jp_policy_config::{Config, nearest};
use jp_policy_core::{
    batch::{CallId, Carried, ExecutionId, Instant},
    catalog::{Catalog, Terms},
    policy::{PolicyFactory, Refusal},
    record::Record,
    request::Request,
    response::Response,
    scheduler::{Event, EventKind, Options, PolicyAnswer},
    session::{self, Action, Handover, Input, Session, Submission},
};
use serde_json::{Map, Value as Json};
use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, unbounded_channel},
        oneshot,
    },
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    clock::{self, Clock},
    execution::{self, ExecutionContext, ExecutionEvent, Reply, Shared},
    handle::{Command, Handle, Hold, Submitter},
    observer::{Observer, Snapshot},
    prompter::{OpenPrompts, Prompter},
};
use crate::tools::{Progress, Tools};

/// What a coordinator is made of.
pub struct Setup<'a> {
    /// The tools, and how releases are decided.
    pub config: &'a Config,
    /// Runs the tools: a [`LocalTools`](crate::tools::LocalTools), or what else has some.
    pub tools: Arc<dyn Tools>,
    /// Makes the policy.
    pub factory: &'a dyn PolicyFactory,
    /// Asks people.
    pub prompter: Arc<dyn Prompter>,
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
    /// One response a tool call, in written order.
    pub responses: Vec<Response>,
    /// What happened when.
    pub record: Record,
    /// The calls as they were run: operations apart, arguments as a person has edited them.
    pub requests: Vec<Request>,
    /// What the policy cost.
    pub cost: PolicyCost,
}

/// Serves one batch. See [`Coordinator::run`].
pub struct Coordinator {
    session: Session,
    /// What all executions have.
    shared: Arc<Shared>,
    prompter: Arc<dyn Prompter>,
    record: Record,
    running: HashMap<ExecutionId, Execution, RandomState>,
    events: UnboundedReceiver<ExecutionEvent>,
    commands: UnboundedReceiver<Command>,
    handle: Handle,
    /// Those who may still submit calls.
    submitters: Vec<Hold>,
    /// Who waits for the response of a tool call, by its ticket.
    tickets: HashMap<u64, oneshot::Sender<Response>>,
    /// What was handed over, by its place.
    responses: Vec<Option<Response>>,
    requests: Vec<Option<Request>>,
    cost: PolicyCost,
    clock: Clock,
    /// What the clock said when the batch began.
    start: Duration,
}

/// An execution in flight.
struct Execution {
    context: Arc<ExecutionContext>,
    /// Who waits for the answer to its question, and the question's number.
    reply: Option<(u32, Reply)>,
}

/// A question that was answered.
struct Answered {
    answer: PolicyAnswer,
    took: Duration,
    reasons: Vec<(CallId, String)>,
}

impl Coordinator {
    /// A coordinator for one batch. A policy that does not take the configuration is refused here, before any call runs.
    pub fn new(setup: Setup<'_>) -> Result<Self, Refusal> {
        let Setup { config, tools, factory, prompter, timeout, carried } = setup;
        let settings = config.settings();
        let options = Options { guard: config.release.guard, on_fault: config.release.on_fault };
        let session = Session::new(session::Setup {
            settings: &settings,
            factory,
            options,
            carried,
            catalog: Arc::new(ToolCatalog(tools.clone())),
            one_prompt_at_a_time: prompter.one_at_a_time(),
        })?;
        let (handle, commands) = Handle::new();
        let (sender, events) = unbounded_channel();
        let kill = CancellationToken::new();
        let clock = Clock::system();
        Ok(Self {
            session,
            shared: Arc::new(Shared { tools, events: sender, timeout, kill }),
            prompter,
            record: Record::new(&settings),
            running: HashMap::default(),
            events,
            commands,
            handle,
            submitters: Vec::new(),
            tickets: HashMap::new(),
            responses: Vec::new(),
            requests: Vec::new(),
            cost: PolicyCost::default(),
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

    /// Talks to this coordinator while it runs.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Hands calls in while this coordinator runs. Each is released as soon as it may be, whatever may follow it: for an agent
    /// that submits calls one by one.
    pub fn submitter(&mut self) -> Submitter {
        self.submitters.push(Hold::None);
        Submitter::new(Hold::None, self.handle())
    }

    /// Hands in the calls of a reply while it is being written. Nothing starts before the submitter is dropped, because only
    /// then the batch is known; a reply that breaks off is [cancelled](Handle::cancel) before that, and nothing of it has run.
    pub fn reply_submitter(&mut self) -> Submitter {
        self.session.handle(self.now(), Input::SetOpen(true));
        self.submitters.push(Hold::Reply);
        Submitter::new(Hold::Reply, self.handle())
    }

    /// Runs these calls to their end: until each has its response, nothing of theirs runs any more, and nobody is left who could
    /// submit another.
    pub async fn run(self, requests: Vec<Request>, observer: &mut dyn Observer) -> Finished {
        self.resume(requests.into_iter().map(Submission::from).collect(), observer).await
    }

    /// The same for calls of which some have their response already: those are not run again, the others are, in written order.
    pub async fn resume(mut self, calls: Vec<Submission>, observer: &mut dyn Observer) -> Finished {
        let prompter = self.prompter.clone();
        let mut prompts = OpenPrompts::new(&*prompter);
        let mut answer: Option<JoinHandle<Answered>> = None;
        self.record.reserve(calls.len());
        self.responses.reserve(calls.len());
        self.requests.reserve(calls.len());
        self.session.handle(self.now(), Input::Submit(calls));
        loop {
            let now = self.now();
            self.act(now, &mut prompts, observer);
            if answer.is_none() {
                answer = self.ask(now, &mut prompts, observer);
            }
            if answer.is_none() {
                observer.decided(&self.snapshot());
            }
            let is_over = self.session.is_over() && self.running.is_empty();
            if is_over && self.submitters.is_empty() && self.commands.is_empty() {
                return self.finish();
            }
            let wake = self.session.poll_timeout();
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
                Some(event) = self.events.recv() => {
                    // What ends together is answered by one decision: whoever is about to end does so first.
                    tokio::task::yield_now().await;
                    let now = self.now();
                    self.event(now, event, observer);
                    for _ in 0..self.events.len() {
                        if let Ok(event) = self.events.try_recv() {
                            self.event(now, event, observer);
                        }
                    }
                }
                answered = join(&mut answer), if answer.is_some() => {
                    answer = None;
                    self.answered(answered, &mut prompts, observer);
                }
                (prompt, reply) = prompts.next() => {
                    self.session.handle(self.now(), Input::Replied { prompt, reply });
                }
                () = clock::wait(now, wake.unwrap_or(now)), if wake.is_some() => {}
            }
        }
    }

    /// Does what the session says.
    fn act(&mut self, now: Instant, prompts: &mut OpenPrompts<'_>, observer: &mut dyn Observer) {
        while let Some(action) = self.session.poll_action(now) {
            match action {
                Action::Event(event) => {
                    self.record.observe(&event, |call| self.session.describe(call));
                    trace(&event);
                    observer.event(&event, &self.snapshot());
                }
                Action::Run(run) => {
                    let context = ExecutionContext::new(run.execution, self.shared.clone());
                    let context = Arc::new(context);
                    let running = Execution { context: context.clone(), reply: None };
                    self.running.insert(run.execution, running);
                    execution::spawn(context, *run);
                }
                Action::Stop(execution) => {
                    if let Some(execution) = self.running.get(&execution) {
                        execution.context.stop();
                    }
                }
                Action::Answer { execution, number, answer } => {
                    if let Some(execution) = self.running.get_mut(&execution)
                        && let Some((_, reply)) =
                            execution.reply.take_if(|(asked, _)| *asked == number)
                    {
                        // A run that does not wait any more is about to say so.
                        let _ = reply.send(answer);
                    }
                }
                Action::Prompt { id, prompt } => prompts.open(id, *prompt),
                Action::ClosePrompt(id) => prompts.close(id),
                Action::Respond(place) => {
                    if let Some(handover) = self.session.hand_over(place) {
                        self.hand_over(place, handover);
                    }
                }
            }
        }
    }

    /// Asks the policy what it is to be asked now: here if it answers at once, else where there is time for it, and then its
    /// answer is to come.
    fn ask(
        &mut self,
        mut now: Instant,
        prompts: &mut OpenPrompts<'_>,
        observer: &mut dyn Observer,
    ) -> Option<JoinHandle<Answered>> {
        let reasons = observer.reasons();
        while let Some(question) = self.session.poll_question(now) {
            let start = Stopwatch::now();
            // Reasons take as long as the policy takes.
            let answer = if reasons == 0 { question.ask_at_once() } else { Err(question) };
            match answer {
                Ok(answer) => {
                    let answered = Answered { answer, took: start.elapsed(), reasons: Vec::new() };
                    now = self.answered(answered, prompts, observer);
                }
                Err(question) => {
                    return Some(tokio::task::spawn_blocking(move || {
                        let start = Stopwatch::now();
                        let mut answer = question.ask();
                        let took = start.elapsed();
                        let reasons = answer.reasons(reasons);
                        Answered { answer, took, reasons }
                    }));
                }
            }
        }
        // After a fault the default rules decide without a question.
        self.act(now, prompts, observer);
        None
    }

    /// Hands the policy's answer on, and gives the time at which it did.
    fn answered(
        &mut self,
        answered: Answered,
        prompts: &mut OpenPrompts<'_>,
        observer: &mut dyn Observer,
    ) -> Instant {
        let Answered { answer, took, reasons } = answered;
        self.cost.decisions += 1;
        self.cost.time += took;
        self.cost.slowest = self.cost.slowest.max(took);
        let now = self.now();
        self.session.handle(now, Input::Decided(answer));
        self.act(now, prompts, observer);
        // After a fault they are nobody's reasons any more.
        for (call, reason) in reasons.into_iter().filter(|_| self.record.faults.is_empty()) {
            observer.reason(now, call, &reason);
        }
        now
    }

    fn command(&mut self, command: Command) {
        tracing::debug!(target: "commands", "{}", command.word());
        let now = self.now();
        let input = match command {
            Command::Submit { request, ticket, response } => {
                self.tickets.insert(ticket, response);
                Input::Submit(vec![Submission { ticket: Some(ticket), ..request.into() }])
            }
            Command::Withdraw(ticket) => Input::Withdraw(ticket),
            Command::Close(hold) => match self.close(hold) {
                Some(input) => input,
                None => return,
            },
            Command::Cancel(message) => Input::Cancel(message),
            Command::Kill => {
                self.shared.kill.cancel();
                Input::Cancel(None)
            }
            Command::Restart => Input::Restart,
        };
        self.session.handle(now, input);
    }

    /// A submitter is gone; what that tells the session.
    fn close(&mut self, hold: Hold) -> Option<Input> {
        let place = self.submitters.iter().position(|open| *open == hold)?;
        self.submitters.swap_remove(place);
        let is_written = hold == Hold::Reply && !self.submitters.contains(&Hold::Reply);
        is_written.then_some(Input::SetOpen(false))
    }

    fn event(&mut self, now: Instant, event: ExecutionEvent, observer: &mut dyn Observer) {
        let input = match event {
            ExecutionEvent::Ran { execution, end } => {
                // One that asks is run again with the answer, and is in flight again then.
                self.running.remove(&execution);
                Input::Ran { execution, end }
            }
            ExecutionEvent::Progress { execution, progress } => {
                return self.progress(execution, &progress, observer);
            }
            ExecutionEvent::Asks { execution, number, question, reply } => {
                if let Some(known) = self.running.get_mut(&execution) {
                    // A reply that is dropped is no answer.
                    known.reply = Some((number, reply));
                }
                Input::Asks { execution, number, question }
            }
            ExecutionEvent::Withdraws { execution, number } => {
                Input::Withdraws { execution, number }
            }
        };
        self.session.handle(now, input);
    }

    /// A run that goes on has come this far.
    fn progress(&self, execution: ExecutionId, progress: &Progress, observer: &mut dyn Observer) {
        if let Some(call) = self.session.call_of(execution) {
            let Progress { done, total, message } = progress;
            // A field `message` would be the event's own.
            tracing::debug!(target: "progress", ?execution, call, done, ?total, says = ?message);
            observer.progress(call, progress, &self.snapshot());
        }
    }

    fn hand_over(&mut self, place: usize, handover: Handover) {
        let Handover { ticket, calls, requests, response } = handover;
        for (call, request) in calls.into_iter().zip(requests) {
            put(&mut self.requests, call as usize, request);
        }
        if let Some(waiting) = ticket.and_then(|ticket| self.tickets.remove(&ticket)) {
            // Nobody has to wait for it.
            let _ = waiting.send(response.clone());
        }
        put(&mut self.responses, place, response);
    }

    fn finish(self) -> Finished {
        Finished {
            responses: self.responses.into_iter().flatten().collect(),
            record: self.record,
            requests: self.requests.into_iter().flatten().collect(),
            cost: self.cost,
        }
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { session: &self.session, record: &self.record }
    }

    fn now(&self) -> Instant {
        Instant::try_from(self.clock.elapsed().saturating_sub(self.start).as_nanos())
            .unwrap_or(Instant::MAX)
    }
}

/// Puts something at its place, whatever is there before it.
fn put<T: Clone>(list: &mut Vec<Option<T>>, place: usize, item: T) {
    if list.len() <= place {
        list.resize(place + 1, None);
    }
    list[place] = Some(item);
}

async fn join(answer: &mut Option<JoinHandle<Answered>>) -> Answered {
    match answer {
        // A policy that panics has answered with a fault, and nobody aborts a question.
        Some(answer) => answer.await.expect("a question does not panic"),
        None => std::future::pending().await,
    }
}

/// Tells whoever listens what happened.
fn trace(event: &Event) {
    let at = humantime::format_duration(Duration::from_nanos(event.at));
    if let EventKind::Fault(fault) = &event.kind {
        tracing::error!(target: "policy", %at, kind = fault.kind.word(), "{fault}");
        return;
    }
    match &event.kind {
        EventKind::Decided(decided) => tracing::debug!(target: "batch", %at, "{decided:?}"),
        kind => tracing::debug!(target: "batch", %at, "{kind:?}"),
    }
}

/// What the session has to know of tools.
struct ToolCatalog(Arc<dyn Tools>);

impl Catalog for ToolCatalog {
    fn terms(&self, call: &Request) -> Option<Terms<'_>> {
        self.0.terms(&call.name)
    }

    fn suggestion(&self, name: &str) -> Option<String> {
        nearest(name, self.0.names()).map(str::to_owned)
    }

    fn check_arguments<'a>(
        &self,
        call: &Request,
        arguments: &'a Map<String, Json>,
    ) -> Result<Cow<'a, Map<String, Json>>, String> {
        self.0.check_arguments(&call.name, arguments).map_err(|error| error.to_string())
    }
}
