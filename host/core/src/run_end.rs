//! How one run of an execution ended: every way it can.

use std::time::Duration;

use crate::{outcome::Outcome, response::Stored};

/// How one run of an execution ended.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEnd {
    /// By itself.
    Finished {
        /// What came of it.
        outcome: Outcome,
        /// The whole result, where the outcome has its beginning only.
        whole: Option<Stored>,
    },
    /// It was asked to stop, and did.
    Stopped,
    /// Its time was over, and it was stopped.
    TimedOut {
        /// The time it had.
        after: Duration,
    },
    /// It never began: its [`Gate`](crate::gate::Gate) was shut.
    Gated,
}

impl RunEnd {
    /// Whether no further operation of the same call may start, where a failure stops them.
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Finished { outcome, .. } => matches!(outcome, Outcome::Error { .. }),
            Self::TimedOut { .. } => true,
            // What was stopped has not failed, and behind a shut gate nothing is new.
            Self::Stopped | Self::Gated => false,
        }
    }
}

impl From<Outcome> for RunEnd {
    fn from(outcome: Outcome) -> Self {
        Self::Finished { outcome, whole: None }
    }
}
