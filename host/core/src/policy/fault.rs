//! Faults: whatever a policy does that the host can't accept, as data, and what follows one.

use std::fmt;

use jp_policy_guest::{Batch, CallId, Decision, Instant, Problem};

use super::identity::Identity;

/// What follows a fault of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFault {
    /// The default rules take the rest of the batch over.
    #[default]
    Default,
    /// Parked calls are settled with an error that names the policy.
    Settle,
}

impl OnFault {
    /// What stands for it in a configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Settle => "settle",
        }
    }
}

/// What a policy did.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FaultKind {
    /// It trapped: a panic, `unreachable`, a stack overflow, memory out of bounds.
    #[error("trapped: {message}")]
    Trap {
        /// What the engine says, or the panic's own message and place where the plugin carried it over.
        message: String,
    },
    /// It used up its fuel.
    #[error("used up its budget of {budget} instructions for one question")]
    OutOfFuel {
        /// What it had.
        budget: u64,
    },
    /// It was cut off by the clock.
    #[error("gave no answer within {budget_ms} ms")]
    OutOfTime {
        /// What it had.
        budget_ms: u64,
    },
    /// It wanted more memory than it may have.
    #[error("wanted more than its {budget} bytes of memory")]
    OutOfMemory {
        /// What it may have.
        budget: u64,
    },
    /// It wanted a larger table than it may have.
    #[error("wanted tables of more than its {budget} elements")]
    OutOfTable {
        /// What it may have.
        budget: u64,
    },
    /// It wanted more memories or tables than it may have.
    #[error("wanted more than its {budget} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many it may have.
        budget: usize,
    },
    /// It answered with an error.
    #[error("answered with an error{}", says(.message))]
    Error {
        /// Its text.
        message: String,
    },
    /// Its answer could not be read.
    #[error("gave an answer that can't be read: {message}")]
    Unreadable {
        /// Why.
        message: String,
    },
    /// It released a call that can't be released.
    #[error("released call {call}, which {why}")]
    InvalidDecision {
        /// Which.
        call: CallId,
        /// What is wrong with it.
        why: Invalid,
    },
    /// It released more than a limit allows.
    #[error("released {} with key \"{}\": with {running} running that is over the limit of {limit}", calls(.released), .key.escape_debug())]
    OverLimit {
        /// The key.
        key: String,
        /// Its limit.
        limit: u32,
        /// How many ran.
        running: usize,
        /// What it released with this key.
        released: Vec<CallId>,
    },
    /// It left an earlier waiting call of the key behind.
    #[error("released call {released} before call {before}, which waits for the same key \"{}\"", .key.escape_debug())]
    OutOfOrder {
        /// The key.
        key: String,
        /// What it released.
        released: CallId,
        /// What was written before it and waits.
        before: CallId,
    },
    /// It released nothing, and nothing will happen that could change its mind.
    #[error("stalls: {} {} parked, nothing runs, nobody is asked and no wake-up is set", calls(.parked), if .parked.len() == 1 { "is" } else { "are" })]
    Stall {
        /// What waits, the first of it.
        parked: Vec<CallId>,
    },
    /// It asked to be woken in the past or at once, again and again.
    #[error(
        "spins: woken {wakes} times in a row without a pause, it released nothing and asked to be woken again"
    )]
    Spin {
        /// How often.
        wakes: u32,
    },
}

impl FaultKind {
    /// A short word for the kind, for machines.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Trap { .. } => "trap",
            Self::OutOfFuel { .. } => "out-of-fuel",
            Self::OutOfTime { .. } => "out-of-time",
            Self::OutOfMemory { .. } => "out-of-memory",
            Self::OutOfTable { .. } => "out-of-table",
            Self::TooMany { .. } => "too-many",
            Self::Error { .. } => "error",
            Self::Unreadable { .. } => "unreadable",
            Self::InvalidDecision { .. } => "invalid-decision",
            Self::OverLimit { .. } => "over-limit",
            Self::OutOfOrder { .. } => "out-of-order",
            Self::Stall { .. } => "stall",
            Self::Spin { .. } => "spin",
        }
    }
}

/// Why a call can't be released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The batch has no such call.
    #[error("the batch does not have")]
    Unknown,
    /// It is not approved.
    #[error("is not approved yet")]
    Pending,
    /// It runs.
    #[error("runs already")]
    Running,
    /// It has ended, or has its response.
    #[error("is over")]
    Over,
    /// It stands in the answer twice.
    #[error("stands in the answer twice")]
    Twice,
}

/// A fault, with what is needed to understand and to reproduce it.
#[derive(Debug, Clone)]
pub struct Fault {
    /// What the policy did.
    pub kind: FaultKind,
    /// Which policy.
    pub policy: Identity,
    /// When.
    pub at: Instant,
    /// The question it was asked.
    pub question: Batch,
    /// Its answer, where there was one.
    pub answer: Option<Decision>,
}

/// One sentence: `policy "delay" released call 7, which the batch does not have`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy \"{}\" {}", self.policy, self.kind)
    }
}

/// Why a policy does not serve a batch at all: found before a call runs.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Refusal {
    /// It does not take the settings.
    #[error("it refuses the configuration: {}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; "))]
    Settings(Vec<Problem>),
    /// It could not be brought up, or did something on the way that would be a fault.
    #[error("it can't be configured: it {0}")]
    Fault(FaultKind),
    /// It does not fit the host.
    #[error("{0}")]
    Unloadable(String),
}

fn says(message: &str) -> String {
    if message.is_empty() { " that says nothing".to_owned() } else { format!(": {message}") }
}

/// "call 3" or "calls 3, 4, 5".
fn calls(ids: &[CallId]) -> String {
    const SHOWN: usize = 10;
    let mut list = ids.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if ids.len() > SHOWN {
        list += &format!(" and {} more", ids.len() - SHOWN);
    }
    format!("call{} {list}", if ids.len() == 1 { "" } else { "s" })
}
