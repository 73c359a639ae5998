use serde_json::{Value as Json, json};

use super::*;

fn read(result: Json) -> Outcome {
    outcome("s", "t", serde_json::from_value(result).expect("any result is one"))
}

fn text(content: &str) -> Outcome {
    Outcome::Success { content: content.to_owned() }
}

#[test]
fn text_is_as_it_is_and_parts_are_apart() {
    assert_eq!(read(json!({ "content": [{ "type": "text", "text": " a\n" }] })), text(" a\n"));
    let parts = json!([
        { "type": "text", "text": "a" },
        { "type": "resource", "resource": { "uri": "file:///b", "text": "b" } },
        { "type": "text", "text": "c" },
    ]);
    assert_eq!(read(json!({ "content": parts })), text("a\n\nb\n\nc"));
    assert_eq!(read(json!({ "content": [] })), text(""));
    assert_eq!(read(json!({})), text(""));
}

#[test]
fn of_what_is_no_text_there_is_a_note() {
    let parts = json!([
        { "type": "image", "data": "AAAA".repeat(512), "mimeType": "image/png" },
        { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "file:///b", "mimeType": "x/y", "blob": "AAAA" } },
        { "type": "resource_link", "uri": "file:///c", "name": "c.txt", "title": "See" },
    ]);
    insta::assert_snapshot!(match read(json!({ "content": parts })) {
        Outcome::Success { content } => content,
        other => panic!("{other:?}"),
    }, @"
    [image, image/png, 1.5 KiB, not shown]

    [audio, audio/wav, 3 B, not shown]

    [resource file:///b, x/y, 3 B, not shown]

    [resource file:///c: See]
    ");
}

#[test]
fn structured_content_counts_where_there_is_no_other() {
    let structured = json!({ "n": 1 });
    assert_eq!(read(json!({ "structuredContent": structured })), text(r#"{"n":1}"#));
    let both = json!({
        "content": [{ "type": "text", "text": "one" }], "structuredContent": structured,
    });
    assert_eq!(read(both), text("one"));
}

#[test]
fn an_error_is_one() {
    let failed = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
    assert_eq!(read(failed), Outcome::error("no"));
    assert_eq!(
        read(json!({ "content": [], "isError": true })),
        Outcome::error("tool `t` failed and does not say why")
    );
}

#[test]
fn what_is_no_result_is_said_to_be_so() {
    assert_eq!(
        read(json!({ "tools": [] })),
        Outcome::error(
            "tool `t`: MCP server `s` answered with what is no result of a tool: {\"tools\":[]}"
        )
    );
}
