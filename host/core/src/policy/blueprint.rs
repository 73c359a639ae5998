//! The traits: what makes a policy for a batch, and what is asked for one.

use std::{
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock, RwLockWriteGuard},
};

use jp_policy_guest::{Batch, CallId, Decision, Settings, View};
use serde_json::{Map, Value as Json};

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
pub struct Arguments(Arc<RwLock<Vec<Entry>>>);

/// The arguments of one call. Most policies never ask, so their text is made for the first who does.
#[derive(Debug)]
enum Entry {
    Text(Arc<str>),
    Map(Arc<Map<String, Json>>, OnceLock<Arc<str>>),
}

impl Entry {
    fn text(&self) -> Arc<str> {
        match self {
            Self::Text(text) => text.clone(),
            // A map of JSON values can always be written.
            Self::Map(map, text) => text
                .get_or_init(|| serde_json::to_string(&**map).unwrap_or_default().into())
                .clone(),
        }
    }
}

impl From<&str> for Entry {
    fn from(json: &str) -> Self {
        Self::Text(json.into())
    }
}

impl From<Arc<Map<String, Json>>> for Entry {
    fn from(map: Arc<Map<String, Json>>) -> Self {
        Self::Map(map, OnceLock::new())
    }
}

impl Arguments {
    /// Puts down the arguments of the next call in written order.
    pub fn push(&self, arguments: Arc<Map<String, Json>>) {
        self.write().push(arguments.into());
    }

    /// The same, of arguments that are JSON text already.
    pub fn push_text(&self, json: &str) {
        self.write().push(json.into());
    }

    /// The arguments of a call are others: the tool's defaults were filled in, or a person has edited them.
    pub fn replace(&self, call: CallId, arguments: Arc<Map<String, Json>>) {
        if let Some(entry) = self.write().get_mut(call as usize) {
            *entry = arguments.into();
        }
    }

    /// The arguments of a call, if the batch has it.
    pub fn get(&self, call: CallId) -> Option<Arc<str>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(call as usize).map(Entry::text)
    }

    // A lock poisoned by a panic elsewhere still holds a whole list.
    fn write(&self) -> RwLockWriteGuard<'_, Vec<Entry>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
