//! What a local tool says on its standard output: jp's protocol.

use std::io;

use jp_policy_core::outcome::Outcome;

use super::{captured::Captured, process::Exit};

/// Reads what a process left behind.
///
/// Its standard output is one outcome as JSON, or plain text: the result if the process succeeded. A process that failed
/// and gave no outcome is an error with the end of its standard error in it.
pub(super) fn read_outcome(tool: &str, exit: &Exit) -> Outcome {
    let Captured { bytes, total, failure, .. } = &exit.stdout;
    let unusable = |message: String| Outcome::Error {
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
        return Outcome::Success { content: text.to_owned() };
    }
    let mut trace = Vec::new();
    let errors = exit.stderr.text_end();
    if !errors.is_empty() {
        trace.push(errors);
    }
    if !text.trim().is_empty() {
        trace.push(format!("standard output: {}", begin(text)));
    }
    Outcome::Error {
        message: format!("tool `{tool}` failed: {}", exit.status),
        trace,
        transient: false,
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
