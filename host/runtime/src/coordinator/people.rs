//! What people are asked, in the order in which it arose.

use std::{future::Future, pin::Pin, sync::Arc};

use serde_json::{Map, Value as Json};

use crate::tools::Question;

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
        /// The tool.
        tool: Arc<str>,
        /// The id of the call.
        id: Arc<str>,
        /// The result.
        content: String,
        /// Whether it may be edited.
        edit: bool,
    },
}

impl Prompt {
    /// What kind of prompt it is, for a log.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Approve { .. } => "asks for approval",
            Self::Question { .. } => "asks a call's question",
            Self::Review { .. } => "asks for a review",
        }
    }
}

/// What a person says.
#[derive(Debug, Clone)]
pub enum Reply {
    /// To [`Prompt::Approve`].
    Approval(Approval),
    /// To [`Prompt::Question`]; none: the question was dismissed.
    Answer(Option<Json>),
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

/// Asks people. The future may be dropped at any time: then the prompt is closed, and a late reply has no effect.
pub trait People: Send + Sync {
    /// Asks, and waits for the reply.
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>>;

    /// Whether a prompt waits for the reply to the one before it, as on a screen. If not, everything is asked as soon as it arises.
    fn one_at_a_time(&self) -> bool {
        true
    }
}

/// Nobody is there to be asked: calls are approved or rejected as said, questions get their own default or no answer, results
/// are delivered.
#[derive(Debug, Clone, Copy)]
pub struct Nobody {
    /// Whether calls that need approval are approved.
    pub approve: bool,
}

impl People for Nobody {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        let reply = match prompt {
            Prompt::Approve { .. } if self.approve => Reply::Approval(Approval::Run(None)),
            Prompt::Approve { tool, .. } => Reply::Approval(Approval::Reject(format!(
                "tool `{tool}` runs after approval only, and there was nobody to ask"
            ))),
            Prompt::Question { question, .. } => Reply::Answer(question.default),
            Prompt::Review { .. } => Reply::Review(Review::Deliver),
        };
        Box::pin(std::future::ready(reply))
    }
}
