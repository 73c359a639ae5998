//! Values as TOML text.

use jp_policy_config::node::Value;
use serde_json::Value as Json;

pub(super) use jp_policy_config::written::{key, quoted};

/// A value of a configuration, as it was written. Null goes the same way as JSON's.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => quoted(""),
        Value::Bool(value) => value.to_string(),
        Value::Integer(text) | Value::Float(text) | Value::Datetime(text) => text.clone(),
        Value::String(text) => quoted(text),
        Value::Array(items) => array(items.iter().map(|item| self::value(&item.value))),
        Value::Table(table) => table_of(
            table
                .iter()
                .filter(|(_, entry)| !matches!(entry.node.value, Value::Null))
                .map(|(name, entry)| (name.as_str(), self::value(&entry.node.value))),
        ),
    }
}

/// JSON as TOML. TOML has no null: it is left out of an object, and becomes an empty text in a list.
pub(super) fn json(json: &Json) -> String {
    match json {
        Json::Null => quoted(""),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => array(items.iter().map(self::json)),
        Json::Object(object) => table_of(
            object
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.as_str(), self::json(value))),
        ),
    }
}

/// `[ a, b ]` of values that are written already.
pub(super) fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// `{ a = 1, b = 2 }` of values that are written already.
pub(super) fn table_of<'a>(entries: impl Iterator<Item = (&'a str, String)>) -> String {
    let entries = entries.map(|(name, value)| format!("{} = {value}", key(name)));
    match entries.collect::<Vec<_>>().join(", ") {
        entries if entries.is_empty() => "{}".to_owned(),
        entries => format!("{{ {entries} }}"),
    }
}
