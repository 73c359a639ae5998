use super::*;

/// The whole schema, as editors get it: a field that is added or dropped shows here.
#[test]
fn the_schema_of_a_file() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&schema()).expect("it is JSON"));
}

#[test]
fn everything_that_is_ours_is_described() {
    let schema = schema();
    for name in ["concurrency", "fan_out", "run", "source", "command"] {
        assert!(schema["$defs"]["Tool"]["properties"][name]["description"].is_string(), "{name}");
    }
}
