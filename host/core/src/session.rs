//! The session: the Host's whole behaviour for one batch, without I/O, clock or task.
//!
//! A [`Scheduler`] knows when calls start; a session knows all else that happens to them: how a tool call becomes calls, who approves
//! them, what a run of a tool means, questions, the stop gate, reviews, cancelling, restarting, and the one response that every
//! tool call gets. However a call ends (a result, a failure, a timeout, a cancel, a rejection, a restart), it comes by here.
//!
//! It is driven like this, by the program on tokio and by the simulator alike:
//!
//! 1. Tell it what happened, with [`handle`](Session::handle) and the time. What happened together may be told together.
//! 2. Do what [`poll_action`](Session::poll_action) says until it says nothing.
//! 3. Call [`poll_question`](Session::poll_question). If it gives a [`PolicyQuestion`], ask it, here or on
//!    another thread, hand the answer to [`Input::Decided`], and go back to 2. Asking is apart from the actions so that one
//!    decision answers all that happened together. After a fault the default rules decide instead, so there may be actions
//!    although there was no question.
//! 4. Wait for the next thing to happen, at most until [`poll_timeout`](Session::poll_timeout), and go back to 1. Extra wake-ups
//!    do nothing.
//!
//! It is over when [`is_over`](Session::is_over) says so.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jp_policy_core::{
//!     catalog::{Catalog, Terms},
//!     outcome::Outcome,
//!     policy::{Arguments, Native, PolicyFactory},
//!     request::Request,
//!     session::{Action, Input, Session, Setup},
//! };
//! use jp_policy_guest::Settings;
//!
//! /// Tools on whose calls nobody is asked.
//! struct Tools;
//!
//! impl Catalog for Tools {
//!     fn terms(&self, _: &Request) -> Option<Terms<'_>> {
//!         Some(Terms::default())
//!     }
//! }
//!
//! let settings = Settings { tools: vec![], keys: vec![], options: vec![] };
//! let mut session = Session::new(Setup {
//!     settings: &settings,
//!     factory: &Native::rules(),
//!     options: Default::default(),
//!     carried: Default::default(),
//!     catalog: Arc::new(Tools),
//!     one_prompt_at_a_time: true,
//! })?;
//! let request = Request { id: "a".into(), name: "echo".into(), arguments: Ok(Arc::default()) };
//! session.handle(0, Input::Submit(vec![request.into()]));
//! let mut responses = Vec::new();
//! let mut now = 0;
//! while !session.is_over() {
//!     while let Some(action) = session.poll_action(now) {
//!         match action {
//!             Action::Run(run) => {
//!                 now += 1_000_000;
//!                 let end = Outcome::Success { content: "done".to_owned() }.into();
//!                 session.handle(now, Input::Ran { execution: run.execution, end });
//!             }
//!             Action::Respond(place) => {
//!                 responses.extend(session.hand_over(place).map(|handover| handover.response));
//!             }
//!             _ => {}
//!         }
//!     }
//!     if let Some(question) = session.poll_question(now) {
//!         session.handle(now, Input::Decided(question.ask()));
//!     }
//! }
//! assert_eq!(responses[0].content, "done");
//! # Ok::<(), jp_policy_core::policy::Refusal>(())
//! ```

mod calls;
mod executions;
mod intake;
mod io;
mod prompts;
mod replies;
mod runs;
mod state;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use jp_policy_guest::Settings;

use crate::{
    batch::{CallId, Carried, ExecutionId, Instant},
    catalog::Catalog,
    description::CallDescription,
    policy::{Arguments, PolicyFactory, Refusal},
    request::Request,
    response::{Response, Status},
    scheduler::{Event, EventKind, Options, PolicyQuestion, Scheduler, Settlement},
    settings,
};

use calls::Calls;
use prompts::Prompts;
use state::State;

pub use io::{Action, Handover, Input, PromptId, Run, Submission};

