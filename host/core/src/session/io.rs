//! What goes into a session, and what comes out of it.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use smallvec::SmallVec;

use crate::{
    batch::{CallId, ExecutionId},
    gate::Gate,
    outcome::Question,
    prompt::{Prompt, Reply},
    request::Request,
    response::Response,
    run_end::RunEnd,
    scheduler::{Event, PolicyAnswer},
};

/// Something that happened outside of the session.
pub enum Input {
    /// Tool calls came in, at the end of the written order.
    Submit(Vec<Submission>),
    /// One run of an execution is over: nothing of it is there any more. Told exactly once for each [`Action::Run`]. For an
    /// execution that an earlier batch left in flight, it is told when that is gone.
    Ran {
        /// Which.
        execution: ExecutionId,
        /// How it ended.
        end: RunEnd,
    },
    /// A run that goes on asks. It gets one [`Action::Answer`].
    Asks {
        /// Which execution.
        execution: ExecutionId,
        /// The number of the question among those of the execution.
        number: u32,
        /// What it asks.
        question: Question,
    },
    /// A run that goes on does not wait for the answer to its question any more.
    Withdraws {
        /// Which execution.
        execution: ExecutionId,
        /// The number of the question.
        number: u32,
    },
    /// A person has replied to an [`Action::Prompt`].
    Replied {
        /// Which prompt.
        prompt: PromptId,
        /// What the person says.
        reply: Reply,
    },
    /// The policy has answered the question of [`Session::poll_question`](super::Session::poll_question).
    Decided(PolicyAnswer),
    /// Whether more calls are being written. While they are, nothing starts.
    SetOpen(bool),
    /// Nobody wants the tool call with this ticket any more.
    Withdraw(u64),
    /// The batch is cancelled, with what the calls that are cut short answer, if not their tool's own words.
    Cancel(Option<String>),
    /// Every call without a response is prepared again.
    Restart,
}

/// A tool call that comes in.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The tool call, as the assistant wrote it.
    pub request: Request,
    /// What it answered before the program was started, or what each of its operations did. What has a response is not run again.
    pub responses: Vec<Option<Response>>,
    /// A number by which its response is told apart; none: nobody waits for it alone.
    pub ticket: Option<u64>,
    /// For a driver that takes tool calls apart itself: the place of the tool call that this is one operation of. A place that no
    /// tool call has yet is a new one. It takes operations until all it has are settled.
    pub operation_of: Option<usize>,
}

impl From<Request> for Submission {
    fn from(request: Request) -> Self {
        Self { request, responses: Vec::new(), ticket: None, operation_of: None }
    }
}

/// Something to be done outside of the session, or worth knowing. What is large stands in a box: actions are moved several times, and
/// most are small.
#[derive(Debug)]
pub enum Action {
    /// Something happened: for records and whoever watches. What follows from it is done by other actions.
    Event(Event),
    /// Run a tool once, and tell [`Input::Ran`] when nothing of the run is there any more.
    Run(Box<Run>),
    /// Ask the run of this execution to stop. It has not ended before [`Input::Ran`] says so.
    Stop(ExecutionId),
    /// The answer to [`Input::Asks`]; none: there is none, and will be none.
    Answer {
        /// Which execution asked.
        execution: ExecutionId,
        /// The number of the question.
        number: u32,
        /// The answer.
        answer: Option<Json>,
    },
    /// Ask a person, and tell [`Input::Replied`].
    Prompt {
        /// Which prompt it is.
        id: PromptId,
        /// What to ask.
        prompt: Box<Prompt>,
    },
    /// Nobody waits for the reply to this prompt any more. A reply that comes nevertheless does nothing.
    ClosePrompt(PromptId),
    /// A tool call has its response: the one at this place among the tool calls, in written order. It can be looked at until
    /// [`hand_over`](super::Session::hand_over) takes it out.
    Respond(usize),
}

/// A run to be started.
#[derive(Debug, Clone)]
pub struct Run {
    /// The execution that it is a run of. A call that asks and ends is run again as the same execution.
    pub execution: ExecutionId,
    /// The call.
    pub call: CallId,
    /// The tool's configured name.
    pub tool: Arc<str>,
    /// Its arguments, checked.
    pub arguments: Arc<Map<String, Json>>,
    /// All answers so far, by question id.
    pub answers: Map<String, Json>,
    /// To be [entered](Gate::enter) by the first run, and told of the end of each before the session is.
    pub gate: Option<Gate>,
    /// Whether it is the first run of its execution.
    pub first: bool,
}

/// A tool call that is over.
#[derive(Debug)]
pub struct Handover {
    /// Its ticket.
    pub ticket: Option<u64>,
    /// Its calls in the batch: itself, or its operations.
    pub calls: SmallVec<[CallId; 2]>,
    /// These calls as they were run: arguments as a person has edited them.
    pub requests: SmallVec<[Request; 1]>,
    /// The response.
    pub response: Response,
}

/// A prompt. Unique within its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromptId(pub(super) u64);
