//! What people are asked about calls, and what they reply.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::{outcome::Question, response::Response};

/// What a person is asked.
#[derive(Debug, Clone)]
pub enum Prompt {
    /// May this call run?
    Approve {
        /// The tool.
        tool: Arc<str>,
        /// The id of the call.
        id: Arc<str>,
        /// Its arguments.
        arguments: Map<String, Json>,
        /// Whether they are to be edited first.
        edit: bool,
        /// What is wrong with them, where a person has edited them before.
        problem: Option<String>,
    },
    /// A running call asks.
    Question {
        /// The tool.
        tool: Arc<str>,
        /// The id of the call.
        id: Arc<str>,
        /// What it asks.
        question: Question,
    },
    /// May this result be delivered?
    Review {
        /// The result, with the tool and the id of the call. A large one is read where it is shown: see [`Response::text`].
        response: Response,
        /// Whether it may be edited.
        edit: bool,
    },
}

impl Prompt {
    /// The tool and the id of the call that it is about.
    pub fn subject(&self) -> (&Arc<str>, &Arc<str>) {
        match self {
            Self::Approve { tool, id, .. } | Self::Question { tool, id, .. } => (tool, id),
            Self::Review { response, .. } => (&response.name, &response.id),
        }
    }
}

/// What a person says.
#[derive(Debug, Clone)]
pub enum Reply {
    /// To [`Prompt::Approve`].
    Approval(Approval),
    /// To [`Prompt::Question`].
    Answer(Answer),
    /// To [`Prompt::Review`].
    Review(Review),
    /// To any: nothing yet. It is asked again, unless nobody waits for the reply any more.
    Again,
}

/// Whether a call may run.
#[derive(Debug, Clone)]
pub enum Approval {
    /// It may, perhaps with other arguments.
    Run(Option<Map<String, Json>>),
    /// It may not; the response says so, and why.
    Reject(String),
}

/// What becomes of a question. A run that goes on while it asks hears only whether there is an answer, and ends as it likes.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A person, or whatever stands in for one, gives this answer.
    Given(Json),
    /// A person was asked and does not want to answer: the call is cancelled.
    Dismissed,
    /// There was nobody to ask: the call fails.
    Unanswered,
}

impl Answer {
    /// The answer, if there is one.
    pub fn given(self) -> Option<Json> {
        match self {
            Self::Given(answer) => Some(answer),
            Self::Dismissed | Self::Unanswered => None,
        }
    }
}

/// What becomes of a result.
#[derive(Debug, Clone)]
pub enum Review {
    /// It is delivered as it is.
    Deliver,
    /// This is delivered instead.
    Replace(String),
    /// It is not delivered.
    Withhold,
}
