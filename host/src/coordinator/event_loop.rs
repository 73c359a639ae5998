//! The loop itself.

use std::{
    collections::{HashMap, VecDeque},
    future::Future,
    panic::resume_unwind,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use serde_json::{Map, Value as Json};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
    time::{Instant as Clock, sleep_until},
};

use super::{
    control::{Command, Handle},
    people::{Approval, People, Prompt, Reply, Review},
    response::{Response, Status},
};
use crate::{
    batch::{CallId, Carried, End, ExecutionId, Instant, Stage},
    config::{Config, ResultMode, RunMode, nearest},
    message::Request,
    policy::{Arguments, Blueprint, Refusal},
    record::Record,
    scheduler::{Answer, Event, EventKind, Options, Scheduler, Settlement},
    server::{Invocation, Outcome, Ran, Server, Stop},
};

/// How often a call may ask before it is taken for one that asks for ever.
const QUESTIONS: u32 = 100;

/// What a coordinator is made of.
pub struct Setup<'a> {
    /// The tools, and how releases are decided.
    pub config: &'a Config,
    /// Runs the tools.
    pub server: Arc<Server>,
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
    /// The responses so far.
    pub responses: &'a [Option<Response>],
}

/// Watches a batch.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>);

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
    scheduler: Scheduler,
    server: Arc<Server>,
    people: Arc<dyn People>,
    timeout: Option<Duration>,
    tools: HashMap<String, u32>,
    keys: Vec<Option<u32>>,
    record: Record,
    arguments: Arguments,
    requests: Vec<Request>,
    responses: Vec<Option<Response>>,
    active: HashMap<ExecutionId, Active>,
    prompts: VecDeque<Open>,
    ran: (UnboundedSender<Done>, UnboundedReceiver<Done>),
    commands: UnboundedReceiver<Command>,
    handle: Handle,
    cost: PolicyCost,
    start: Clock,
}

/// An execution in flight.
struct Active {
    call: CallId,
    stop: Stop,
    answers: Map<String, Json>,
    runs: u32,
    /// It waits for the answer to a question; no process of it runs.
    asking: bool,
}

/// One run of an execution is over.
struct Done {
    execution: ExecutionId,
    ran: Ran,
    timed_out: bool,
}

/// A prompt, and whom it is about.
struct Open {
    call: CallId,
    execution: Option<ExecutionId>,
    prompt: Prompt,
}

impl Coordinator {
    /// A coordinator for one batch. A policy that does not take the configuration is refused here, before any call runs.
    pub fn new(setup: Setup<'_>) -> Result<Self, Refusal> {
        let Setup {
            config,
            server,
            blueprint,
            people,
            timeout,
            carried,
        } = setup;
        let settings = config.settings();
        let arguments = Arguments::default();
        let policy = blueprint.instantiate(&settings, arguments.clone())?;
        let options = Options {
            guard: config.release.guard,
            on_fault: config.release.on_fault,
        };
        let (handle, commands) = Handle::new();
        Ok(Self {
            scheduler: Scheduler::new(
                &settings,
                blueprint.identity().clone(),
                policy,
                options,
                carried,
            ),
            server,
            people,
            timeout,
            tools: settings
                .tools
                .iter()
                .map(|tool| tool.name.clone())
                .zip(0..)
                .collect(),
            keys: settings.tools.iter().map(|tool| tool.key).collect(),
            record: Record::new(&settings),
            arguments,
            requests: Vec::new(),
            responses: Vec::new(),
            active: HashMap::new(),
            prompts: VecDeque::new(),
            ran: unbounded_channel(),
            commands,
            handle,
            cost: PolicyCost::default(),
            start: Clock::now(),
        })
    }