/// What a session is made of.
pub struct Setup<'a> {
    /// The tools and keys of the configuration.
    pub settings: &'a Settings,
    /// Makes the policy of the batch.
    pub factory: &'a dyn PolicyFactory,
    /// How the policy is treated.
    pub options: Options,
    /// What earlier batches left in flight.
    pub carried: Carried,
    /// What is known of the tools.
    pub catalog: Arc<dyn Catalog>,
    /// Whether a prompt waits for the reply to the one before it, as on a screen. If not, each is asked as soon as it arises.
    pub one_prompt_at_a_time: bool,
}

/// The behaviour of the Host for one batch. See the module's documentation for how it is driven.
pub struct Session(State);

impl Session {
    /// An empty session. Settings that do not hold together, or that the policy does not take, are refused here, before any call
    /// comes.
    pub fn new(setup: Setup<'_>) -> Result<Self, Refusal> {
        let Setup { settings, factory, options, carried, catalog, one_prompt_at_a_time } = setup;
        settings::check(settings).map_err(Refusal::Settings)?;
        let arguments = Arguments::default();
        let policy = factory.instantiate(settings, arguments.clone())?;
        let identity = factory.identity().clone();
        Ok(Self(State {
            scheduler: Scheduler::new(settings, identity, policy, options, carried),
            catalog,
            tools: settings.tools.iter().map(|tool| tool.name.clone()).zip(0..).collect(),
            arguments,
            calls: Calls::default(),
            executions: HashMap::default(),
            prompts: Prompts::new(one_prompt_at_a_time),
            actions: VecDeque::new(),
            message: None,
        }))
    }

    /// Takes in what happened.
    pub fn handle(&mut self, now: Instant, input: Input) {
        match input {
            Input::Submit(submissions) => self.0.submit(now, submissions),
            Input::Ran { execution, end } => self.0.ran(now, execution, end),
            Input::Asks { execution, number, question } => {
                self.0.asks(now, execution, number, question);
            }
            Input::Withdraws { execution, number } => self.0.withdraws(now, execution, number),
            Input::Replied { prompt, reply } => self.0.replied(now, prompt, reply),
            Input::Decided(answer) => self.0.scheduler.answer(now, answer),
            Input::SetOpen(open) => self.0.scheduler.set_open(open),
            Input::Withdraw(ticket) => self.withdraw(now, ticket),
            Input::Cancel(message) => self.cancel(now, message),
            Input::Restart => {
                self.catch_up(now);
                self.0.scheduler.restart(now);
            }
        }
    }

    /// What has to be done next, or is worth knowing; none: nothing, until more happens.
    pub fn poll_action(&mut self, now: Instant) -> Option<Action> {
        if let Some(action) = self.0.actions.pop_front() {
            return Some(action);
        }
        if let Some(event) = self.0.scheduler.poll_event() {
            self.react(now, &event);
            return Some(Action::Event(event));
        }
        let (id, prompt) = self.0.prompts.open()?;
        Some(Action::Prompt { id, prompt: Box::new(prompt) })
    }

    /// Takes out the tool call at this place, if it is over: the session lets go of what it knew of it. None: it is not over, or
    /// was taken out before.
    pub fn hand_over(&mut self, place: usize) -> Option<Handover> {
        self.0.calls.hand_over(place)
    }

    /// The next question for the policy, if there is one now. Its answer is handed to [`Input::Decided`].
    pub fn poll_question(&mut self, now: Instant) -> Option<PolicyQuestion> {
        self.0.scheduler.poll_question(now)
    }

