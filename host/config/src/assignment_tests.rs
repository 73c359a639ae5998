use super::*;

/// The tree of an argument as JSON, or the first line of each problem.
fn given(text: &str) -> String {
    let mut problems = Vec::new();
    shown(argument(text, &KnownNames::default(), &mut problems), &problems)
}

fn of_environment(name: &str, value: &str) -> String {
    let mut problems = Vec::new();
    shown(variable(name, value, &KnownNames::default(), &mut problems), &problems)
}

fn shown(found: Option<Assignment>, problems: &[Diagnostic]) -> String {
    if let Some(found) = found {
        assert!(problems.is_empty(), "{problems:?}");
        let adds = if found.adds { "+ " } else { "" };
        return format!("{adds}{}", found.root.value.to_json());
    }
    let lines = problems.iter().map(|problem| {
        let (place, label) = &problem.labels[0];
        let (line, column) = place.line_column();
        format!("{line}:{column} {} ({label})", problem.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_value_without_quotes_is_a_number_where_one_is_expected() {
    let tool = "conversation.tools.t";
    for (text, json) in [
        ("concurrency=4", r#"{"concurrency":4}"#),
        ("concurrency=-1", r#"{"concurrency":-1}"#),
        ("concurrency=four", r#"{"concurrency":"four"}"#),
        ("concurrency=", r#"{"concurrency":""}"#),
        ("concurrency.limit=8", r#"{"concurrency":{"limit":8}}"#),
        ("concurrency.key=8", r#"{"concurrency":{"key":"8"}}"#),
        ("concurrency.delay=2s", r#"{"concurrency":{"delay":"2s"}}"#),
        ("concurrency.delay=2.5", r#"{"concurrency":{"delay":2.5}}"#),
        ("fan_out=true", r#"{"fan_out":true}"#),
        ("fan_out.on_error=stop", r#"{"fan_out":{"on_error":"stop"}}"#),
        ("summary=8", r#"{"summary":"8"}"#),
        ("summary=a=b", r#"{"summary":"a=b"}"#),
    ] {
        let expected = format!(r#"{{"conversation":{{"tools":{{"t":{json}}}}}}}"#);
        assert_eq!(given(&format!("{tool}.{text}")), expected, "{text}");
    }
}

#[test]
fn json_is_taken_as_it_is() {
    assert_eq!(given("a:=8"), r#"{"a":8}"#);
    assert_eq!(given("a:=null"), r#"{"a":null}"#);
    assert_eq!(given(r#"a:={"key":"x"}"#), r#"{"a":{"key":"x"}}"#);
    assert_eq!(given(r#"{"a": {"b": [1, 2]}}"#), r#"{"a":{"b":[1,2]}}"#);
    assert_eq!(
        given(r#"a:="=:="#),
        "1:4 `--cfg` is not valid JSON: unterminated string literal (here)"
    );
}

#[test]
fn more_is_added_to_a_list() {
    assert_eq!(given("a+=b,c"), r#"+ {"a":["b","c"]}"#);
    assert_eq!(given("a:+=[1]"), r#"+ {"a":[1]}"#);
    assert_eq!(given("a+:=[1]"), r#"+ {"a":[1]}"#);
}

#[test]
fn what_sets_nothing_is_refused_at_its_place() {
    assert_eq!(given(""), "1:1 `--cfg ` sets nothing (expected KEY=VALUE or KEY:=JSON)");
    assert_eq!(
        given("a..b=1"),
        "1:1 `--cfg`: the key `a..b` can't be read: a name is missing (expected names with dots between them)"
    );
    assert_eq!(
        given("=1"),
        "1:1 `--cfg`: the key `` can't be read: a name is missing (expected names with dots between them)"
    );
    assert_eq!(given("a:="), "1:4 `a` is given no value (expected JSON)");
    assert_eq!(given("a:={"), "1:4 `--cfg` is not valid JSON: unterminated object (here)");
}

#[test]
fn variables_say_with_their_first_characters_how_they_are_meant() {
    let name = "JP_CFG_CONVERSATION_TOOLS_GIT_CONCURRENCY";
    let of = |value: &str| of_environment(name, value);
    let tree = |json: &str| {
        format!(r#"{{"conversation":{{"tools":{{"git":{{"concurrency":{json}}}}}}}}}"#)
    };
    assert_eq!(of("4"), tree("4"));
    assert_eq!(of(r#":{"key":"x"}"#), tree(r#"{"key":"x"}"#));
    assert_eq!(of(":null"), tree("null"));
    assert_eq!(of("+a,b"), format!("+ {}", tree(r#"["a","b"]"#)));
    assert_eq!(of(":+[1]"), format!("+ {}", tree("[1]")));
    assert_eq!(of(r"\:x"), tree("\":x\""));
    assert_eq!(of(r"\x"), tree("\"\\\\x\""));
    assert_eq!(
        of(":{"),
        "1:44 `JP_CFG_CONVERSATION_TOOLS_GIT_CONCURRENCY` is not valid JSON: unterminated object (here)"
    );
}

#[test]
fn variables_of_others_set_nothing() {
    assert_eq!(of_environment("JP_CFG_ASSISTANT_MODEL_ID", "x"), "");
    assert_eq!(of_environment("JP_CFG_", "x"), "");
    assert_eq!(of_environment("JP_CONFIG", "x"), "");
}
