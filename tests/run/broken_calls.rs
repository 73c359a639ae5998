//! Calls that can't succeed: each has its response, in written order, and the others go on.

use serde_json::{Value as Json, json};

use super::support::{Dir, Ended};

/// Runs calls of broken tools between two of one that works.
fn between_good_ones(dir: &Dir, calls: &[Json]) -> Ended {
    dir.tool("good", "", "echo \"good $1\"");
    let good = |n: &str| json!({ "id": n, "name": "good", "arguments": { "n": n } });
    let mut batch = vec![good("first")];
    batch.extend_from_slice(calls);
    batch.push(good("last"));
    dir.batch(&json!(batch));
    dir.run().end().code(1)
}

#[test]
fn calls_that_do_not_fit_a_tool() {
    let dir = Dir::new();
    dir.tool("edit", "parameters.n = { type = \"string\", required = true }\nparameters.mode = { type = \"string\", enum = [\"a\", \"b\"] }", "touch ran");
    let calls = [
        json!({ "id": "unknown", "name": "gold" }),
        json!({ "id": "far", "name": "something_else" }),
        json!({ "id": "list", "name": "edit", "arguments": ["a"] }),
        json!({ "id": "text", "name": "edit", "arguments": "{\"n\":" }),
        json!({ "id": "number", "name": "edit", "arguments": "3" }),
        json!({ "id": "missing", "name": "edit" }),
        json!({ "id": "both", "name": "edit", "arguments": { "n": 1, "mode": "c" } }),
    ];
    let ended = between_good_ones(&dir, &calls);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- first good: ok
    good first
    --- unknown gold: error
    no tool `gold` is configured; did you mean `good`?
    --- far something_else: error
    no tool `something_else` is configured
    --- list edit: error
    invalid arguments for tool `edit`: the arguments are a list of 1, expected an object
    --- text edit: error
    invalid arguments for tool `edit`: the arguments are not JSON: EOF while parsing a value at line 1 column 5
    --- number edit: error
    invalid arguments for tool `edit`: the arguments are a number, expected an object
    --- missing edit: error
    invalid arguments for tool `edit`: argument `n` is missing
    --- both edit: error
    invalid arguments for tool `edit`: argument `n` is 1, expected string; argument `mode` is "c", expected one of "a", "b"
    --- last good: ok
    good last
    "#);
    assert!(!dir.has("work/ran"));
}

