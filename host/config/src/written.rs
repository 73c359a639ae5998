//! Values and names as TOML has them, on one line.

use super::node::Value;

/// A value; null, which TOML has not, as JSON has it.
pub fn written(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(text) | Value::Float(text) | Value::Datetime(text) => text.clone(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| written(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let entries = table
                .iter()
                .map(|(name, entry)| format!("{} = {}", key(name), written(&entry.node.value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text in quotes: fit for a value and for a key.
pub fn quoted(text: &str) -> String {
    // JSON's escapes are TOML's, but TOML wants one for DEL too.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A key, in quotes where it needs them.
pub fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}
