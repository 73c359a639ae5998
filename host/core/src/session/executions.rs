//! The executions of a session, from their release until nothing of them runs any more.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde_json::{Map, Value as Json};

use crate::batch::{CallId, ExecutionId};

/// An execution in flight.
#[derive(Debug)]
pub(super) struct Execution {
    pub(super) call: CallId,
    pub(super) answers: Map<String, Json>,
    /// How often it was run or has asked.
    pub(super) turns: u32,
    /// Whether it was asked to stop.
    pub(super) stopping: bool,
    pub(super) asking: Asking,
}

/// Whether an execution waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    No,
    /// Its run has ended with a question, and nothing of it runs.
    Ended,
    /// Its run goes on meanwhile; with the number of the question.
    Running(u32),
}

/// The executions that this batch has started and that have not ended.
pub(super) type Executions = HashMap<ExecutionId, Execution, RandomState>;

impl Execution {
    pub(super) fn new(call: CallId) -> Self {
        Self { call, answers: Map::new(), turns: 0, stopping: false, asking: Asking::No }
    }
}
