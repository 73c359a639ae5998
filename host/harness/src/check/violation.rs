//! What can go wrong with a policy, each as a sentence for its author.

use std::fmt;

use jp_policy_core::{
    batch::{CallId, Instant},
    policy::{Fault, FaultKind},
};
use jp_policy_guest::Decision;
use jp_policy_report::seconds;

use super::shapes::label;

/// What a policy did that it must not do.
#[derive(Debug, Clone)]
pub enum Violation {
    /// It failed before the first question.
    NotConfigured(FaultKind),
    /// It did what the host can't accept.
    Fault(Box<Fault>),
    /// It was woken again and again and released nothing, while nothing ran and nobody was asked.
    Starves {
        /// When it was given up on.
        at: Instant,
        /// How often it was woken in a row.
        wakes: u32,
        /// What waited.
        parked: Vec<CallId>,
    },
    /// It answered the same question in two ways.
    Impure {
        /// When.
        at: Instant,
        /// What the two differ in.
        how: Impurity,
        /// The one answer.
        first: Result<Decision, FaultKind>,
        /// The other.
        second: Result<Decision, FaultKind>,
    },
    /// A call that the default rules would start was not started.
    WaitsNeedlessly {
        /// When.
        at: Instant,
        /// Which call.
        call: CallId,
        /// Its key by name, with how many run and how many may; none: it has no key.
        key: Option<(String, usize, u32)>,
    },
    /// A call was started though one of the batch was undecided: the host's mistake, not the policy's.
    Barrier {
        /// When.
        at: Instant,
        /// Which call was started.
        call: CallId,
    },
}

/// What two answers to one question differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impurity {
    /// The same instance was asked twice.
    Again,
    /// One instance has answered questions before, the other was fresh, as after a restart.
    Fresh,
}

impl Violation {
    /// A short word for machines: that of the fault, or `starves`, `impure`, `waits-needlessly`, `barrier`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotConfigured(kind) => kind.word(),
            Self::Fault(fault) => fault.kind.word(),
            Self::Starves { .. } => "starves",
            Self::Impure { .. } => "impure",
            Self::WaitsNeedlessly { .. } => "waits-needlessly",
            Self::Barrier { .. } => "barrier",
        }
    }

    /// When it happened; none: before the first question.
    pub fn at(&self) -> Option<Instant> {
        match self {
            Self::NotConfigured(_) => None,
            Self::Fault(fault) => Some(fault.at),
            Self::Starves { at, .. }
            | Self::Impure { at, .. }
            | Self::WaitsNeedlessly { at, .. }
            | Self::Barrier { at, .. } => Some(*at),
        }
    }
}

/// `at 2s it left call B waiting, ...`
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at() {
            write!(f, "at {}s it ", seconds(at))?;
        }
        match self {
            Self::NotConfigured(kind) => write!(f, "before the first question it {kind}"),
            Self::Fault(fault) => f.write_str(&named(&fault.kind)),
            Self::Starves { wakes, parked, .. } => write!(
                f,
                "starved {}: woken {wakes} times in a row, it released nothing, though nothing runs and nobody is asked",
                calls(parked)
            ),
            Self::Impure { how, first, second, .. } => {
                let (how, one, other) = match how {
                    Impurity::Again => {
                        ("asked the same question twice", "the first time", "the second time")
                    }
                    Impurity::Fresh => (
                        "asked the same question as a fresh instance was",
                        "it, having answered others before,",
                        "the fresh one",
                    ),
                };
                write!(
                    f,
                    "decided in two ways: {how}, {one} {}, and {other} {}; a decision may depend on the question only",
                    answer(first),
                    answer(second)
                )
            }
            Self::WaitsNeedlessly { call, key: None, .. } => write!(
                f,
                "left {} waiting, which has no key and nothing to wait for",
                calls(&[*call])
            ),
            Self::WaitsNeedlessly { call, key: Some((key, running, limit)), .. } => write!(
                f,
                "left {} waiting, though {running} of {limit} executions with key \"{}\" run and no earlier call of the key waits",
                calls(&[*call]),
                key.escape_debug()
            ),
            Self::Barrier { call, .. } => write!(
                f,
                "saw {} start, though a call of the batch is still undecided: that is a mistake of the host's",
                calls(&[*call])
            ),
        }
    }
}

/// A fault in which calls have the names of the scenario.
fn named(kind: &FaultKind) -> String {
    match kind {
        FaultKind::InvalidDecision { call, why } => {
            format!("released {}, which {why}", calls(&[*call]))
        }
        FaultKind::OverLimit { key, limit, running, released } => format!(
            "released {} with key \"{}\": with {running} running that is over the limit of {limit}",
            calls(released),
            key.escape_debug()
        ),
        FaultKind::OutOfOrder { key, released, before } => format!(
            "released {} before {}, which waits for the same key \"{}\"",
            calls(&[*released]),
            calls(&[*before]),
            key.escape_debug()
        ),
        FaultKind::Stall { parked } => format!(
            "stalled: {} {} parked, nothing runs, nobody is asked and no wake-up is set",
            calls(parked),
            if parked.len() == 1 { "is" } else { "are" }
        ),
        other => other.to_string(),
    }
}

/// "call B" or "calls B, C".
fn calls(ids: &[CallId]) -> String {
    const SHOWN: usize = 10;
    let names: Vec<String> = ids.iter().take(SHOWN).map(|id| name(*id)).collect();
    let more = if ids.len() > SHOWN { ", ..." } else { "" };
    format!("call{} {}{more}", if ids.len() == 1 { "" } else { "s" }, names.join(", "))
}

/// The label of a call; a number that is no call's stays one.
fn name(id: CallId) -> String {
    if id < 10_000 { label(id as usize) } else { id.to_string() }
}

fn answer(answer: &Result<Decision, FaultKind>) -> String {
    match answer {
        Ok(decision) => {
            let released = if decision.release.is_empty() {
                "released nothing".to_owned()
            } else {
                format!("released {}", calls(&decision.release))
            };
            match decision.wake_at {
                Some(at) => format!("{released} and set a wake-up at {}s", seconds(at)),
                None => released,
            }
        }
        Err(kind) => kind.to_string(),
    }
}
