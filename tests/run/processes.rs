//! Processes that a tool leaves in the background.

use serde_json::json;

use super::support::{Dir, is_gone};

/// Runs a tool that leaves a process behind, then one of the same key that says whether it is still there.
fn leaves(dir: &Dir, script: &str) {
    dir.tool("leave", "concurrency = { key = \"disk\" }", script);
    dir.tool("look", "concurrency = { key = \"disk\" }", "gone \"$(cat pid)\" && echo gone");
    dir.batch(&json!([{ "name": "leave" }, { "name": "look" }]));
    // That nothing is left at the end is checked after every run.
    let ended = dir.json().end().code(0);
    assert_eq!(
        ended.responses(),
        json!([
            { "id": "call_1", "name": "leave", "status": "ok", "content": "left\n" },
            { "id": "call_2", "name": "look", "status": "ok", "content": "gone\n" },
        ])
    );
    let pid = dir.read("work/pid").trim().parse().expect("a pid");
    assert!(is_gone(pid));
}

#[test]
fn one_that_holds_the_output_open() {
    leaves(&Dir::new(), "sleep 1000 & echo $! >pid; echo left");
}

#[test]
fn one_that_does_not() {
    leaves(&Dir::new(), "sleep 1000 >/dev/null 2>&1 & echo $! >pid; echo left");
}

#[test]
fn one_that_ignores_to_be_asked() {
    leaves(&Dir::new(), "(trap '' TERM HUP; exec sleep 1000) & echo $! >pid; echo left");
}
