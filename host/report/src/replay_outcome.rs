//! What came of a batch under one policy, to be held against what came of it under another.

use jp_policy_core::{
    batch::{CallId, Instant},
    policy::Identity,
    record::{Record, RecordedFault},
};

use super::text::total;

/// What came of a batch under one policy.
#[derive(Debug, Clone)]
pub struct ReplayOutcome {
    /// Who decided.
    pub policy: Identity,
    /// Whether it really happened; else it was simulated.
    pub real: bool,
    /// What happened when.
    pub record: Record,
    /// What the policy did that could not be accepted.
    pub faults: Vec<RecordedFault>,
    /// What of the configuration the policy refuses, and so was not given.
    pub left_out: Vec<RefusedParameter>,
}

/// A field or an option that a policy refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedParameter {
    /// The key whose field it is; none: an option.
    pub key: Option<String>,
    /// Its name.
    pub field: String,
    /// Why it is refused, in the policy's words.
    pub message: String,
}

impl ReplayOutcome {
    /// When a call first started; none: it never did.
    pub fn started(&self, call: CallId) -> Option<Instant> {
        let call = self.record.calls.get(call as usize)?;
        call.runs.iter().find(|run| !run.gated).map(|run| run.span.from)
    }

    /// How long a call was parked altogether.
    pub fn waited(&self, call: CallId) -> Instant {
        let parked = self.record.calls.get(call as usize).map(|call| call.parked.as_slice());
        let spans = parked.unwrap_or_default().iter();
        total(spans.map(|span| span.to.unwrap_or(self.record.until).saturating_sub(span.from)))
    }

    /// How long all calls were parked, in sum.
    pub fn waited_altogether(&self) -> Instant {
        total((0..).take(self.record.calls.len()).map(|call| self.waited(call)))
    }

    /// The calls that started, in the order in which they first did; what started together stands in written order.
    pub fn order(&self) -> Vec<CallId> {
        let calls = (0..).take(self.record.calls.len());
        let mut started: Vec<(Instant, CallId)> =
            calls.filter_map(|call| Some((self.started(call)?, call))).collect();
        started.sort_unstable();
        started.into_iter().map(|(_, call)| call).collect()
    }
}
