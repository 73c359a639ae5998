//! Processes that a tool leaves in the background.

use rustix::process::Signal;
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

#[test]
fn it_has_as_much_time_to_stop_as_the_tool_itself() {
    // The tool ends as soon as it is asked to; its child, which holds the output open, needs some of the two seconds.
    let dir = Dir::new();
    let child = "trap 'sleep 0.8; : >cleaned; exit' TERM; : >started; while :; do sleep 0.05; done";
    dir.tool("leave", "", &format!("({child}) & wait"));
    dir.batch(&json!([{ "name": "leave" }]));
    let mut running = dir.json().start();
    running.until_file("work/started");
    running.signal(Signal::INT);
    running.end().code(130);
    assert!(dir.has("work/cleaned"));
}

/// In a container the first process often waits for none but its own child: what it inherits stays a zombie.
#[test]
#[cfg(target_os = "linux")]
fn where_nobody_waits_for_it_the_call_ends_as_soon() {
    use std::{
        process::Command,
        time::{Duration, Instant},
    };

    const NAME: &str = "run::processes::where_nobody_waits_for_it_the_call_ends_as_soon";
    const INNER: &str = "JP_POLICY_TEST_INNER";
    if std::env::var_os(INNER).is_none() {
        // In a process of its own: this one would inherit the processes of all tests.
        let tests = std::env::current_exe().expect("it runs");
        let args = ["--exact", NAME, "--include-ignored", "--nocapture"];
        let inner = Command::new(tests).args(args).env(INNER, "1").output().expect("it starts");
        assert!(inner.status.success(), "{}", String::from_utf8_lossy(&inner.stderr));
        return;
    }
    let me = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(me)).expect("Linux has this");
    // To wait for a zombie until all patience is gone takes 7 seconds.
    let quick = (0..3).any(|_| {
        let start = Instant::now();
        leaves(&Dir::new(), "sleep 1000 >/dev/null 2>&1 & echo $! >pid; echo left");
        start.elapsed() < Duration::from_secs(7)
    });
    assert!(quick, "each run took 7 seconds");
}
