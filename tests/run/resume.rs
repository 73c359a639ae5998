//! Going on with a batch after the program was killed.

use rustix::process::Signal;
use serde_json::json;

use super::support::Dir;

/// A call that is done, one that runs until it is told, one that waits for it, and one that nobody approves.
fn four() -> Dir {
    let dir = Dir::new();
    let key = "concurrency = { key = \"disk\" }";
    dir.tool("quick", key, "echo quick >>ran; echo done");
    dir.tool("slow", key, "echo \"slow $1\" >>ran; : >started; await ../go; echo \"slow $1\"");
    dir.settings("asks", "command = \"true\"\nrun = \"ask\"");
    dir.batch(&json!([
        { "id": "1", "name": "quick" },
        { "id": "2", "name": "slow", "arguments": { "n": 2 } },
        { "id": "3", "name": "asks" },
        { "id": "4", "name": "slow", "arguments": { "n": 4 } },
        { "id": "5", "name": "nobody", "arguments": { "n": 5 } },
    ]));
    dir
}

/// The same, recorded, and killed while the second call runs.
fn killed(arguments: &[&str]) -> Dir {
    let dir = four();
    let mut running = dir.run().args(["--record", "record.jsonl"]).args(arguments).start();
    running.until_file("work/started");
    running.until_said("running", "2");
    // The record is written beside what is said.
    running.until_recorded("record.jsonl", r#""event":"settled","call":0"#);
    running.until_recorded("record.jsonl", r#""event":"released","call":1"#);
    running.signal(Signal::KILL);
    let ended = running.end_whatever_is_left();
    assert_eq!(ended.signal(), Some(9));
    dir
}

const RESUME: [&str; 7] =
    ["run", "--resume", "record.jsonl", "--config", "tools", "--workspace", "work"];

#[test]
fn what_has_no_response_runs_again_and_nothing_else() {
    let dir = killed(&["--record-arguments"]);
    assert_eq!(dir.read("work/ran"), "quick\nslow 2\n");
    dir.write("go", "");
    // The record that is gone on with is read before it is written anew.
    let again = ["--record", "record.jsonl", "--record-arguments"];
    let ended = dir.program().args(RESUME).args(again).end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- 1 quick: ok
    done
    --- 2 slow: ok
    slow 2
    --- 3 asks: not run
    tool `asks` runs after approval only, and there was nobody to ask
    --- 4 slow: ok
    slow 4
    --- 5 nobody: error
    no tool `nobody` is configured
    "#);
    assert_eq!(dir.read("work/ran"), "quick\nslow 2\nslow 2\nslow 4\n");
    insta::assert_snapshot!(ended.plain_stderr(), @r#"
    running   2 slow 2
    queued    4 slow 4: key disk (limit 1) held by 2, next in line
    done      2 slow 2  [TIME]
    running   4 slow 4
    done      4 slow 4  [TIME]

      [AXIS]  waited  ran
    1 quick  answered
    2 slow 2  [BAR]  [TIME]  [TIME]  ok
    3 asks  answered
    4 slow 4  [BAR]  [TIME]  [TIME]  ok
    5 nobody 5  answered
    5 calls, 1 failed, 1 not run, key disk: peak 1 of 1, [TIME], 2 decisions by policy default in [TIME] ([TIME] each)
    "#);

    // Now every call has its response: nothing runs, and the answers are the same.
    let over = dir.program().args(RESUME).end().code(1);
    assert_eq!(over.stdout(), ended.stdout());
    assert_eq!(dir.read("work/ran"), "quick\nslow 2\nslow 2\nslow 4\n");
}

#[test]
fn another_policy_can_be_asked_about_a_batch_that_was_gone_on_with() {
    let dir = killed(&["--record-arguments"]);
    dir.write("go", "");
    let again = ["--record", "second.jsonl", "--record-arguments"];
    drop(dir.program().args(RESUME).args(again).end().code(1));
    dir.put("policies/default.wasm");
    let replay = ["replay", "second.jsonl", "--policy", "default.wasm"];
    let ended = dir.program().args(replay).end().code(0);
    let stdout = ended.stdout();
    let tail = stdout.lines().skip_while(|line| !line.starts_with("default:"));
    assert_eq!(tail.skip(1).collect::<Vec<_>>(), ["  peaks: the same", "  starts: the same"]);
}

#[test]
fn a_record_without_arguments_is_not_enough() {
    let dir = killed(&[]);
    let ended = dir.program().args(RESUME).end().code(2);
    insta::assert_snapshot!(ended.stderr(), @"error: failed to go on with `record.jsonl`: it has no arguments: only what `run --record FILE --record-arguments` has written can be gone on with");
}

#[test]
fn a_batch_and_a_record_are_one_too_many_and_neither_is_too_few() {
    let dir = four();
    let both = dir.run().args(["--resume", "record.jsonl"]).end().code(2);
    insta::assert_snapshot!(both.stderr(), @r#"
    error: the argument '[BATCH]' cannot be used with '--resume <RECORD>'

    Usage: jp-policy run --config <PATH>... --workspace <FOLDER> <BATCH>

    For more information, try '--help'.
    "#);
    let neither = dir.program().args(["run", "--config", "tools"]).end().code(2);
    insta::assert_snapshot!(neither.stderr(), @r#"
    error: the following required arguments were not provided:
      <BATCH>

    Usage: jp-policy run --config <PATH>... <BATCH>

    For more information, try '--help'.
    "#);
}
