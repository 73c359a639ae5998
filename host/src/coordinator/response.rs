//! What a call answers to the assistant.

use serde::{Deserialize, Serialize};

use crate::server::Outcome;

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It gave a result.
    Ok,
    /// It failed, or could not be run.
    Error,
    /// It was not run, because somebody or the configuration said so.
    NotRun,
    /// It was cancelled.
    Cancelled,
}

/// A call's response. Every call gets exactly one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// The id of the call.
    pub id: String,
    /// Its tool.
    pub name: String,
    /// How it came out.
    pub status: Status,
    /// The result, or what there is to say instead.
    pub content: String,
    /// Whether trying again may help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
}

impl Response {
    pub(super) fn new(id: &str, name: &str, status: Status, content: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            status,
            content: content.into(),
            transient: false,
        }
    }

    /// What an execution's outcome says. A question that nobody answered is a failure.
    pub(super) fn from_outcome(id: &str, name: &str, outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success { content } => Self::new(id, name, Status::Ok, content),
            Outcome::Error { message, trace, transient } => {
                let content = std::iter::once(message).chain(trace).collect::<Vec<_>>().join("\n");
                Self { transient, ..Self::new(id, name, Status::Error, content) }
            }
            Outcome::NeedsInput { question } => {
                let content = format!(
                    "tool `{name}` asks {:?} and nobody answered; set `questions.{}.answer` to answer it without a person",
                    question.text, question.id
                );
                Self::new(id, name, Status::Error, content)
            }
        }
    }
}
