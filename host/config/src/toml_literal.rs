//! Values and keys as TOML literals, each on one line.

use serde_json::Value as Json;
use toml_writer::{ToTomlKey as _, ToTomlValue as _, TomlKeyBuilder, TomlStringBuilder};

use super::node::Value;

/// A value as TOML that reads as the same value.
///
/// TOML has no null: it is left out of a table, and becomes an empty string elsewhere.
///
/// ```
/// use jp_policy_config::{node::Value, toml_literal};
///
/// assert_eq!(toml_literal::value(&Value::String("say \"hi\"".to_owned())), r#""say \"hi\"""#);
/// assert_eq!(toml_literal::value(&Value::Integer("7".to_owned())), "7");
/// ```
pub fn value(value: &Value) -> String {
    write(value, Nulls::Omit)
}

/// A value as [`value`] writes it, but with `null` where there is null: for people, since TOML does not read it.
pub fn display(value: &Value) -> String {
    write(value, Nulls::Show)
}

/// JSON as TOML, with null as in [`value`].
pub fn json(json: &Json) -> String {
    match json {
        Json::Null => quoted(""),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => array(items.iter().map(self::json)),
        Json::Object(object) => inline_table(
            object
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.as_str(), self::json(value))),
        ),
    }
}

/// A basic string, in double quotes: fit for a value and for a key.
///
/// ```
/// assert_eq!(jp_policy_config::toml_literal::quoted("a\tb"), r#""a\tb""#);
/// ```
pub fn quoted(text: &str) -> String {
    TomlStringBuilder::new(text).as_basic().to_toml_value()
}

/// A key, in double quotes where it needs them.
///
/// ```
/// use jp_policy_config::toml_literal::key;
///
/// assert_eq!(key("fs_edit"), "fs_edit");
/// assert_eq!(key("fs.edit"), "\"fs.edit\"");
/// ```
pub fn key(name: &str) -> String {
    let key = TomlKeyBuilder::new(name);
    key.as_unquoted().unwrap_or_else(|| key.as_basic()).to_toml_key()
}

/// `[a, b]` of items that are literals already.
pub fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// `{ a = 1, b = 2 }` of names and of values that are literals already.
pub fn inline_table<'a>(entries: impl Iterator<Item = (&'a str, String)>) -> String {
    let entries = entries.map(|(name, value)| format!("{} = {value}", key(name)));
    match entries.collect::<Vec<_>>().join(", ") {
        entries if entries.is_empty() => "{}".to_owned(),
        entries => format!("{{ {entries} }}"),
    }
}

/// What becomes of null, which TOML has not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    /// It is left out of tables, and is an empty string elsewhere.
    Omit,
    /// It is written as `null`.
    Show,
}

fn write(value: &Value, nulls: Nulls) -> String {
    match value {
        Value::Null if nulls == Nulls::Show => "null".to_owned(),
        Value::Null => quoted(""),
        Value::Bool(value) => value.to_string(),
        Value::Integer(text) | Value::Float(text) | Value::Datetime(text) => text.clone(),
        Value::String(text) => quoted(text),
        Value::Array(items) => array(items.iter().map(|item| write(&item.value, nulls))),
        Value::Table(table) => {
            let omitted = |value: &Value| nulls == Nulls::Omit && matches!(value, Value::Null);
            let entries = table.iter().filter(|(_, entry)| !omitted(&entry.node.value));
            inline_table(
                entries.map(|(name, entry)| (name.as_str(), write(&entry.node.value, nulls))),
            )
        }
    }
}

#[cfg(test)]
#[path = "toml_literal_tests.rs"]
mod tests;
