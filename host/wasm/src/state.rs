//! The data of a store, which is what an instance has of the host: the arguments of the calls, a log, its budget.

use jp_policy_core::{policy::Arguments, text::clean_to};

use super::budget::{Budget, Limiter};

/// Characters of one line of log; a longer one is cut.
const LOG_LINE: usize = 1000;

/// How much a line of log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Debug,
    Info,
    Warn,
    Error,
    /// The last words of a plugin that is about to trap.
    Panic,
}

pub(super) struct HostState {
    pub(super) limiter: Limiter,
    arguments: Arguments,
    /// The last words of a plugin that is about to trap.
    panic: Option<String>,
    lines: u32,
    log_lines: u32,
    dropped: u64,
}

impl HostState {
    pub(super) fn new(budget: Budget, arguments: Arguments) -> Self {
        Self {
            limiter: Limiter::new(budget),
            arguments,
            panic: None,
            lines: 0,
            log_lines: budget.log_lines,
            dropped: 0,
        }
    }

    /// A question is over: what it wrote too much is counted, and last words that were none are an error.
    pub(super) fn end_question(&mut self) {
        if let Some(message) = self.panic.take() {
            tracing::error!(target: "policy", "{message}");
        }
        if self.dropped > 0 {
            tracing::warn!(target: "policy", dropped = self.dropped, "the policy wrote more log than it may");
        }
        self.lines = 0;
        self.dropped = 0;
    }

    pub(super) fn take_panic(&mut self) -> Option<String> {
        self.panic.take()
    }

    pub(super) fn arguments(&self, call: u32) -> Option<String> {
        self.arguments.get(call).map(|json| json.to_string())
    }

    pub(super) fn log(&mut self, level: Level, message: &str) {
        if level == Level::Panic {
            if let Some(earlier) = self.panic.replace(clean_to(message, LOG_LINE)) {
                self.write(Level::Error, &earlier);
            }
            return;
        }
        self.write(level, message);
    }

    fn write(&mut self, level: Level, message: &str) {
        if self.lines >= self.log_lines {
            self.dropped += 1;
            return;
        }
        self.lines += 1;
        let message = clean_to(message, LOG_LINE);
        match level {
            Level::Debug => tracing::debug!(target: "policy", "{message}"),
            Level::Info => tracing::info!(target: "policy", "{message}"),
            Level::Warn => tracing::warn!(target: "policy", "{message}"),
            Level::Error | Level::Panic => tracing::error!(target: "policy", "{message}"),
        }
    }
}
