//! The input schema of an MCP server's tool, with the configured `parameters` laid over it, as jp does it.

use jp_policy_config::Tool;
use jp_policy_runtime::tools::{Definition, is_demanded, of_parameter};
use rmcp::model::Tool as Offered;
use serde_json::{Value as Json, json};

/// The server's definition, with the configured one laid over it.
///
/// Of a parameter that both have, each field that the configuration has replaces the server's. The configuration may require a
/// parameter that the server does not, and not the other way round. A parameter that only the configuration has is left out: the
/// server would not understand it.
pub(super) fn merge(tool: &Tool, offered: &Offered) -> Definition {
    let mut schema = Json::Object((*offered.input_schema).clone());
    let own = tool.parameters.as_object();
    let mut demanded = Vec::new();
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        for (name, parameter) in own.into_iter().flatten() {
            let Some(property) = properties.get_mut(name) else {
                continue;
            };
            overlay(property, parameter);
            if is_demanded(parameter) {
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

/// The configured description, in which `{{description}}` stands for the server's.
fn described(own: Option<&str>, theirs: Option<&str>) -> Option<String> {
    match (own, theirs) {
        (Some(own), Some(theirs)) => Some(own.replace("{{description}}", theirs)),
        (own, theirs) => own.or(theirs).map(str::to_owned),
    }
}

fn overlay(property: &mut Json, parameter: &Json) {
    let theirs = property.get("description").and_then(Json::as_str).map(str::to_owned);
    let Some(own) = of_parameter(parameter).as_object().cloned() else {
        return;
    };
    let Some(property) = property.as_object_mut() else {
        return;
    };
    if own.contains_key("type") {
        // These give the type too, which is replaced.
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

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
