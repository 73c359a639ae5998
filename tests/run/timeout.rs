//! Calls that run longer than `--timeout`.

use serde_json::json;

use super::support::Dir;

#[test]
fn a_call_that_runs_too_long_is_stopped_and_the_next_one_runs_once_it_is_gone() {
    let dir = Dir::new();
    dir.tool("sleepy", "concurrency = { key = \"a\" }", "sleep 1000");
    dir.tool(
        "stubborn",
        "concurrency = { key = \"b\" }",
        "trap '' TERM; echo $$ >pid; while :; do sleep 0.1; done",
    );
    // What it says once it was stopped is no result.
    dir.tool("tidy", "", "trap 'echo tidied; exit 0' TERM; while :; do sleep 0.1; done");
    dir.tool("next", "concurrency = { key = \"a\" }", "echo next");
    dir.tool("look", "concurrency = { key = \"b\" }", "gone \"$(cat pid)\" && echo gone");
    let names = ["sleepy", "stubborn", "tidy", "next", "look"];
    dir.batch(&names.iter().map(|name| json!({ "name": name })).collect());
    let ended = dir.run().args(["--timeout", "5s"]).end().code(1);
    insta::assert_snapshot!(ended.stdout(), @"
    --- call_1 sleepy: error
    tool `sleepy` did not end within 5s
    --- call_2 stubborn: error
    tool `stubborn` did not end within 5s
    --- call_3 tidy: error
    tool `tidy` did not end within 5s
    --- call_4 next: ok
    next
    --- call_5 look: ok
    gone
    ");
}
