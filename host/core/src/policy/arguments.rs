//! The arguments of a batch's calls, for a policy that asks.

use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockWriteGuard};

use jp_policy_guest::CallId;
use serde_json::{Map, Value as Json};

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
    /// Makes room for the arguments of so many more calls.
    pub fn reserve(&self, more: usize) {
        self.write().reserve(more);
    }

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
