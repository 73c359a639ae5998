//! The forms a batch comes in, from a file and from standard input.

use serde_json::{Value as Json, json};

use super::support::Dir;

/// Runs a message from a file and from standard input; both say one and two, in this order.
fn both(message: &Json, ids: [&str; 2]) {
    let dir = Dir::new();
    dir.tool("say", "concurrency = 1", "echo \"said $1\"");
    dir.batch(message);
    let expected = json!([
        { "id": ids[0], "name": "say", "status": "ok", "content": "said one\n" },
        { "id": ids[1], "name": "say", "status": "ok", "content": "said two\n" },
    ]);
    assert_eq!(dir.json().end().code(0).responses(), expected);
    let piped = dir
        .program()
        .args(["run", "-", "--config", "tools", "--workspace", "work"])
        .args(["--quiet", "--format", "json"])
        .stdin(message.to_string());
    assert_eq!(piped.end().code(0).responses(), expected);
}

#[test]
fn a_list() {
    let calls = json!([
        { "id": "a", "name": "say", "arguments": { "n": "one" } },
        { "name": "say", "arguments": { "n": "two" } },
    ]);
    both(&calls, ["a", "call_2"]);
    both(&json!({ "calls": calls }), ["a", "call_2"]);
}

#[test]
fn an_anthropic_message() {
    let content = json!([
        { "type": "text", "text": "First one, then two." },
        { "type": "tool_use", "id": "toolu_1", "name": "say", "input": { "n": "one" } },
        { "type": "tool_use", "id": "toolu_2", "name": "say", "input": { "n": "two" } },
    ]);
    let message = json!({ "role": "assistant", "content": content, "stop_reason": "tool_use" });
    both(&message, ["toolu_1", "toolu_2"]);
}

#[test]
fn an_openai_chat_completion() {
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "say", "arguments": arguments } });
    let calls = json!([call("call_x", r#"{"n":"one"}"#), call("call_y", r#"{"n":"two"}"#)]);
    let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
    both(&message, ["call_x", "call_y"]);
    both(
        &json!({ "object": "chat.completion", "choices": [{ "index": 0, "message": message }] }),
        ["call_x", "call_y"],
    );
}

#[test]
fn an_openai_response() {
    let call = |id: &str, arguments: &str| json!({ "type": "function_call", "id": "fc_1", "call_id": id, "name": "say", "arguments": arguments });
    let output = json!([
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        call("call_x", r#"{"n":"one"}"#),
        call("call_y", r#"{"n":"two"}"#),
    ]);
    both(&output, ["call_x", "call_y"]);
    both(&json!({ "object": "response", "output": output }), ["call_x", "call_y"]);
}
