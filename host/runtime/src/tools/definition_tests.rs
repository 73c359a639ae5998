use jp_policy_config::{Config, Source};

use super::*;

fn defined(tool: &str) -> Definition {
    let text = format!("[conversation.tools.t]\ncommand = 'true'\n{tool}");
    let config = Config::from_sources(&[Source::new("t.toml", text)]).expect("it holds");
    Definition::from(&config.tools["t"])
}

#[test]
fn a_tool_without_parameters_takes_an_object() {
    let expected = json!({ "type": "object", "properties": {} });
    assert_eq!(defined(""), Definition { description: None, input_schema: expected });
}

#[test]
fn what_jp_says_at_a_parameter_json_schema_says_at_the_object() {
    let definition = defined(
        r#"
        summary = "Paints."
        [conversation.tools.t.parameters.color]
        type = "string"
        enum = ["red", "blue"]
        summary = "which"
        required = true
        [conversation.tools.t.parameters.places]
        type = "array"
        items = { type = "object", properties = { x = { type = "integer", required = true, description = "left" } } }
        examples = ["none"]
        "#,
    );
    assert_eq!(definition.description.as_deref(), Some("Paints."));
    assert_eq!(
        definition.input_schema,
        json!({
            "type": "object",
            "properties": {
                "color": { "type": "string", "enum": ["red", "blue"], "description": "which" },
                "places": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "x": { "type": "integer", "description": "left" } },
                        "required": ["x"],
                    },
                },
            },
            "required": ["color"],
        })
    );
}
