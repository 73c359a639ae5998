//! What a record says of a call, beside its events.

use std::sync::Arc;

use jp_policy_guest::{KeyIndex, ToolIndex};

/// What a record says of a call, beside its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDescription {
    /// The call in a few words: its tool's name and what of its arguments is short, or what a scenario calls it.
    pub label: Arc<str>,
    /// Its tool; one that is not configured has the largest index.
    pub tool: ToolIndex,
    /// The key that bounds it.
    pub key: Option<KeyIndex>,
    /// The place of the tool call that it belongs to.
    pub parent: u32,
}
