use std::sync::Arc;

use jp_policy_config::{Config, Source};
use serde_json::json;

use super::*;

fn merged_with(tool: &str, description: Option<&str>, schema: &Json) -> Definition {
    let text = format!("[conversation.tools.t]\nsource = \"mcp.s\"\n{tool}");
    let config = Config::from_sources(&[Source::new("t.toml", text)]).expect("it holds");
    let Json::Object(schema) = schema.clone() else { panic!("an object") };
    let description = description.map(|text| text.to_owned().into());
    let offered = Offered::new_with_raw("t", description, Arc::new(schema));
    merge(&config.tools["t"], &offered)
}

#[test]
fn without_words_of_its_own_the_tool_is_the_servers() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let definition = merged_with("", Some("theirs"), &schema);
    assert_eq!(definition.description.as_deref(), Some("theirs"));
    assert_eq!(definition.input_schema, schema);
}

#[test]
fn the_configuration_lies_over_the_servers_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "kept": { "type": "string", "description": "kept" },
            "changed": { "anyOf": [{ "type": "string" }, { "type": "null" }], "description": "a path" },
            "list": { "type": "array", "items": { "$ref": "#/$defs/x" } },
            "needed": { "type": "string" },
        },
        "required": ["needed"],
    });
    let tool = r#"
        description = "ours, theirs: {{description}}"
        [conversation.tools.t.parameters.changed]
        type = "string"
        description = "{{description}}, absolute"
        enum = ["/a", "/b"]
        default = "/a"
        required = true
        [conversation.tools.t.parameters.list]
        type = "array"
        items = { type = "object", properties = { x = { type = "string", required = true }, y = { type = "integer" } } }
        [conversation.tools.t.parameters.needed]
        type = "string"
        required = false
        [conversation.tools.t.parameters.unknown]
        type = "string"
    "#;
    let definition = merged_with(tool, Some("paints"), &schema);
    assert_eq!(definition.description.as_deref(), Some("ours, theirs: paints"));
    assert_eq!(
        definition.input_schema,
        json!({
            "type": "object",
            "properties": {
                "kept": { "type": "string", "description": "kept" },
                "changed": {
                    "description": "a path, absolute", "type": "string", "default": "/a", "enum": ["/a", "/b"],
                },
                "list": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["x"],
                        "properties": { "x": { "type": "string" }, "y": { "type": "integer" } },
                    },
                },
                "needed": { "type": "string" },
            },
            "required": ["needed", "changed"],
        })
    );
}

#[test]
fn a_schema_without_properties_stays_what_it_is() {
    let tool = "parameters.a = { type = 'string', required = true }";
    let schema = json!({ "type": "object" });
    assert_eq!(merged_with(tool, None, &schema).input_schema, schema);
    let odd = json!({ "properties": { "a": true }, "required": "a" });
    assert_eq!(merged_with(tool, None, &odd).input_schema, odd);
}
