//! What a tool of an MCP server takes: the server's schema, with the tool's own `parameters` over it, as jp has it.

use rmcp::model::Tool as Offered;
use serde_json::{Map, Value as Json, json};

use crate::config::Tool;

/// What a tool is for, and what it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// What it does, for whoever chooses it.
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    pub input_schema: Json,
}

/// The server's definition under the tool's own.
///
/// Of a parameter that both have, `type`, `default`, `enum`, `items`, `properties` and the description are the configuration's. It
/// may demand what the server doesn't, and not the other way round. What only the configuration has, the server would not
/// understand: it is left out.
pub(super) fn merged(tool: &Tool, offered: &Offered) -> Definition {
    let mut schema = Json::Object((*offered.input_schema).clone());
    let own = tool.parameters.as_object();
    let mut demanded = Vec::new();
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        for (name, parameter) in own.into_iter().flatten() {
            let Some(property) = properties.get_mut(name) else {
                continue;
            };
            lay_over(property, parameter);
            if parameter.get("required") == Some(&Json::Bool(true)) {
                demanded.push(Json::String(name.clone()));
            }
        }
    }
    if let Some(schema) = schema.as_object_mut()
        && !demanded.is_empty()
    {
        let required = schema.entry("required").or_insert_with(|| json!([]));
        if let Some(required) = required.as_array_mut() {
            for name in demanded {
                if !required.contains(&name) {
                    required.push(name);
                }
            }
        }
    }
    let theirs = offered.description.as_deref();
    Definition { description: described(tool.summary.as_deref(), theirs), input_schema: schema }
}

/// The configuration's words, with `{{description}}` for the server's.
fn described(own: Option<&str>, theirs: Option<&str>) -> Option<String> {
    match (own, theirs) {
        (Some(own), Some(theirs)) => Some(own.replace("{{description}}", theirs)),
        (own, theirs) => own.or(theirs).map(str::to_owned),
    }
}

fn lay_over(property: &mut Json, parameter: &Json) {
    let theirs = property.get("description").and_then(Json::as_str).map(str::to_owned);
    let Some(own) = of_parameter(parameter).as_object().cloned() else {
        return;
    };
    let Some(property) = property.as_object_mut() else {
        return;
    };
    if own.contains_key("type") {
        // They say what kind of value it is, and that is another one now.
        for key in ["anyOf", "oneOf", "$ref"] {
            property.remove(key);
        }
    }
    for (key, mut value) in own {
        if let (true, Some(words), Some(theirs)) = (key == "description", value.as_str(), &theirs) {
            value = words.replace("{{description}}", theirs).into();
        }
        property.insert(key, value);
    }
}

/// A parameter as JSON schema: jp says `required` at each parameter, JSON schema at the object.
fn of_parameter(parameter: &Json) -> Json {
    let Some(parameter) = parameter.as_object() else {
        return Json::Null;
    };
    let mut schema = Map::new();
    for key in ["type", "default", "enum"] {
        if let Some(value) = parameter.get(key) {
            schema.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(words) = parameter.get("description").or_else(|| parameter.get("summary")) {
        schema.insert("description".to_owned(), words.clone());
    }
    if let Some(items) = parameter.get("items") {
        schema.insert("items".to_owned(), of_parameter(items));
    }
    if let Some(properties) = parameter.get("properties").and_then(Json::as_object) {
        let demanded = |parameter: &Json| parameter.get("required") == Some(&Json::Bool(true));
        let required: Vec<&String> =
            properties.iter().filter(|(_, it)| demanded(it)).map(|(name, _)| name).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        let properties = properties.iter().map(|(name, it)| (name.clone(), of_parameter(it)));
        schema.insert("properties".to_owned(), Json::Object(properties.collect()));
    }
    Json::Object(schema)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
