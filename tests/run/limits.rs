//! Limits and the written order, as the processes themselves see them.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::support::{Dir, Ended};

fn calls(tool: &str, count: usize) -> Json {
    let numbers = 1..=count;
    numbers
        .map(|n| json!({ "id": format!("c{n}"), "name": tool, "arguments": { "n": n } }))
        .collect()
}

/// The calls in the order in which they were released.
fn released(ended: &Ended) -> Vec<String> {
    let stderr = ended.stderr();
    let lines = stderr.lines().map(str::split_whitespace);
    lines
        .filter_map(|mut words| (words.next()? == "running").then(|| words.next())?)
        .map(str::to_owned)
        .collect()
}

fn ids(count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("c{n}")).collect()
}

/// A text for each of so many calls.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (1..=count).map(text).collect::<Vec<_>>().concat()
}

fn oks(tool: &str, count: usize) -> String {
    each(count, |n| format!("--- c{n} {tool}: ok\nended {n}\n"))
}

#[test]
fn one_at_a_time_in_the_written_order() {
    let dir = Dir::new();
    dir.tool(
        "edit",
        "concurrency = 1",
        "echo \"start $1\" >>log; echo \"end $1\" >>log; echo \"ended $1\"",
    );
    dir.batch(&calls("edit", 30));
    let ended = dir.run().end().code(0);
    let expected = each(30, |n| format!("start {n}\nend {n}\n"));
    assert_eq!(dir.read("work/log"), expected);
    assert_eq!(ended.stdout(), oks("edit", 30));
    assert_eq!(released(&ended), ids(30));
}

/// Calls that run in pairs: each ends only once its partner has started, so fewer than two at once would never end.
fn in_pairs(policy: Option<&Path>) {
    let dir = Dir::new();
    let script = "echo \"start $1\" >>log; : >\"started-$1\"
await \"started-$(($1 % 2 ? $1 + 1 : $1 - 1))\"
echo \"end $1\" >>log; echo \"ended $1\"";
    dir.tool("edit", "concurrency = { key = \"disk\", limit = 2 }", script);
    dir.batch(&calls("edit", 30));
    let policy = policy.iter().flat_map(|path| ["--policy".as_ref(), *path]);
    let ended = dir.run().args(policy).end().code(0);
    assert_eq!(ended.stdout(), oks("edit", 30));
    assert_eq!(released(&ended), ids(30));
    let log = dir.read("work/log");
    let running = log.lines().scan(0_i32, |running, line| {
        *running += if line.starts_with("start") { 1 } else { -1 };
        Some(*running)
    });
    assert_eq!(running.max(), Some(2), "{log}");
    assert_eq!(log.lines().count(), 60);
}

#[test]
fn two_at_once_and_never_three() {
    in_pairs(None);
}

#[test]
fn the_default_policy_from_its_file_does_the_same() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/default.wasm");
    in_pairs(Some(&path));
}

#[test]
fn calls_without_a_key_all_run_at_once() {
    let dir = Dir::new();
    // Nobody ends before all twenty have started.
    let script = ": >\"started-$1\"; n=1; while [ $n -le 20 ]; do await started-$n; n=$((n + 1)); done; echo \"ended $1\"";
    dir.tool("read", "", script);
    dir.batch(&calls("read", 20));
    let ended = dir.run().end().code(0);
    assert_eq!(ended.stdout(), oks("read", 20));
    assert_eq!(released(&ended), ids(20));
}

#[test]
fn without_limits_keyed_calls_all_run_at_once() {
    let dir = Dir::new();
    let script = ": >\"started-$1\"; n=1; while [ $n -le 5 ]; do await started-$n; n=$((n + 1)); done; echo \"ended $1\"";
    dir.tool("edit", "concurrency = 1", script);
    dir.batch(&calls("edit", 5));
    let ended = dir.run().args(["--no-limits"]).end().code(0);
    assert_eq!(ended.stdout(), oks("edit", 5));
}

#[test]
fn a_later_configuration_lifts_a_limit() {
    let dir = Dir::new();
    let script = "n=1; : >\"started-$1\"; while [ $n -le 3 ]; do await started-$n; n=$((n + 1)); done; echo \"ended $1\"";
    dir.tool("edit", "concurrency = 1", script);
    dir.write("later.toml", "conversation.tools.edit.concurrency = 0\n");
    dir.batch(&calls("edit", 3));
    let ended = dir.run().args(["--config", "later.toml"]).end().code(0);
    assert_eq!(ended.stdout(), oks("edit", 3));
}

#[test]
fn tools_that_name_one_key_share_its_limit_and_another_key_does_not_wait() {
    let dir = Dir::new();
    dir.tool(
        "add",
        "concurrency = { key = \"git\" }",
        "echo 'add starts' >>log; await other; echo 'add ends' >>log",
    );
    dir.tool("push", "concurrency = { key = \"git\" }", "echo push >>log");
    dir.tool("other", "concurrency = 1", ": >other");
    dir.batch(&json!([{ "name": "add" }, { "name": "push" }, { "name": "other" }]));
    dir.run().end().code(0);
    assert_eq!(dir.read("work/log"), "add starts\nadd ends\npush\n");
}

#[test]
fn a_failed_call_frees_its_slot_and_the_next_one_runs() {
    let dir = Dir::new();
    dir.tool("edit", "concurrency = 1", "echo \"$1\" >>log; [ $1 != 2 ]");
    dir.batch(&calls("edit", 3));
    let ended = dir.run().end().code(1);
    assert_eq!(dir.read("work/log"), "1\n2\n3\n");
    insta::assert_snapshot!(ended.stdout(), @"
    --- c1 edit: ok
    --- c2 edit: error
    tool `edit` failed: exit status: 1
    --- c3 edit: ok
    ");
}
