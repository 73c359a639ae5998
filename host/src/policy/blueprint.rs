//! The traits: what makes a policy for a batch, and what is asked for one.

use std::{
    fmt,
    sync::{Arc, RwLock},
};

use jp_policy_guest::{Batch, CallId, Decision, Settings, View};

use super::fault::{FaultKind, Refusal};

/// Who a policy is, for messages and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name: the plugin's own, cleaned of control characters.
    pub name: String,
    /// `sha256:...` of the component; none for what is compiled into the host.
    pub digest: Option<String>,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A policy that can serve batches, each with a fresh instance.
pub trait Blueprint: Send + Sync {
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

/// The arguments of a batch's calls as JSON text, for a policy that asks. Shared between who submits calls and the policy.
#[derive(Debug, Clone, Default)]
pub struct Arguments(Arc<RwLock<Vec<Arc<str>>>>);

impl Arguments {
    /// Puts down the arguments of the next call in written order.
    pub fn push(&self, json: impl Into<Arc<str>>) {
        // A lock poisoned by a panic elsewhere still holds a whole list.
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).push(json.into());
    }

    /// A person has edited the arguments of a call.
    pub fn replace(&self, call: CallId, json: impl Into<Arc<str>>) {
        let mut all = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(arguments) = all.get_mut(call as usize) {
            *arguments = json.into();
        }
    }

    /// The arguments of a call, if the batch has it.
    pub fn get(&self, call: CallId) -> Option<Arc<str>> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(call as usize).cloned()
    }
}