#[test]
fn tools_that_can_not_be_started() {
    let dir = Dir::new();
    dir.settings("absent", "command = \"no-such-program --now\"\nrun = \"unattended\"");
    dir.settings("path", "command = \"./no/such/program\"\nrun = \"unattended\"");
    dir.settings("folder", "command = \"./\"\nrun = \"unattended\"");
    dir.settings("without", "run = \"unattended\"");
    dir.settings("empty", "command = \" \"\nrun = \"unattended\"");
    dir.settings("quotes", "command = \"echo 'x\"\nrun = \"unattended\"");
    dir.settings("syntax", "command = \"echo {{tool.}}\"\nrun = \"unattended\"");
    dir.settings("undefined", "command = \"echo {{tool.arguments.a.b}}\"\nrun = \"unattended\"");
    dir.settings("server", "source = \"mcp.github\"\nrun = \"unattended\"");
    dir.settings("builtin", "source = \"builtin\"\nrun = \"unattended\"");
    let names = [
        "absent",
        "path",
        "folder",
        "without",
        "empty",
        "quotes",
        "syntax",
        "undefined",
        "server",
        "builtin",
    ];
    let calls = names.map(|name| json!({ "id": name, "name": name }));
    let ended = between_good_ones(&dir, &calls);
    let shown = ended.stdout().replace("[DIR]/work", "[WORKSPACE]");
    insta::assert_snapshot!(shown, @r#"
    --- first good: ok
    good first
    --- absent absent: error
    tool `absent`: failed to start `no-such-program` in `[WORKSPACE]`: No such file or directory (os error 2)
    --- path path: error
    tool `path`: failed to start `[WORKSPACE]/./no/such/program` in `[WORKSPACE]`: No such file or directory (os error 2)
    --- folder folder: error
    tool `folder`: failed to start `[WORKSPACE]/./` in `[WORKSPACE]`: Permission denied (os error 13)
    --- without without: error
    tool `without` has no `command`
    --- empty empty: error
    tool `empty`: the command is empty
    --- quotes quotes: error
    tool `quotes`: the command has unbalanced quotes: echo 'x
    --- syntax syntax: error
    tool `syntax`: the template "{{tool.}}" can't be filled in: syntax error: unexpected end of variable block, expected identifier or integer (in <string>:1)
    --- undefined undefined: error
    tool `undefined`: the template "{{tool.arguments.a.b}}" can't be filled in: undefined value (in <string>:1)
    --- server server: error
    tool `server`: MCP server `github` is not configured; none is configured
    --- builtin builtin: error
    tool `builtin` is built into jp, which is not here
    --- last good: ok
    good last
    "#);
}

#[test]
fn tools_that_fail() {
    let dir = Dir::new();
    dir.tool("code", "", "echo half; echo 'what went wrong' >&2; exit 7");
    dir.tool("silent", "", "exit 1");
    dir.tool("killed", "", "echo half; kill -9 $$");
    dir.tool("latin", "", "printf 'caf\\351 au lait'");
    dir.tool(
        "traced",
        "",
        r#"echo '{"type":"error","message":"no disk","trace":["mount failed","no device"]}'"#,
    );
    let names = ["code", "silent", "killed", "latin", "traced"];
    let calls = names.map(|name| json!({ "id": name, "name": name }));
    let ended = between_good_ones(&dir, &calls);
    insta::assert_snapshot!(ended.stdout(), @"
    --- first good: ok
    good first
    --- code code: error
    tool `code` failed: exit status: 7
    what went wrong
    standard output: half
    --- silent silent: error
    tool `silent` failed: exit status: 1
    --- killed killed: error
    tool `killed` failed: signal: 9 (SIGKILL)
    standard output: half
    --- latin latin: error
    tool `latin` wrote output that is not UTF-8 (byte 3 of 12)
    it begins: caf� au lait
    --- traced traced: error
    no disk
    mount failed
    no device
    --- last good: ok
    good last
    ");
}

#[test]
fn an_outcome_counts_whatever_the_exit_code() {
    let dir = Dir::new();
    dir.tool("done", "", r#"echo '{"type":"success","content":"done"}'; echo noise >&2; exit 3"#);
    dir.tool("busy", "", r#"echo '{"type":"error","message":"busy","transient":true}'"#);
    dir.tool("other", "", r#"echo '{"type":"picture"}'"#);
    dir.batch(&json!([{ "name": "done" }, { "name": "busy" }, { "name": "other" }]));
    let ended = dir.json().end().code(1);
    assert_eq!(
        ended.responses(),
        json!([
            { "id": "call_1", "name": "done", "status": "ok", "content": "done" },
            { "id": "call_2", "name": "busy", "status": "error", "content": "busy", "transient": true },
            { "id": "call_3", "name": "other", "status": "ok", "content": "{\"type\":\"picture\"}\n" },
        ])
    );
}

#[test]
fn calls_with_one_id_both_run_and_are_told_apart() {
    let dir = Dir::new();
    dir.tool("say", "", "echo \"$1\"");
    dir.batch(&json!([
        { "id": "a", "name": "say", "arguments": { "n": "one" } },
        { "id": "a", "name": "say", "arguments": { "n": "two" } },
    ]));
    let ended = dir.run().end().code(0);
    assert_eq!(ended.stdout(), "--- a say: ok\none\n--- a#2 say: ok\ntwo\n");
    let first = ended.stderr().lines().next().map(str::to_owned);
    insta::assert_snapshot!(first.unwrap_or_default(), @r#"warning: call 2 (`say`) has the id "a" of an earlier call; its response has the id "a#2""#);
}

#[test]
fn what_a_call_contains_reaches_the_tool_as_it_is() {
    let dir = Dir::new();
    dir.tool("say", "", "printf '%s' \"$1\"");
    let hostile = "'; touch ran; \"$(touch ran)\" `touch ran` {{tool.name}} \\ \n\t*";
    dir.batch(&json!([{ "id": "a", "name": "say", "arguments": { "n": hostile } }]));
    let ended = dir.json().end().code(0);
    assert_eq!(ended.responses()[0]["content"], hostile);
    assert!(!dir.has("work/ran"));
}
