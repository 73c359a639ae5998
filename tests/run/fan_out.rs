//! Tool calls that carry several sets of arguments.

use rustix::process::Signal;
use serde_json::{Value as Json, json};

use super::support::Dir;

/// A tool that fans out, one at a time; `n` of 13 fails.
fn applies(on_error: &str, limit: u32) -> Dir {
    let dir = Dir::new();
    dir.tool(
        "apply",
        &format!("concurrency = {limit}\nfan_out = {{ on_error = \"{on_error}\" }}\nparameters.n = {{ type = \"integer\", required = true }}"),
        "echo \"$1\" >>ran; [ \"$1\" != 13 ] || { echo unlucky >&2; exit 1; }; echo \"did $1\"",
    );
    dir
}

fn operations(numbers: &[u32]) -> Json {
    let sets: Vec<Json> = numbers.iter().map(|n| json!({ "n": n })).collect();
    json!({ "operations": sets })
}

fn batch(dir: &Dir, calls: &[Json]) {
    let calls = ('F'..).zip(calls);
    let calls =
        calls.map(|(id, arguments)| json!({ "id": id, "name": "apply", "arguments": arguments }));
    dir.batch(&calls.collect());
}

#[test]
fn one_response_lists_its_operations_in_order() {
    let dir = applies("continue", 1);
    batch(&dir, &[operations(&[1, 13, 3]), json!({ "n": 4 })]);
    let ended = dir.run().end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- F apply: error
    [{"operation":1,"status":"ok","content":"did 1\n"},
    {"operation":2,"status":"error","content":"tool `apply` failed: exit status: 1\nunlucky"},
    {"operation":3,"status":"ok","content":"did 3\n"}]
    --- G apply: ok
    did 4
    "#);
    assert_eq!(
        dir.read("work/ran"),
        "1\n13\n3\n4\n",
        "the later call of the key waits for all operations"
    );
    insta::assert_snapshot!(ended.plain_stderr(), @r#"
    running   F.1 apply 1
    queued    F.2 apply 13: key apply (limit 1) held by F.1, next in line
    queued    F.3 apply 3: key apply (limit 1) held by F.1, 1 ahead
    queued    G apply 4: key apply (limit 1) held by F.1, 2 ahead
    done      F.1 apply 1  [TIME]
    running   F.2 apply 13
    failed    F.2 apply 13  [TIME]
    running   F.3 apply 3
    done      F.3 apply 3  [TIME]
    running   G apply 4
    done      G apply 4  [TIME]

      [AXIS]  waited  ran
    1 apply 1  [BAR]  [TIME]  [TIME]  ok
    2 apply 13  [BAR]  [TIME]  [TIME]  failed
    3 apply 3  [BAR]  [TIME]  [TIME]  ok
    4 apply 4  [BAR]  [TIME]  [TIME]  ok
    2 calls, 1 failed, key apply: peak 1 of 1, [TIME], 4 decisions by policy default in [TIME] ([TIME] each)
    "#);
}

/// Cases 61 and 62.
#[test]
fn stop_runs_nothing_after_a_failure_and_stays_inside_the_call() {
    let dir = applies("stop", 1);
    batch(&dir, &[operations(&[1, 13, 3, 4]), operations(&[5, 6])]);
    let ended = dir.run().end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- F apply: error
    [{"operation":1,"status":"ok","content":"did 1\n"},
    {"operation":2,"status":"error","content":"tool `apply` failed: exit status: 1\nunlucky"},
    {"operation":3,"status":"not-run","content":"not run: another operation of this call failed, and `fan_out.on_error` is \"stop\""},
    {"operation":4,"status":"not-run","content":"not run: another operation of this call failed, and `fan_out.on_error` is \"stop\""}]
    --- G apply: ok
    [{"operation":1,"status":"ok","content":"did 5\n"},
    {"operation":2,"status":"ok","content":"did 6\n"}]
    "#);
    assert_eq!(dir.read("work/ran"), "1\n13\n5\n6\n");
    insta::assert_snapshot!(ended.plain_stderr(), @r#"
    running   F.1 apply 1
    queued    F.2 apply 13: key apply (limit 1) held by F.1, next in line
    queued    F.3 apply 3: key apply (limit 1) held by F.1, 1 ahead
    queued    F.4 apply 4: key apply (limit 1) held by F.1, 2 ahead
    queued    G.1 apply 5: key apply (limit 1) held by F.1, 3 ahead
    queued    G.2 apply 6: key apply (limit 1) held by F.1, 4 ahead
    done      F.1 apply 1  [TIME]
    running   F.2 apply 13
    failed    F.2 apply 13  [TIME]
    not run   F.3 apply 3: another operation failed
    not run   F.4 apply 4: another operation failed
    running   G.1 apply 5
    done      G.1 apply 5  [TIME]
    running   G.2 apply 6
    done      G.2 apply 6  [TIME]

      [AXIS]  waited  ran
    1 apply 1  [BAR]  [TIME]  [TIME]  ok
    2 apply 13  [BAR]  [TIME]  [TIME]  failed
    3 apply 3  [BAR]  [TIME]  not run
    4 apply 4  [BAR]  [TIME]  not run
    5 apply 5  [BAR]  [TIME]  [TIME]  ok
    6 apply 6  [BAR]  [TIME]  [TIME]  ok
    2 calls, 1 failed, key apply: peak 1 of 1, [TIME], 6 decisions by policy default in [TIME] ([TIME] each)
    "#);
}

#[test]
fn an_operation_that_can_not_run_stops_the_others_before_any_starts() {
    let dir = applies("stop", 1);
    batch(&dir, &[json!({ "operations": [{ "n": 1 }, "two", { "m": 3 }] })]);
    let ended = dir.run().end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- F apply: error
    [{"operation":1,"status":"not-run","content":"not run: another operation of this call failed, and `fan_out.on_error` is \"stop\""},
    {"operation":2,"status":"error","content":"invalid arguments for tool `apply`: operation 2 is a text, expected an object of arguments"},
    {"operation":3,"status":"error","content":"invalid arguments for tool `apply`: argument `n` is missing"}]
    "#);
    assert!(!dir.has("work/ran"));
}

#[test]
fn what_is_no_envelope_is_said() {
    let dir = applies("continue", 1);
    let calls = [
        json!({ "operations": [] }),
        json!({ "operations": "[]" }),
        json!({ "operations": [{ "n": 1 }], "n": 2 }),
        json!({ "operations": [{ "n": 1 }] }),
    ];
    batch(&dir, &calls);
    let ended = dir.run().end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- F apply: error
    invalid arguments for tool `apply`: `operations` is empty, expected at least one argument set
    --- G apply: error
    invalid arguments for tool `apply`: `operations` is a text, expected a list of argument sets
    --- H apply: error
    invalid arguments for tool `apply`: `operations` stands beside `n`; expected it alone, with all arguments in its sets, or the arguments without it
    --- I apply: ok
    [{"operation":1,"status":"ok","content":"did 1\n"}]
    "#);
    assert_eq!(dir.read("work/ran"), "1\n");
}

#[test]
fn without_fan_out_an_envelope_is_a_tools_own_argument() {
    let dir = Dir::new();
    dir.settings("echo", "command = \"echo {{tool.arguments.operations}}\"\nrun = \"unattended\"");
    dir.batch(&json!([{ "id": "1", "name": "echo", "arguments": { "operations": [1, 2] } }]));
    assert_eq!(dir.run().end().code(0).stdout(), "--- 1 echo: ok\n[1,2]\n");
}

/// Case 70: what never started is told apart from what was stopped, and from what had finished.
#[test]
fn cancelled_in_the_middle_each_operation_says_how_far_it_came() {
    let dir = Dir::new();
    dir.tool(
        "apply",
        "concurrency = 1\nfan_out = { on_error = \"stop\" }\ncancellation_response = \"Not now.\"",
        "[ \"$1\" != 2 ] || { : >second; exec sleep 1000; }; echo \"did $1\"",
    );
    batch(&dir, &[operations(&[1, 2, 3]), json!({ "n": 4 })]);
    let record = ["--record", "record.jsonl", "--record-arguments"];
    let mut running = dir.run().args(record).start();
    running.until_file("work/second");
    running.signal(Signal::TERM);
    let ended = running.end().code(130);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- F apply: cancelled
    [{"operation":1,"status":"ok","content":"did 1\n"},
    {"operation":2,"status":"cancelled","content":"Not now."},
    {"operation":3,"status":"not-run","content":"Not now."}]
    --- G apply: cancelled
    Not now.
    "#);
    // Its record says the same of each operation.
    let resume = ["run", "--resume", "record.jsonl", "--config", "tools", "--workspace", "work"];
    assert_eq!(dir.program().args(resume).end().code(1).stdout(), ended.stdout());
}

#[test]
fn ten_thousand_operations_are_one_call() {
    let dir = Dir::new();
    let settings = "command = \"true\"\nrun = \"skip\"\nconcurrency = 4\nfan_out = true";
    dir.settings("apply", settings);
    let sets: Vec<Json> = (0..10_000).map(|n| json!({ "n": n })).collect();
    dir.batch(&json!([{ "id": "F", "name": "apply", "arguments": { "operations": sets } }]));
    let ended = dir.json().end().code(1);
    let responses = ended.responses();
    assert_eq!(responses.as_array().map(Vec::len), Some(1));
    let content: Json = serde_json::from_str(responses[0]["content"].as_str().expect("a text"))
        .expect("the list of operations is JSON");
    let listed = content.as_array().expect("a list");
    assert_eq!(listed.len(), 10_000);
    assert_eq!(
        listed[9_999],
        json!({ "operation": 10_000, "status": "not-run", "content": "tool `apply` is set to be skipped" })
    );
}

/// A fanned-out call of which one operation was done goes on with the others.
#[test]
fn what_was_done_of_a_call_is_not_done_again_when_it_is_gone_on_with() {
    let dir = Dir::new();
    dir.tool(
        "apply",
        "concurrency = 1\nfan_out = true",
        "echo \"$1\" >>ran; [ \"$1\" != 2 ] || { : >second; await ../go; }; echo \"did $1\"",
    );
    batch(&dir, &[json!({ "operations": [{ "n": 1 }, { "n": 2 }, "three"] }), json!({ "n": 4 })]);
    let record = ["--record", "record.jsonl", "--record-arguments"];
    let mut running = dir.run().args(record).start();
    running.until_file("work/second");
    running.signal(Signal::KILL);
    drop(running.end_whatever_is_left());
    dir.write("go", "");
    let resume = ["run", "--resume", "record.jsonl", "--config", "tools", "--workspace", "work"];
    let ended = dir.program().args(resume).end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- F apply: error
    [{"operation":1,"status":"ok","content":"did 1\n"},
    {"operation":2,"status":"ok","content":"did 2\n"},
    {"operation":3,"status":"error","content":"invalid arguments for tool `apply`: operation 3 is a text, expected an object of arguments"}]
    --- G apply: ok
    did 4
    "#);
    assert_eq!(dir.read("work/ran"), "1\n2\n2\n4\n");
}
