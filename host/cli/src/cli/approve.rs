//! Asks the person at the terminal whether a call may run.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use inquire::{InquireError, Text, validator::Validation};
use jp_policy_core::prompt::Approval;
use jp_policy_core::text::{clean, clean_lines};
use serde_json::{Map, Value as Json};

use super::{editing::edited, say};

/// How many lines of a call's arguments are shown: a file that is written whole would push the rest off the screen.
const LINES: usize = 40;

/// What was said about all calls of a tool; it holds for the batch.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<HashMap<String, bool>>);

impl Remembered {
    /// The approval of a tool that need not be asked about any more.
    pub(super) fn of(&self, tool: &str) -> Option<Approval> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(tool).map(|run| if *run { Approval::Run(None) } else { rejected("") })
    }

    fn keep(&self, tool: &str, run: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned(), run);
    }
}

/// What a person types.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    Run,
    /// With what the assistant is told.
    Reject(String),
    Edit,
    /// The same for all calls of the tool.
    Always(bool),
}

impl Choice {
    /// Nothing at all is a no: what runs was said to.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        Some(match text {
            "y" | "yes" => Self::Run,
            "" | "n" | "no" => Self::Reject(String::new()),
            "e" | "edit" => Self::Edit,
            "Y" => Self::Always(true),
            "N" => Self::Always(false),
            _ => Self::Reject(text.strip_prefix("n ")?.trim().to_owned()),
        })
    }
}

/// Shows the call and asks; with `edit`, by its arguments only. An error means that the person left the prompt.
pub(super) fn approve(
    tool: &str,
    arguments: &Map<String, Json>,
    edit: bool,
    problem: Option<&str>,
    remembered: &Remembered,
) -> Result<Approval, InquireError> {
    let name = clean(tool);
    say(&name);
    for line in shown(arguments) {
        say(&format!("  {line}"));
    }
    if let Some(problem) = problem {
        say(&format!("these arguments don't do: {}", clean(problem)));
    }
    if edit {
        return with_edited(&name, arguments);
    }
    let help = format!(
        "y: run, n: don't, n REASON: don't, and say why, e: edit the arguments, Y or N: the same for every call of {name}"
    );
    let typed = Text::new(&format!("Run {name}? [y/n/e/Y/N]"))
        .with_help_message(&help)
        .with_validator(|text: &str| {
            Ok(match Choice::read(text) {
                Some(_) => Validation::Valid,
                None => Validation::Invalid("y, n, n REASON, e, Y or N".into()),
            })
        })
        .prompt()?;
    match Choice::read(&typed) {
        Some(Choice::Run) => Ok(Approval::Run(None)),
        Some(Choice::Edit) => with_edited(&name, arguments),
        Some(Choice::Always(run)) => {
            remembered.keep(tool, run);
            Ok(if run { Approval::Run(None) } else { rejected("") })
        }
        Some(Choice::Reject(why)) => Ok(rejected(&why)),
        None => Ok(rejected("")),
    }
}

/// The arguments for people, one a line; texts of several lines as such.
fn shown(arguments: &Map<String, Json>) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in arguments {
        let name = clean(name);
        match value {
            Json::String(text) if text.trim_end().contains('\n') => {
                lines.push(format!("{name}:"));
                lines.extend(clean_lines(text.trim_end()).map(|line| format!("  | {line}")));
            }
            value => lines.push(format!("{name}: {}", clean(&value.to_string()))),
        }
    }
    let more = lines.len().saturating_sub(LINES);
    if more > 1 {
        lines.truncate(LINES);
        lines.push(format!("... {more} more lines; e shows them all"));
    }
    lines
}

/// Lets the person change the arguments; the call runs with what they are then.
fn with_edited(name: &str, arguments: &Map<String, Json>) -> Result<Approval, InquireError> {
    // A map of JSON values can always be written.
    let text = serde_json::to_string(arguments).unwrap_or_default();
    let check = |text: &str| object(text).map(|_| ());
    let edited = edited(&format!("Run {name} with:"), &text, ".json", check)?;
    Ok(object(&edited).map_or_else(|why| rejected(&why), |edited| Approval::Run(Some(edited))))
}

fn object(text: &str) -> Result<Map<String, Json>, String> {
    serde_json::from_str(text).map_err(|error| format!("expected a JSON object: {error}"))
}

/// The response of a call that a person does not want.
pub(super) fn rejected(why: &str) -> Approval {
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    Approval::Reject(format!("rejected by the user{why}"))
}

#[cfg(test)]
#[path = "approve_tests.rs"]
mod tests;
