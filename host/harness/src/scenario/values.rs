//! Reads the values that fields share: times, numbers, and lists of them.

use jp_policy_config::{
    Diagnostic,
    node::{Entry, Node, Value},
    reader::wrong_kind,
};
use jp_policy_core::batch::Instant;

/// The entries of an array.
pub(super) fn items(entry: Option<Entry>, what: &str, problems: &mut Vec<Diagnostic>) -> Vec<Node> {
    match entry.map(|entry| entry.node) {
        None => Vec::new(),
        Some(Node { value: Value::Array(items), .. }) => items,
        Some(other) => {
            problems.push(wrong_kind(&format!("`{what}`"), "an array", &other.value, &other.place));
            Vec::new()
        }
    }
}

/// The entries of an array, or the one value that stands there instead. An empty array says nothing, which is an error.
pub(super) fn one_or_more(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Vec<Node> {
    match node.value {
        Value::Array(items) => {
            if items.is_empty() {
                problems.push(
                    Diagnostic::error(format!("{what} is an empty list"))
                        .at(&node.place, "expected at least one entry")
                        .help("leave the field out if there is nothing to say"),
                );
            }
            items
        }
        _ => vec![node],
    }
}

pub(super) fn count(what: &str, node: &Node, problems: &mut Vec<Diagnostic>) -> Option<u32> {
    if let Value::Integer(text) = &node.value
        && let Ok(number) = text.parse()
    {
        return Some(number);
    }
    problems.push(wrong_kind(what, "a number", &node.value, &node.place));
    None
}

/// Seconds as a number, or a duration like "250ms".
pub(super) fn time(what: &str, node: &Node, problems: &mut Vec<Diagnostic>) -> Option<Instant> {
    let duration = match &node.value {
        Value::Integer(text) | Value::Float(text) => text
            .parse()
            .ok()
            .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok()),
        Value::String(text) => humantime::parse_duration(text).ok(),
        _ => None,
    };
    let at = duration.and_then(|duration| Instant::try_from(duration.as_nanos()).ok());
    if at.is_none() {
        problems.push(wrong_kind(
            what,
            "seconds, or a duration like \"250ms\"",
            &node.value,
            &node.place,
        ));
    }
    at
}

/// One time or several.
pub(super) fn times(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Vec<Instant> {
    let nodes = one_or_more(what, node, problems);
    nodes.iter().filter_map(|node| time(what, node, problems)).collect()
}