    /// When to call [`poll_question`](Self::poll_question) again even if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.0.scheduler.poll_timeout()
    }

    /// Whether every call has its response, nothing of any runs, and nobody is asked.
    pub fn is_over(&self) -> bool {
        self.0.scheduler.is_settled()
            && !self.0.scheduler.has_events()
            && self.0.executions.is_empty()
            && self.0.prompts.is_empty()
            && self.0.actions.is_empty()
    }

    /// Where the calls stand, and why they wait.
    pub fn scheduler(&self) -> &Scheduler {
        &self.0.scheduler
    }

    /// What is still in flight, for the next batch.
    pub fn into_carried(self) -> Carried {
        self.0.scheduler.into_carried()
    }

    /// A call as it is run: an operation apart, arguments as a person has edited them. None after it was handed over.
    pub fn request(&self, call: CallId) -> Option<&Request> {
        self.0.calls.request(call)
    }

    /// A call's response, from when it has one until it is handed over.
    pub fn response(&self, call: CallId) -> Option<&Response> {
        self.0.calls.get(call)?.response.as_ref()
    }

    /// The id of the tool call that a call is an operation of, if it is one.
    pub fn operation_of(&self, call: CallId) -> Option<&str> {
        self.0.calls.operation_of(call)
    }

    /// Whether a call was released and not run, because another operation of its tool call had failed or was cancelled.
    pub fn is_gated(&self, call: CallId) -> bool {
        self.0.calls.get(call).is_some_and(|slot| slot.gated)
    }

    /// The call that an execution is the current one of.
    pub fn call_of(&self, execution: ExecutionId) -> Option<CallId> {
        self.0.scheduler.batch().call_of(execution)
    }

    /// What a record says of a call.
    pub fn describe(&self, call: CallId) -> Option<CallDescription> {
        let (slot, known) = (self.0.calls.get(call)?, self.0.scheduler.batch().get(call)?);
        Some(CallDescription {
            label: slot.title.clone(),
            tool: known.tool,
            key: known.key,
            parent: slot.parent,
        })
    }

    /// Does what follows from an event.
    fn react(&mut self, now: Instant, event: &Event) {
        match &event.kind {
            EventKind::Parked(call) | EventKind::Answered(call) => {
                self.0.drop_moot_prompt(*call);
            }
            EventKind::Released(call, execution) => self.0.start(now, *call, *execution),
            EventKind::Stop(execution) => self.0.stop(now, *execution),
            EventKind::Ended(Some(call), ..) => {
                self.0.drop_moot_prompt(*call);
                self.0.review(now, *call);
            }
            EventKind::Restarted(call) => {
                self.0.drop_moot_prompt(*call);
                self.0.calls.renew_gate(*call);
                if let Some(slot) = self.0.calls.get_mut(*call) {
                    (slot.response, slot.gated) = (None, false);
                }
                self.0.prepare(now, *call);
            }
            EventKind::Settled(call, settlement) => {
                self.0.drop_moot_prompt(*call);
                match settlement {
                    Settlement::Cancelled => self.0.respond_cancelled(*call),
                    Settlement::PolicyFault => {
                        let text = format!(
                            "not run: release policy \"{}\" failed, and `conversation.release.on_fault` is \"settle\"",
                            self.0.scheduler.identity()
                        );
                        self.0.calls.respond(*call, Status::Error, text);
                    }
                    Settlement::Responded | Settlement::NotRun => {}
                }
                if let Some(place) = self.0.calls.settled(*call) {
                    self.0.act(Action::Respond(place));
                }
            }
            EventKind::Ended(None, ..)
            | EventKind::Submitted(_)
            | EventKind::Asked(_)
            | EventKind::Cancelled
            | EventKind::Decided(_)
            | EventKind::Fault(_) => {}
        }
    }

    /// Does what follows from all that has happened so far, before something undoes it: what has ended keeps its real result.
    fn catch_up(&mut self, now: Instant) {
        while let Some(event) = self.0.scheduler.poll_event() {
            // What follows from an event comes out after it.
            let later = std::mem::take(&mut self.0.actions);
            self.react(now, &event);
            let follows = std::mem::replace(&mut self.0.actions, later);
            self.0.act(Action::Event(event));
            self.0.actions.extend(follows);
        }
    }

    /// Cancels a tool call that somebody waits for.
    fn withdraw(&mut self, now: Instant, ticket: u64) {
        self.catch_up(now);
        // One that has its response already is nobody's to take back.
        for call in self.0.calls.of_ticket(ticket) {
            self.0.scheduler.withdraw(now, call);
            // What is under review keeps its result, as when all is cancelled.
            self.0.scheduler.respond(now, call);
        }
    }

    /// Results that are under review are delivered as they are: what has finished keeps its real result.
    fn cancel(&mut self, now: Instant, message: Option<String>) {
        self.catch_up(now);
        self.0.message = self.0.message.take().or(message);
        self.0.scheduler.cancel(now);
        for call in (0..).take(self.0.calls.len()) {
            self.0.scheduler.respond(now, call);
        }
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
