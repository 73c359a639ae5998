//! The form of a configuration file as a JSON Schema, for editors that complete and check what is written.
//!
//! It describes one layer: what is left out may be said by another, so that a table without `key` is fine here and only wrong if
//! no layer names one. Sections that are jp's alone are let through.

use schemars::schema_for;
use serde_json::{Value as Json, json};

use super::document::Document;

/// The JSON Schema of a configuration file.
///
/// ```
/// let schema = jp_policy_config::schema();
/// assert_eq!(schema["title"], "jp-policy configuration");
/// ```
pub fn schema() -> Json {
    let mut schema = schema_for!(Document).to_value();
    if let Json::Object(schema) = &mut schema
        && let Some(title) = schema.shift_remove("title")
    {
        // With the description that it belongs to.
        let at = schema.keys().position(|name| name == "description").unwrap_or_default();
        schema.shift_insert(at, "title".to_owned(), title);
    }
    if let Some(Json::Object(properties)) = schema.get_mut("properties") {
        // It says to an editor which schema a file has, and is no field of a configuration.
        let link = json!({ "type": ["string", "null"], "description": "A schema for editors." });
        properties.shift_insert(0, "$schema".to_owned(), link);
    }
    schema
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
