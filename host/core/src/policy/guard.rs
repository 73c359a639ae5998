//! The one place where a decision is held against the batch, and what is checked there.

use std::collections::{BTreeMap, BTreeSet};

use jp_policy_guest::{CallId, Decision, KeyIndex};

use super::fault::{FaultKind, Invalid};
use crate::batch::{Batch, Stage};

/// What the host checks of a decision, beyond that its calls may be released at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Guard {
    /// Nothing more.
    Off,
    /// No key has more executions in flight than its limit.
    #[default]
    Limit,
    /// And no earlier waiting call of the key is left behind.
    Order,
}

impl Guard {
    /// What stands for it in a configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Limit => "limit",
            Self::Order => "order",
        }
    }
}

/// The calls that start, in written order, or what is wrong with the answer, which is void as a whole then.
///
/// `asked` is the revision the question showed. A call that has changed since (it was cancelled while the policy thought) is
/// left out and no fault of the policy's: it answered what it was asked.
pub fn check(
    decision: &Decision,
    batch: &Batch,
    asked: u64,
    guard: Guard,
) -> Result<Vec<CallId>, FaultKind> {
    let mut released = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for &call in &decision.release {
        let invalid = |why| FaultKind::InvalidDecision { call, why };
        if !seen.insert(call) {
            return Err(invalid(Invalid::Twice));
        }
        let Some(known) = batch.get(call) else {
            return Err(invalid(Invalid::Unknown));
        };
        let why = match known.stage {
            _ if !batch.unchanged_since(known, asked) => continue,
            Stage::Parked => {
                released.insert(call);
                continue;
            }
            Stage::Pending => Invalid::Pending,
            Stage::Running { .. } => Invalid::Running,
            Stage::Ended { .. } | Stage::Settled => Invalid::Over,
        };
        return Err(invalid(why));
    }
    let mut keys: BTreeMap<KeyIndex, Vec<CallId>> = BTreeMap::new();
    if guard != Guard::Off {
        for &call in &released {
            if let Some(key) = batch.get(call).and_then(|call| call.key) {
                keys.entry(key).or_default().push(call);
            }
        }
    }
    for (key, calls) in keys {
        let (limit, running) = (batch.limit(key), batch.running(key));
        let name = || batch.key_name(key).to_owned();
        if running + calls.len() > limit as usize {
            return Err(FaultKind::OverLimit { key: name(), limit, running, released: calls });
        }
        if guard == Guard::Order {
            let mut waiting = batch.waiting(key);
            for released in calls {
                match waiting.next() {
                    Some(first) if first == released => {}
                    before => {
                        let before = before.unwrap_or(released);
                        return Err(FaultKind::OutOfOrder { key: name(), released, before });
                    }
                }
            }
        }
    }
    Ok(released.into_iter().collect())
}
