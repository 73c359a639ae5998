//! What came of one run of a tool, as whoever ran it says.

use serde::Deserialize;
use serde_json::Value as Json;

/// What came of one run of a tool. The form in which it is read is jp's protocol for local tools.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outcome {
    /// A result.
    Success {
        /// Its text.
        content: String,
    },
    /// A failure.
    Error {
        /// What went wrong.
        message: String,
        /// Where it came from, the nearest cause first.
        #[serde(default)]
        trace: Vec<String>,
        /// Whether trying again may help.
        #[serde(default)]
        transient: bool,
    },
    /// The tool asks; it is to be run again with the answer.
    NeedsInput {
        /// What it asks.
        question: Question,
    },
}

impl Outcome {
    /// A failure without causes.
    pub fn error(message: impl Into<String>) -> Self {
        Self::Error { message: message.into(), trace: Vec::new(), transient: false }
    }
}

/// What a tool asks a person.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Question {
    /// Under which name the tool wants the answer.
    pub id: String,
    /// The question, one line.
    pub text: String,
    /// What to show before it.
    #[serde(default, alias = "preamble")]
    pub pre_amble: Option<String>,
    /// What kind of answer it takes.
    #[serde(default)]
    pub answer_type: AnswerType,
    /// The answer where nobody gives one.
    #[serde(default)]
    pub default: Option<Json>,
}

/// What kind of answer a question takes.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub enum AnswerType {
    /// Yes or no.
    #[serde(alias = "boolean")]
    Boolean,
    /// One of these.
    #[serde(alias = "select")]
    Select {
        /// Which.
        options: Vec<String>,
    },
    /// Any text.
    #[default]
    #[serde(alias = "text")]
    Text,
}
