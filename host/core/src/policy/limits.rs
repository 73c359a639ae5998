//! What a policy may cost, as far as somebody has said so.

use std::time::Duration;

/// What a plugin may cost; what is not given keeps the host's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PluginLimits {
    /// Instructions for one question.
    pub fuel: Option<u64>,
    /// Instructions to start and to be configured, each.
    pub start_fuel: Option<u64>,
    /// Wall-clock time for one question.
    pub time: Option<Duration>,
    /// Bytes of memory.
    pub memory: Option<usize>,
    /// Elements of all tables.
    pub table: Option<usize>,
    /// Core instances, memories and tables, each.
    pub instances: Option<usize>,
    /// Bytes of one answer.
    pub answer: Option<usize>,
    /// Bytes of the file.
    pub file: Option<u64>,
    /// Lines of log for one question.
    pub log_lines: Option<u32>,
}
