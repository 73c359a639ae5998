//! What a policy may cost.

use std::time::Duration;

use wasmtime::ResourceLimiter;

use crate::config::PluginLimits;

/// What a policy may cost. Every number can be set per plugin in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Instructions for one question, and for `configure`. The real budget: it is deterministic, so it replays.
    ///
    /// A native guest spends 5,000 on 16 calls in view and 180,000 on 1,024; scripting guests 500 times as much (Python 22
    /// million on 1,024 calls). A billion lets all of them work and is spent in about half a second.
    pub fuel: u64,
    /// Wall-clock time for one question: the backstop for what costs little fuel (bulk memory operations, host calls).
    ///
    /// A tenth of what a person takes for an unresponsive program; a thousand times what scripting guests need.
    pub time: Duration,
    /// Bytes of linear memory. Python guests start with 16 MiB; four times that is room to work.
    pub memory: usize,
    /// Elements of all tables: the functions of the largest scripting guests (SpiderMonkey has 12,000) with room.
    pub table_elements: usize,
    /// Core instances: a component of one module has 2 to 6 with its shims; scripting guests 20.
    pub instances: usize,
    /// Bytes that one answer or one host call may bring over: 4 bytes an id, so a release of 250,000 calls.
    pub answer: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            fuel: 1_000_000_000,
            time: Duration::from_millis(250),
            memory: 64 << 20,
            table_elements: 100_000,
            instances: 64,
            answer: 1 << 20,
        }
    }
}

impl Budget {
    /// The default budget with what the configuration says otherwise.
    #[must_use]
    pub fn with(mut self, limits: PluginLimits) -> Self {
        self.fuel = limits.fuel.unwrap_or(self.fuel);
        self.time = limits.time.unwrap_or(self.time);
        self.memory = limits.memory.unwrap_or(self.memory);
        self
    }
}

/// A budget that was exceeded, as the error of the trap that it causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Exceeded {
    #[error("over the memory budget of {0} bytes")]
    Memory(usize),
    #[error("over the budget of {0} table elements")]
    Table(usize),
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
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.budget.memory {
            return Err(Exceeded::Memory(self.budget.memory).into());
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.table_elements.saturating_add(desired.saturating_sub(current));
        if total > self.budget.table_elements {
            return Err(Exceeded::Table(self.budget.table_elements).into());
        }
        self.table_elements = total;
        Ok(true)
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