    /// Talks to this coordinator while it runs.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs these calls to their end: until each has its response and nothing of theirs runs any more. Calls that come in
    /// through the [`Handle`] before that are served too.
    pub async fn run(mut self, requests: Vec<Request>, observer: &mut dyn Observer) -> Finished {
        let people = self.people.clone();
        let mut asked: Option<JoinHandle<(Answer, Duration)>> = None;
        let mut open: Option<(Open, Pin<Box<dyn Future<Output = Reply> + Send + '_>>)> = None;
        self.submit(requests);
        loop {
            let now = self.now();
            self.drain(now, observer);
            if let Some(question) = self.scheduler.poll_question(now) {
                asked = Some(tokio::task::spawn_blocking(move || {
                    let start = std::time::Instant::now();
                    let answer = question.ask();
                    (answer, start.elapsed())
                }));
            }
            self.drain(now, observer);
            if asked.is_none() {
                observer.decided(&self.snapshot());
            }
            if open
                .as_ref()
                .is_some_and(|(prompt, _)| self.is_moot(prompt))
            {
                open = None;
            }
            while open.is_none()
                && let Some(next) = self.prompts.pop_front()
            {
                if !self.is_moot(&next) {
                    let reply = people.ask(next.prompt.clone());
                    open = Some((next, reply));
                }
            }
            if self.scheduler.is_settled()
                && self.active.is_empty()
                && self.prompts.is_empty()
                && self.commands.is_empty()
            {
                break;
            }
            let wake = self
                .scheduler
                .poll_timeout()
                .map(|at| self.start + Duration::from_nanos(at));
            tokio::select! {
                Some(done) = self.ran.1.recv() => {
                    let now = self.now();
                    self.done(now, done);
                    // What ended together is answered by one decision.
                    while let Ok(done) = self.ran.1.try_recv() {
                        self.done(now, done);
                    }
                }
                Some(command) = self.commands.recv() => self.command(command),
                answer = join(&mut asked), if asked.is_some() => {
                    asked = None;
                    let (answer, took) = answer;
                    self.cost.decisions += 1;
                    self.cost.time += took;
                    self.cost.slowest = self.cost.slowest.max(took);
                    let now = self.now();
                    self.scheduler.answer(now, answer);
                }
                reply = reply(&mut open), if open.is_some() => {
                    if let Some((prompt, _)) = open.take() {
                        self.reply(prompt, reply);
                    }
                }
                () = sleep_until(wake.unwrap_or(self.start)), if wake.is_some() => {}
            }
        }
        let responses = self
            .requests
            .iter()
            .zip(self.responses)
            .map(|(request, response)| {
                // Unreachable: a settled call has its response. A lost call would be worse than a plain answer.
                response.unwrap_or_else(|| {
                    Response::new(&request.id, &request.name, Status::Error, "no response")
                })
            });
        Finished {
            responses: responses.collect(),
            record: self.record,
            cost: self.cost,
        }
    }

    fn now(&self) -> Instant {
        Instant::try_from(self.start.elapsed().as_nanos()).unwrap_or(Instant::MAX)
    }

    fn submit(&mut self, requests: Vec<Request>) {
        let now = self.now();
        let first = self.requests.len();
        for request in requests {
            let parent = u32::try_from(self.requests.len()).unwrap_or(u32::MAX);
            let tool = self.tools.get(&request.name).copied();
            let key = tool.and_then(|tool| self.keys.get(tool as usize).copied().flatten());
            let arguments = request.arguments.clone().unwrap_or_default();
            self.record
                .announce(&request.name, tool.unwrap_or(u32::MAX), key, parent);
            self.arguments.push(Json::Object(arguments).to_string());
            self.requests.push(request);
            self.responses.push(None);
            // A tool that nobody knows has no key: its call is settled before it could matter.
            self.scheduler.submit(now, tool.unwrap_or(u32::MAX), parent);
        }
        for place in first..self.requests.len() {
            if let Ok(call) = CallId::try_from(place) {
                self.prepare(now, call);
            }
        }
    }

    /// Approves a call, has it approved, or settles it because it can't run.
    fn prepare(&mut self, now: Instant, call: CallId) {
        let request = &mut self.requests[call as usize];
        let name = request.name.clone();
        let Some(tool) = self.server.tool(&name) else {
            let known = nearest(&name, self.server.names())
                .map(|known| format!("; did you mean `{known}`?"));
            let text = format!(
                "no tool `{}` is configured{}",
                name.escape_debug(),
                known.unwrap_or_default()
            );
            return self.settle(now, call, Status::Error, &text);
        };
        let mode = tool.run;
        let checked = match &mut request.arguments {
            Ok(arguments) => self
                .server
                .check_arguments(&name, arguments)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        };
        if let Err(error) = checked {
            return self.settle(
                now,
                call,
                Status::Error,
                &format!("invalid arguments for tool `{name}`: {error}"),
            );
        }
        match mode {
            RunMode::Unattended => {
                self.scheduler.approve(now, call);
            }
            RunMode::Skip => self.settle(
                now,
                call,
                Status::NotRun,
                &format!("tool `{name}` is set to be skipped"),
            ),
            RunMode::Ask | RunMode::Edit => {
                let arguments = request.arguments.clone().unwrap_or_default();
                let prompt = Prompt::Approve {
                    tool: name,
                    arguments,
                };
                self.prompts.push_back(Open {
                    call,
                    execution: None,
                    prompt,
                });
            }
        }
    }

    fn settle(&mut self, now: Instant, call: CallId, status: Status, content: &str) {
        if self.scheduler.settle(now, call) {
            self.write(call, status, content);
        }
    }

    fn write(&mut self, call: CallId, status: Status, content: &str) {
        let request = &self.requests[call as usize];
        self.responses[call as usize] =
            Some(Response::new(&request.id, &request.name, status, content));
    }

    fn command(&mut self, command: Command) {
        let now = self.now();
        match command {
            Command::Submit(requests) => self.submit(requests),
            Command::Cancel => self.cancel(now),
            Command::Kill => {
                self.cancel(now);
                for active in self.active.values() {
                    active.stop.now.cancel();
                }
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
            match &event.kind {
                EventKind::Released(call, execution) => self.start(*call, *execution),
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
                EventKind::Fault(fault) => {
                    tracing::error!(target: "policy", kind = fault.kind.word(), "{fault}")
                }
                _ => {}
            }
            observer.event(&event, &self.snapshot());
        }
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            scheduler: &self.scheduler,
            record: &self.record,
            requests: &self.requests,
            responses: &self.responses,
        }
    }

    fn start(&mut self, call: CallId, execution: ExecutionId) {
        let answers = Map::new();
        self.active.insert(
            execution,
            Active {
                call,
                stop: Stop::default(),
                answers,
                runs: 0,
                asking: false,
            },
        );
        self.spawn(execution);
    }

    /// Runs a tool once: when it is released, and again with each answer.
    fn spawn(&mut self, execution: ExecutionId) {
        let Some(active) = self.active.get_mut(&execution) else {
            return;
        };
        active.runs += 1;
        let request = &self.requests[active.call as usize];
        let invocation = Invocation {
            tool: request.name.clone(),
            arguments: request.arguments.clone().unwrap_or_default(),
            answers: active.answers.clone(),
        };
        let (server, stop, timeout, done) = (
            self.server.clone(),
            active.stop.clone(),
            self.timeout,
            self.ran.0.clone(),
        );
        tokio::spawn(async move {
            let mut timed_out = false;
            let ran = {
                let run = server.run(&invocation, &stop);
                tokio::pin!(run);
                let deadline = timeout.map(|timeout| Clock::now() + timeout);
                loop {
                    tokio::select! {
                        ran = &mut run => break ran,
                        () = sleep_until(deadline.unwrap_or_else(Clock::now)), if deadline.is_some() && !timed_out => {
                            timed_out = true;
                            stop.gently.cancel();
                        }
                    }
                }
            };
            let timed_out = timed_out && ran.stopped;
            // Nobody listens once the batch is over.
            let _ = done.send(Done {
                execution,
                ran,
                timed_out,
            });
        });
    }

    fn stop(&mut self, now: Instant, execution: ExecutionId) {
        if let Some(active) = self.active.get(&execution) {
            active.stop.gently.cancel();
            if active.asking {
                // Nothing of it runs that could end by itself.
                self.end(now, execution, End::Stopped);
            }
        }
    }

    fn done(&mut self, now: Instant, done: Done) {
        let Done {
            execution,
            ran,
            timed_out,
        } = done;
        let Some(active) = self.active.get_mut(&execution) else {
            return;
        };
        let call = active.call;
        let current = self.scheduler.batch().call_of(execution) == Some(call);
        let request = &self.requests[call as usize];
        let (id, name) = (&request.id, &request.name);
        if !current {
            return self.end(now, execution, End::Stopped);
        }
        if timed_out {
            let text = format!(
                "tool `{name}` did not end within {}",
                humantime::format_duration(self.timeout.unwrap_or_default())
            );
            self.responses[call as usize] = Some(Response::new(id, name, Status::Error, text));
            return self.end(now, execution, End::Failed);
        }
        if ran.stopped {
            self.write_cancelled(call);
            return self.end(now, execution, End::Stopped);
        }
        match ran.outcome {
            Outcome::NeedsInput { question }
                if !active.stop.gently.is_cancelled() && active.runs <= QUESTIONS =>
            {
                let configured = self
                    .server
                    .tool(name)
                    .and_then(|tool| tool.answers.get(&question.id));
                if let Some(answer) = configured {
                    active.answers.insert(question.id, answer.clone());
                    return self.spawn(execution);
                }
                active.asking = true;
                self.scheduler.set_asking(now, execution, true);
                let prompt = Prompt::Question {
                    tool: name.clone(),
                    id: id.clone(),
                    question,
                };
                self.prompts.push_back(Open {
                    call,
                    execution: Some(execution),
                    prompt,
                });
            }
            outcome => {
                let response = Response::from_outcome(id, name, outcome);
                let end = if response.status == Status::Ok {
                    End::Succeeded
                } else {
                    End::Failed
                };
                self.responses[call as usize] = Some(response);
                self.end(now, execution, end);
            }
        }
    }

    fn end(&mut self, now: Instant, execution: ExecutionId, end: End) {
        self.active.remove(&execution);
        self.scheduler.end(now, execution, end);
    }

    /// The slot is free; the result may still want a review.
    fn review(&mut self, now: Instant, call: CallId) {
        let request = &self.requests[call as usize];
        let mode = self
            .server
            .tool(&request.name)
            .map_or(ResultMode::Unattended, |tool| tool.result);
        let delivered = self.responses[call as usize]
            .as_ref()
            .filter(|response| response.status == Status::Ok);
        match (mode, delivered) {
            (ResultMode::Ask | ResultMode::Edit, Some(response)) => {
                let prompt = Prompt::Review {
                    tool: request.name.clone(),
                    content: response.content.clone(),
                    edit: mode == ResultMode::Edit,
                };
                self.prompts.push_back(Open {
                    call,
                    execution: None,
                    prompt,
                });
            }
            (ResultMode::Skip, Some(_)) => {
                self.withhold(call);
                self.scheduler.respond(now, call);
            }
            _ => {
                if self.responses[call as usize].is_none() {
                    self.write_cancelled(call);
                }
                self.scheduler.respond(now, call);
            }
        }
    }

    fn reply(&mut self, open: Open, reply: Reply) {
        let now = self.now();
        let call = open.call;
        match reply {
            Reply::Approval(Approval::Run(arguments)) => {
                if let Some(arguments) = arguments {
                    self.requests[call as usize].arguments = Ok(arguments);
                }
                self.scheduler.approve(now, call);
            }
            Reply::Approval(Approval::Reject(why)) => self.settle(now, call, Status::NotRun, &why),
            Reply::Answer(answer) => {
                let (Some(execution), Prompt::Question { question, .. }) =
                    (open.execution, open.prompt)
                else {
                    return;
                };
                self.scheduler.set_asking(now, execution, false);
                match (answer, self.active.get_mut(&execution)) {
                    (Some(answer), Some(active)) => {
                        active.asking = false;
                        active.answers.insert(question.id, answer);
                        self.spawn(execution);
                    }
                    _ => {
                        let request = &self.requests[call as usize];
                        let outcome = Outcome::NeedsInput { question };
                        let response = Response::from_outcome(&request.id, &request.name, outcome);
                        self.responses[call as usize] = Some(response);
                        self.end(now, execution, End::Failed);
                    }
                }
            }
            Reply::Review(review) => {
                match review {
                    Review::Deliver => {}
                    Review::Replace(text) => self.write(call, Status::Ok, &text),
                    Review::Withhold => self.withhold(call),
                }
                self.scheduler.respond(now, call);
            }
        }
    }

    fn withhold(&mut self, call: CallId) {
        let name = self.requests[call as usize].name.clone();
        self.write(
            call,
            Status::Ok,
            &format!("tool `{name}` ran; its result is not delivered"),
        );
    }

    fn write_cancelled(&mut self, call: CallId) {
        let name = &self.requests[call as usize].name;
        let text = self
            .server
            .tool(name)
            .map_or("cancelled", |tool| tool.cancellation_response.as_str())
            .to_owned();
        self.write(call, Status::Cancelled, &text);
    }

    /// Whether nobody waits for the reply to a prompt any more.
    fn is_moot(&self, open: &Open) -> bool {
        let stage = self.scheduler.batch().get(open.call).map(|call| call.stage);
        match (&open.prompt, stage) {
            (Prompt::Approve { .. }, Some(Stage::Pending))
            | (Prompt::Review { .. }, Some(Stage::Ended { .. })) => false,
            (
                Prompt::Question { .. },
                Some(Stage::Running {
                    execution,
                    asking: true,
                }),
            ) => Some(execution) != open.execution,
            _ => true,
        }
    }
}

async fn join(asked: &mut Option<JoinHandle<(Answer, Duration)>>) -> (Answer, Duration) {
    match asked {
        Some(asked) => asked
            .await
            .unwrap_or_else(|error| match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(error) => unreachable!("nobody aborts a question: {error}"),
            }),
        None => std::future::pending().await,
    }
}

async fn reply<'a>(
    open: &mut Option<(Open, Pin<Box<dyn Future<Output = Reply> + Send + 'a>>)>,
) -> Reply {
    match open {
        Some((_, reply)) => reply.await,
        None => std::future::pending().await,
    }
}
