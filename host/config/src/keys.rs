//! The concurrency keys of a configuration, each with the tools that name it.

use std::collections::BTreeMap;

use super::{concurrency::Concurrency, tool::Tool};

/// The tools that name a key, by key. Both are sorted by name.
pub(super) type Keys<'a> = BTreeMap<&'a str, Vec<(&'a Tool, &'a Concurrency)>>;

/// Collects the keys of all tools, those with limit 0 included.
pub(super) fn keys_of(tools: &BTreeMap<String, Tool>) -> Keys<'_> {
    let mut keys = Keys::new();
    for tool in tools.values() {
        if let Some(concurrency) = &tool.concurrency {
            keys.entry(&concurrency.key).or_default().push((tool, concurrency));
        }
    }
    keys
}
