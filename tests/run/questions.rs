//! Tools that ask: answered by the configuration or by their own default, and run again with their slot kept.

use serde_json::json;

use super::support::Dir;

/// A tool that asks for a colour, then for a size, and logs each of its runs.
fn painter(dir: &Dir, settings: &str, more: &str) {
    let script = format!(
        r#"echo "$1 $2" >>log
case $2 in
*size*) echo "painted $1: $2" ;;
*color*) echo '{{"type":"needs_input","question":{{"id":"size","text":"How large?"{more}}}}}' ;;
*) echo '{{"type":"needs_input","question":{{"id":"color","text":"Which colour?","answer_type":{{"Select":{{"options":["red","blue"]}}}}{more}}}}}' ;;
esac"#
    );
    dir.tool("paint", &format!("concurrency = 1\n{settings}"), &script);
    dir.batch(&json!([
        { "id": "a", "name": "paint", "arguments": { "n": "one" } },
        { "id": "b", "name": "paint", "arguments": { "n": "two" } },
    ]));
}

#[test]
fn answers_from_the_configuration_come_one_after_the_other_and_the_slot_stays() {
    let dir = Dir::new();
    painter(&dir, "questions.color.answer = \"red\"\nquestions.size.answer = 7", "");
    let ended = dir.run().end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- a paint: ok
    painted one: {"color":"red","size":7}
    --- b paint: ok
    painted two: {"color":"red","size":7}
    "#);
    insta::assert_snapshot!(dir.read("work/log"), @r#"
    one {}
    one {"color":"red"}
    one {"color":"red","size":7}
    two {}
    two {"color":"red"}
    two {"color":"red","size":7}
    "#);
}

#[test]
fn without_an_answer_the_call_fails_and_the_next_one_runs() {
    let dir = Dir::new();
    painter(&dir, "questions.color.answer = \"red\"", "");
    let ended = dir.run().end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- a paint: error
    tool `paint` asks "How large?" and nobody answered; set `questions.size.answer` to answer it without a person
    --- b paint: error
    tool `paint` asks "How large?" and nobody answered; set `questions.size.answer` to answer it without a person
    "#);
    insta::assert_snapshot!(dir.read("work/log"), @r#"
    one {}
    one {"color":"red"}
    two {}
    two {"color":"red"}
    "#);
}

#[test]
fn the_default_of_a_question_counts_where_nobody_is_asked() {
    let dir = Dir::new();
    painter(&dir, "questions.size.answer = 7", r#","default":"blue""#);
    let ended = dir.run().end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- a paint: ok
    painted one: {"color":"blue","size":7}
    --- b paint: ok
    painted two: {"color":"blue","size":7}
    "#);
    insta::assert_snapshot!(dir.read("work/log"), @r#"
    one {}
    one {"color":"blue"}
    one {"color":"blue","size":7}
    two {}
    two {"color":"blue"}
    two {"color":"blue","size":7}
    "#);
}

#[test]
fn a_tool_that_asks_for_ever_is_ended() {
    let dir = Dir::new();
    dir.tool("nag", "questions.again.answer = true", r#"echo run >>log; echo '{"type":"needs_input","question":{"id":"again","text":"Again?","answer_type":"boolean"}}'"#);
    dir.batch(&json!([{ "id": "a", "name": "nag" }]));
    let ended = dir.run().end().code(1);
    assert_eq!(dir.read("work/log").lines().count(), 101);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- a nag: error
    tool `nag` asked 100 times; it is not run again
    "#);
}
