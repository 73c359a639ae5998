use serde_json::json;

use super::*;

fn read(arguments: Json) -> Expansion {
    let Json::Object(arguments) = arguments else { panic!("an object") };
    expand(&arguments)
}

fn set(value: Json) -> Map<String, Json> {
    let Json::Object(set) = value else { panic!("an object") };
    set
}

#[test]
fn an_envelope_is_its_operations_in_order() {
    assert_eq!(
        read(json!({ "operations": [{ "n": 1 }, {}, { "n": 2 }] })),
        Expansion::Operations(vec![
            Ok(set(json!({ "n": 1 }))),
            Ok(Map::new()),
            Ok(set(json!({ "n": 2 })))
        ])
    );
    assert_eq!(read(json!({ "operations": [{}] })), Expansion::Operations(vec![Ok(Map::new())]));
}

#[test]
fn ordinary_arguments_are_one_call() {
    assert_eq!(read(json!({ "n": 1 })), Expansion::One);
    assert_eq!(read(json!({})), Expansion::One);
}

#[test]
fn what_is_neither_is_told_apart_and_said() {
    assert_eq!(
        read(json!({ "operations": "[{}]" })),
        Expansion::Invalid("`operations` is a text, expected a list of argument sets".to_owned())
    );
    assert_eq!(
        read(json!({ "operations": [] })),
        Expansion::Invalid("`operations` is empty, expected at least one argument set".to_owned())
    );
    assert_eq!(
        read(json!({ "operations": [{}], "n": 1, "m": 2 })),
        Expansion::Invalid(
            "`operations` stands beside `n`, `m`; expected it alone, with all arguments in its sets, or the arguments without it"
                .to_owned()
        )
    );
    assert_eq!(
        read(json!({ "operations": [{}, [1], null] })),
        Expansion::Operations(vec![
            Ok(Map::new()),
            Err("operation 2 is a list, expected an object of arguments".to_owned()),
            Err("operation 3 is null, expected an object of arguments".to_owned()),
        ])
    );
}

#[test]
fn the_schema_takes_both_and_requires_neither() {
    let own = json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
    });
    assert_eq!(
        schema(&own),
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "operations": {
                    "type": "array",
                    "description": "Several calls in one: a list of argument sets, run one by one. Alone, without any other argument; without it, path must be given.",
                    "items": own,
                },
            },
        })
    );
    assert_eq!(schema(&Json::Null)["properties"]["operations"]["type"], "array");
}
