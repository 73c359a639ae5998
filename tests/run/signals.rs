//! Signals to the program itself.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::support::{Dir, is_gone, until};

/// Runs until it is ended, with a process of its own in the background.
const LONG: &str = "sleep 1000 & echo $! $$ >pids.new; mv pids.new pids; wait";

/// The same, and does not end when it is asked to; it says that it was.
const STUBBORN: &str = "trap ': >asked' TERM
(trap '' TERM; exec sleep 1000) & echo $! $$ >pids.new; mv pids.new pids
while :; do sleep 0.05; done";

/// What comes of the four calls below.
const CANCELLED: &str = "--- 1 quick: ok
real
--- 2 long: cancelled
The tool call was cancelled.
--- 3 long: cancelled
The tool call was cancelled.
--- 4 polite: cancelled
Not now, thank you.
";

/// How long a tool that was asked to stop may take.
const GRACE: Duration = Duration::from_secs(2);

/// The tool and its process in the background.
fn pids(dir: &Dir) -> [i32; 2] {
    let text = dir.read("work/pids");
    let pids = text.split_whitespace().map(|pid| pid.parse().expect("a pid"));
    pids.collect::<Vec<_>>().try_into().expect("two pids")
}

/// One call that has ended, one that runs, and two that wait.
fn four(long: &str) -> Dir {
    let dir = Dir::new();
    dir.tool("quick", "concurrency = { key = \"disk\" }", "echo real");
    dir.tool("long", "concurrency = { key = \"disk\" }", long);
    dir.tool(
        "polite",
        "concurrency = { key = \"disk\" }\ncancellation_response = \"Not now, thank you.\"",
        "touch ran",
    );
    dir.batch(&json!([
        { "id": "1", "name": "quick" },
        { "id": "2", "name": "long" },
        { "id": "3", "name": "long" },
        { "id": "4", "name": "polite" },
    ]));
    dir
}

#[test]
fn an_interrupt_stops_what_runs_and_cancels_what_waits() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let dir = four(LONG);
        let mut running = dir.run().start();
        running.until_file("work/pids");
        running.signal(signal);
        let ended = running.end().code(130);
        assert_eq!(ended.stdout(), CANCELLED);
        insta::allow_duplicates! {
            insta::assert_snapshot!(ended.plain_stderr(), @"
            running   1 quick
            queued    2 long: key disk (limit 1) held by 1, next in line
            queued    3 long: key disk (limit 1) held by 1, 1 ahead
            queued    4 polite: key disk (limit 1) held by 1, 2 ahead
            done      1 quick  [TIME]
            running   2 long
            stopping; once more to kill
            cancelled 3 long: The tool call was cancelled.
            cancelled 4 polite: Not now, thank you.
            stopped   2 long  [TIME]

              [AXIS]  waited  ran
            1 quick  [BAR]  [TIME]  [TIME]  ok
            2 long  [BAR]  [TIME]  [TIME]  stopped
            3 long  [BAR]  [TIME]  cancelled
            4 polite  [BAR]  [TIME]  cancelled
            4 calls, 0 failed, 3 cancelled, key disk: peak 1 of 1, [TIME], 2 decisions by policy default in [TIME] ([TIME] each)
            ");
        }
        assert!(pids(&dir).into_iter().all(is_gone));
        assert!(!dir.has("work/ran"));
    }
}

#[test]
fn a_tool_that_is_stopped_can_clean_up() {
    let dir =
        four("trap 'echo cleaned >cleaned; exit 0' TERM; : >pids; while :; do sleep 0.05; done");
    let mut running = dir.run().start();
    running.until_file("work/pids");
    running.signal(Signal::INT);
    running.end().code(130);
    assert_eq!(dir.read("work/cleaned"), "cleaned\n");
}

#[test]
fn a_scratch_copy_is_thrown_away_after_an_interrupt_too() {
    let dir = four(": >\"$TMPDIR/started\"; sleep 1000");
    dir.folder("temp");
    let mut running = dir.run().args(["--scratch"]).env("TMPDIR", dir.path("temp")).start();
    running.until_file("temp/started");
    running.signal(Signal::TERM);
    running.end().code(130);
    assert_eq!(dir.names("temp"), ["started"]);
}

#[test]
fn a_tool_that_does_not_stop_is_killed_after_a_while() {
    let dir = four(STUBBORN);
    let mut running = dir.run().start();
    running.until_file("work/pids");
    let start = Instant::now();
    running.signal(Signal::INT);
    running.until_file("work/asked");
    let ended = running.end().code(130);
    assert!(start.elapsed() >= GRACE, "it had its time");
    assert_eq!(ended.stdout(), CANCELLED);
    assert!(pids(&dir).into_iter().all(is_gone));
}

#[test]
fn a_second_interrupt_kills_at_once() {
    // Without a second one it takes the grace time. On a machine so busy that it takes as long with one, nothing is shown.
    let shown = (0..10).any(|_| {
        let dir = four(STUBBORN);
        let mut running = dir.run().start();
        running.until_file("work/pids");
        let start = Instant::now();
        running.signal(Signal::INT);
        running.until_file("work/asked");
        running.signal(Signal::INT);
        let ended = running.end().code(130);
        assert!(pids(&dir).into_iter().all(is_gone));
        assert_eq!(ended.stdout(), CANCELLED);
        start.elapsed() < GRACE
    });
    assert!(shown, "no run ended before the grace time");
}

#[test]
fn when_the_program_is_killed_its_tools_end_too() {
    let dir = four(STUBBORN);
    let mut running = dir.run().start();
    running.until_file("work/pids");
    running.signal(Signal::KILL);
    let ended = running.end_whatever_is_left();
    assert_eq!(ended.signal(), Some(9));
    let pids = pids(&dir);
    until("the tools to be gone", || pids.iter().all(|pid| is_gone(*pid)).then_some(()));
    until("the guard to be gone", || ended.left().is_empty().then_some(()));
    assert!(!dir.has("work/asked"), "it was killed, not asked");
    assert!(!dir.has("work/ran"));
}
