//! What a tool is for and what it takes, for whoever chooses it.

use jp_policy_config::Tool;
use serde_json::{Map, Value as Json, json};

/// What a tool is for, and what it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// What it does, for whoever chooses it.
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    pub input_schema: Json,
}

impl From<&Tool> for Definition {
    /// As the configuration has it.
    fn from(tool: &Tool) -> Self {
        let whole = json!({ "type": "object", "properties": tool.parameters });
        let mut input_schema = of_parameter(&whole);
        if let Some(schema) = input_schema.as_object_mut() {
            schema.entry("properties").or_insert_with(|| json!({}));
        }
        Self { description: tool.summary.clone(), input_schema }
    }
}

/// Whether a call has to give a parameter.
pub fn is_demanded(parameter: &Json) -> bool {
    parameter.get("required") == Some(&Json::Bool(true))
}

/// A parameter as JSON schema: jp says `required` at each parameter and calls its words `summary`, JSON schema says the one at the
/// object and calls the other `description`.
pub fn of_parameter(parameter: &Json) -> Json {
    let Some(parameter) = parameter.as_object() else {
        return json!({});
    };
    let mut schema = Map::new();
    for (key, value) in parameter {
        match key.as_str() {
            "required" | "summary" | "examples" | "properties" | "items" => {}
            _ => {
                schema.insert(key.clone(), value.clone());
            }
        }
    }
    if let Some(words) = parameter.get("summary") {
        schema.entry("description").or_insert_with(|| words.clone());
    }
    if let Some(items) = parameter.get("items") {
        schema.insert("items".to_owned(), of_parameter(items));
    }
    if let Some(properties) = parameter.get("properties").and_then(Json::as_object) {
        let required: Vec<&String> =
            properties.iter().filter(|(_, it)| is_demanded(it)).map(|(name, _)| name).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        let properties = properties.iter().map(|(name, it)| (name.clone(), of_parameter(it)));
        schema.insert("properties".to_owned(), Json::Object(properties.collect()));
    }
    Json::Object(schema)
}

#[cfg(test)]
#[path = "definition_tests.rs"]
mod tests;
