//! Fan-out: one tool call that carries several sets of arguments.
//!
//! A tool with `fan_out` takes its ordinary arguments, or an envelope: an object whose only field `operations` is a list of such
//! argument sets. Each of these operations is a call of its own in the batch, at the place of the tool call.

use serde_json::{Map, Value as Json, json};

/// The envelope's only field.
pub const OPERATIONS: &str = "operations";

/// What a call's arguments are.
#[derive(Debug, Clone, PartialEq)]
pub enum Expansion {
    /// One set of arguments.
    One,
    /// One set for each operation, or what is wrong with it.
    Operations(Vec<Result<Map<String, Json>, String>>),
    /// Neither, and why.
    Invalid(String),
}

/// Tells the arguments of a tool with fan-out apart.
pub fn expand(arguments: &Map<String, Json>) -> Expansion {
    let Some(operations) = arguments.get(OPERATIONS) else {
        return Expansion::One;
    };
    let Json::Array(operations) = operations else {
        let found = kind(operations);
        return Expansion::Invalid(format!(
            "`{OPERATIONS}` is {found}, expected a list of argument sets"
        ));
    };
    if arguments.len() > 1 {
        let others: Vec<String> = arguments
            .keys()
            .filter(|name| *name != OPERATIONS)
            .map(|name| format!("`{}`", name.escape_debug()))
            .collect();
        return Expansion::Invalid(format!(
            "`{OPERATIONS}` stands beside {}; expected it alone, with all arguments in its sets, or the arguments without it",
            others.join(", ")
        ));
    }
    if operations.is_empty() {
        return Expansion::Invalid(format!(
            "`{OPERATIONS}` is empty, expected at least one argument set"
        ));
    }
    let read = (1..).zip(operations).map(|(place, operation)| match operation {
        Json::Object(arguments) => Ok(arguments.clone()),
        other => {
            Err(format!("operation {place} is {}, expected an object of arguments", kind(other)))
        }
    });
    Expansion::Operations(read.collect())
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// The input schema of a tool with fan-out, from its own: its arguments, or the envelope. At the top it is an object with
/// properties and nothing that chooses between them, because many models take nothing else there; the words say the rest.
pub fn schema(own: &Json) -> Json {
    let mut schema = own.clone();
    if !schema.is_object() {
        schema = json!({ "type": "object" });
    }
    let description = match own.get("required").and_then(Json::as_array) {
        Some(required) if !required.is_empty() => {
            let names: Vec<&str> = required.iter().filter_map(Json::as_str).collect();
            format!(
                "Several calls in one: a list of argument sets, run one by one. Alone, without any other argument; without it, {} must be given.",
                names.join(", ")
            )
        }
        _ => "Several calls in one: a list of argument sets, run one by one. Alone, without any other argument.".to_owned(),
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("required");
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert(
                OPERATIONS.to_owned(),
                json!({ "type": "array", "description": description, "items": own }),
            );
        }
    }
    schema
}

#[cfg(test)]
#[path = "fan_out_tests.rs"]
mod tests;
