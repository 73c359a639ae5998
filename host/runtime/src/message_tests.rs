use serde_json::json;

use super::*;

fn names(message: &Json) -> Vec<(String, String, String)> {
    let requests = parse(&message.to_string()).expect("the message has calls");
    let show = |arguments: &Result<Arc<Map<String, Json>>, String>| match arguments {
        Ok(arguments) => Json::Object((**arguments).clone()).to_string(),
        Err(error) => error.clone(),
    };
    requests
        .calls
        .iter()
        .map(|call| (call.id.to_string(), call.name.to_string(), show(&call.arguments)))
        .collect()
}

fn row(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[test]
fn a_plain_list() {
    let message = json!([{ "id": "a", "name": "x", "arguments": { "n": 1 } }, { "name": "y" }]);
    assert_eq!(names(&message), [row("a", "x", "{\"n\":1}"), row("call_2", "y", "{}")]);
    assert_eq!(names(&json!([])), []);
}

#[test]
fn anthropic_blocks_in_a_message_or_alone() {
    let content = json!([
        { "type": "text", "text": "Let me." },
        { "type": "tool_use", "id": "toolu_1", "name": "x", "input": { "n": 1 } },
    ]);
    let expected = [row("toolu_1", "x", "{\"n\":1}")];
    assert_eq!(names(&content), expected);
    assert_eq!(names(&json!({ "role": "assistant", "content": content })), expected);
}

#[test]
fn openai_chat_message_completion_or_calls_alone() {
    let calls = json!([
        { "id": "call_a", "type": "function", "function": { "name": "x", "arguments": "{\"n\":1}" } },
        { "id": "call_b", "type": "function", "function": { "name": "y", "arguments": "" } },
        { "id": "call_c", "type": "function", "function": { "name": "z", "arguments": "{" } },
        { "id": "call_d", "type": "function", "function": { "name": "z", "arguments": "[1]" } },
    ]);
    let expected = [
        row("call_a", "x", "{\"n\":1}"),
        row("call_b", "y", "{}"),
        row(
            "call_c",
            "z",
            "the arguments are not JSON: EOF while parsing an object at line 1 column 1",
        ),
        row("call_d", "z", "the arguments are a list of 1, expected an object"),
    ];
    let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
    assert_eq!(names(&calls), expected);
    assert_eq!(names(&message), expected);
    assert_eq!(names(&json!({ "choices": [{ "message": message }] })), expected);
}

#[test]
fn openai_responses_items_or_the_whole_response() {
    let items = json!([
        { "type": "reasoning", "id": "rs_1" },
        { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "x", "arguments": "{\"n\":1}" },
    ]);
    let expected = [row("call_1", "x", "{\"n\":1}")];
    assert_eq!(names(&items), expected);
    assert_eq!(names(&json!({ "object": "response", "output": items })), expected);
}

#[test]
fn a_repeated_id_is_changed_and_said() {
    let message = json!([{ "id": "a", "name": "x" }, { "id": "a", "name": "x" }, { "id": "a#2", "name": "y" }]);
    let requests = parse(&message.to_string()).expect("calls");
    let ids: Vec<&str> = requests.calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids, ["a", "a#2", "a#2#2"]);
    assert_eq!(
        requests.warnings,
        [
            "call 2 (`x`) has the id \"a\" of an earlier call; its response has the id \"a#2\"",
            "call 3 (`y`) has the id \"a#2\" of an earlier call; its response has the id \"a#2#2\"",
        ]
    );
}

#[test]
fn however_many_calls_have_one_id_each_gets_its_own() {
    let message = Json::Array(vec![json!({ "id": "a", "name": "x" }); 20_000]);
    let requests = parse(&message.to_string()).expect("calls");
    let ids: Vec<&str> = requests.calls.iter().map(|call| &*call.id).collect();
    let expected: Vec<String> = (2..=20_000).map(|n| format!("a#{n}")).collect();
    assert_eq!(
        (ids[0], &ids[1..]),
        ("a", &expected.iter().map(String::as_str).collect::<Vec<_>>()[..])
    );
}

#[test]
fn what_has_no_calls_is_said() {
    let error = |text: &str| parse(text).expect_err("no calls").to_string();
    assert_eq!(error("{"), "not JSON");
    assert!(error("{\"a\": 1}").ends_with("found an object with `a`"));
    assert!(error("3").ends_with("found a number"));
    assert!(
        error("{\"role\": \"assistant\", \"content\": \"hi\"}")
            .ends_with("found an object with `role`, `content`")
    );
    assert_eq!(error("[{\"name\": 3}]"), "call 1 of the message has the name 3, expected a text");
    assert_eq!(
        error("[{\"name\": \"x\"}, {\"name\": \"\"}]"),
        "call 2 of the message has the name \"\", expected a text"
    );
}
