//! The traits: what makes a policy for a batch, and what is asked for one.

use jp_policy_guest::{Batch, CallId, Decision, Settings, View};

use super::{
    arguments::Arguments,
    fault::{FaultKind, Refusal},
    identity::Identity,
};

/// A policy that can serve batches, each with a fresh instance.
pub trait PolicyFactory: Send + Sync {
    /// Who it is.
    fn identity(&self) -> &Identity;

    /// Makes the policy of one batch.
    fn instantiate(
        &self,
        settings: &Settings,
        arguments: Arguments,
    ) -> Result<Box<dyn Policy>, Refusal>;
}

/// What a question cost a policy, as far as the host counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Instructions of the last question.
    pub fuel: u64,
    /// Bytes of all its linear memories. They never shrink, so this is the peak.
    pub memory: usize,
    /// Elements of all its tables.
    pub table: usize,
}

/// The policy of one batch: what the scheduler asks.
pub trait Policy: Send + Sync {
    /// What it wants to see.
    fn view(&self) -> View;

    /// Chooses the calls that start now. An error is a fault: the policy is not asked again.
    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind>;

    /// The same, from where nobody can wait: none, if the answer may take more than a moment. Then [`release`](Self::release)
    /// is to be asked the same, where there is time for it.
    fn release_at_once(&mut self, batch: &Batch) -> Option<Result<Decision, FaultKind>> {
        let _ = batch;
        None
    }

    /// Why the parked call does not start now, in the policy's words, if it has any.
    fn explain(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        let _ = (batch, call);
        None
    }

    /// What the last question cost; none where nothing is counted, as with native rules.
    fn spent(&self) -> Option<Spent> {
        None
    }
}
