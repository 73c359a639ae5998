//! What a policy may cost.

use std::time::Duration;

use jp_policy_core::policy::PluginLimits;
use wasmtime::ResourceLimiter;

/// What a policy may cost. Every number can be set per plugin: `plugins.wasm.<name>.limits` in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Instructions for one question. The real budget: it is deterministic, so it replays.
    ///
    /// A native guest spends 5,000 on 16 calls in view and 180,000 on 1,024; scripting guests 500 times as much (Python 22
    /// million on 1,024 calls). Half a billion lets all of them work with room, and an endless loop spends it in a fraction of
    /// a second, before the time is up: the same on every machine.
    pub fuel: u64,
    /// Instructions to start, and to be configured: runtimes of scripting languages set themselves up then.
    pub start_fuel: u64,
    /// Wall-clock time for one question: the backstop for what costs little fuel and much time, host calls above all.
    ///
    /// Nothing but releases waits for a policy, so it can be generous: on a busy machine a Python guest took more than a quarter
    /// of a second to start.
    pub time: Duration,
    /// Bytes of all linear memories. Python guests start with 16 MiB; four times that is room to work.
    pub memory: usize,
    /// Elements of all tables: the functions of the largest scripting guests (SpiderMonkey has 12,000) with room.
    pub table: usize,
    /// Core instances, memories and tables, each: a component of one module has 2 to 6 with its shims; scripting guests 20.
    pub instances: usize,
    /// Bytes of one answer: 4 bytes an id, so a release of 250,000 calls.
    pub answer: usize,
    /// Bytes of the file: Python guests have 18 MB.
    pub file: u64,
    /// Lines of log for one question: more than anybody reads of one decision.
    pub log_lines: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            fuel: 500_000_000,
            start_fuel: 1_000_000_000,
            time: Duration::from_secs(2),
            memory: 64 << 20,
            table: 100_000,
            instances: 64,
            answer: 1 << 20,
            file: 128 << 20,
            log_lines: 100,
        }
    }
}

impl Budget {
    /// The default budget with what the configuration says otherwise.
    #[must_use]
    pub fn with(self, limits: PluginLimits) -> Self {
        Self {
            fuel: limits.fuel.unwrap_or(self.fuel),
            start_fuel: limits.start_fuel.unwrap_or(self.start_fuel),
            time: limits.time.unwrap_or(self.time),
            memory: limits.memory.unwrap_or(self.memory),
            table: limits.table.unwrap_or(self.table),
            instances: limits.instances.unwrap_or(self.instances),
            answer: limits.answer.unwrap_or(self.answer),
            file: limits.file.unwrap_or(self.file),
            log_lines: limits.log_lines.unwrap_or(self.log_lines),
        }
    }
}

impl Budget {
    /// What a question may cost.
    pub(super) fn of_a_question(self) -> Cost {
        Cost { fuel: self.fuel, time: self.time }
    }

    /// What starting may cost, and being configured.
    pub(super) fn to_start(self) -> Cost {
        Cost { fuel: self.start_fuel, time: self.time }
    }
}

/// What a call into the guest may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) fuel: u64,
    pub(super) time: Duration,
}

impl Cost {
    /// The less of both.
    pub(super) fn min(self, other: Self) -> Self {
        Self { fuel: self.fuel.min(other.fuel), time: self.time.min(other.time) }
    }
}

/// A budget that was exceeded, as the error of the trap that it causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Exceeded {
    #[error("over the memory budget of {0} bytes")]
    Memory(usize),
    #[error("over the budget of {0} table elements")]
    Table(usize),
    #[error("an answer of {bytes} bytes, over the budget of {budget}")]
    Answer { bytes: usize, budget: usize },
}

/// Holds an instance to its budget of memory and tables, over all of them together.
#[derive(Debug)]
pub(super) struct Limiter {
    budget: Budget,
    memory: usize,
    table_elements: usize,
}

impl Limiter {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, memory: 0, table_elements: 0 }
    }

    /// Bytes of all memories.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Elements of all tables.
    pub(super) fn table_elements(&self) -> usize {
        self.table_elements
    }
}

/// Counts the growth of one memory or table towards what all of them hold together. Growth past its own `maximum` is refused
/// whatever is said here, so it costs nothing.
fn grow(
    total: &mut usize,
    [current, desired]: [usize; 2],
    maximum: Option<usize>,
    budget: usize,
    exceeded: fn(usize) -> Exceeded,
) -> wasmtime::Result<bool> {
    if maximum.is_some_and(|maximum| desired > maximum) {
        return Ok(false);
    }
    let grown = total.saturating_add(desired.saturating_sub(current));
    if grown > budget {
        return Err(exceeded(budget).into());
    }
    *total = grown;
    Ok(true)
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let budget = self.budget.memory;
        grow(&mut self.memory, [current, desired], maximum, budget, Exceeded::Memory)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let budget = self.budget.table;
        grow(&mut self.table_elements, [current, desired], maximum, budget, Exceeded::Table)
    }

    fn instances(&self) -> usize {
        self.budget.instances
    }

    fn tables(&self) -> usize {
        self.budget.instances
    }

    fn memories(&self) -> usize {
        self.budget.instances
    }
}
