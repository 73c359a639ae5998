//! What a local tool says on its standard output: jp's protocol.

use std::io;

use serde::Deserialize;
use serde_json::Value as Json;

use super::process::{Captured, Exit};

/// What came of one run of a tool.
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
    /// It asks; it is to be run again with the answer.
    NeedsInput {
        /// What it asks.
        question: Question,
    },
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

impl Outcome {
    /// A failure without causes.
    pub fn error(message: impl Into<String>) -> Self {
        Self::Error { message: message.into(), trace: Vec::new(), transient: false }
    }

    /// Reads what a process left behind.
    ///
    /// Its standard output is one outcome as JSON, or plain text: the result if the process succeeded. A process that failed
    /// and gave no outcome is an error with the end of its standard error in it.
    pub(super) fn read(tool: &str, exit: &Exit) -> Self {
        let Captured { bytes, total, failure, .. } = &exit.stdout;
        let unusable = |message: String| Self::Error {
            message,
            trace: vec![format!("it begins: {}", begin(&String::from_utf8_lossy(bytes)))],
            transient: false,
        };
        let unkept = |error: &io::Error| {
            unusable(format!(
                "tool `{tool}` wrote {} to its standard output, which could not be kept: {error}",
                size(*total)
            ))
        };
        if let Some(error) = failure {
            return unkept(error);
        }
        if exit.stdout.is_cut() {
            return unusable(format!(
                "tool `{tool}` wrote {} to its standard output, over the limit of {}",
                size(*total),
                size(exit.stdout.kept())
            ));
        }
        let whole = match exit.stdout.read_back() {
            Ok(whole) => whole,
            Err(error) => return unkept(&error),
        };
        let text = match std::str::from_utf8(&whole) {
            Ok(text) => text,
            Err(error) => {
                return unusable(format!(
                    "tool `{tool}` wrote output that is not UTF-8 (byte {} of {})",
                    error.valid_up_to(),
                    whole.len()
                ));
            }
        };
        // Only what can be an outcome is tried: a tool may print 16 MiB of anything else.
        if text.trim_start().starts_with('{')
            && let Ok(outcome) = serde_json::from_str(text)
        {
            return outcome;
        }
        if exit.success {
            return Self::Success { content: text.to_owned() };
        }
        let mut trace = Vec::new();
        let errors = exit.stderr.text_end();
        if !errors.is_empty() {
            trace.push(errors);
        }
        if !text.trim().is_empty() {
            trace.push(format!("standard output: {}", begin(text)));
        }
        Self::Error {
            message: format!("tool `{tool}` failed: {}", exit.status),
            trace,
            transient: false,
        }
    }
}

fn size(bytes: u64) -> String {
    bytesize::ByteSize(bytes).to_string()
}

fn begin(text: &str) -> String {
    const SHOWN: usize = 200;
    let mut shown: String = text.trim().chars().take(SHOWN).collect();
    if text.trim().chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
