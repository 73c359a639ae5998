//! How much a tool writes, and when it stops writing.

use serde_json::json;

use super::support::Dir;

/// What jp-policy keeps of a standard error.
const KEPT: usize = 64 << 10;

#[test]
fn fifty_megabytes_are_an_error_and_do_not_stay_in_memory() {
    let dir = Dir::new();
    let flood = "head -c 52428800 /dev/zero | tr '\\0' x";
    dir.tool("out", "concurrency = { key = \"disk\" }", flood);
    dir.tool(
        "err",
        "concurrency = { key = \"disk\" }",
        &format!("{flood} >&2; echo 'the end' >&2; exit 1"),
    );
    // The most memory that the program has had, from its own child.
    dir.tool(
        "peak",
        "concurrency = { key = \"disk\" }",
        "sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\) kB$/\\1/p' /proc/$PPID/status 2>/dev/null || :",
    );
    dir.batch(&json!([{ "name": "out" }, { "name": "err" }, { "name": "peak" }]));
    let ended = dir.json().end().code(1);
    let responses = ended.responses();
    let begin = "x".repeat(200);
    assert_eq!(
        responses[0],
        json!({
            "id": "call_1",
            "name": "out",
            "status": "error",
            "content": format!("tool `out` wrote 50.0 MiB to its standard output, over the limit of 16.0 MiB\nit begins: {begin}..."),
        })
    );
    let kept = "x".repeat(KEPT - "the end\n".len());
    let content = format!("tool `err` failed: exit status: 1\n...{kept}the end");
    assert!(responses[1]["content"] == content, "the end of standard error");
    assert_eq!(responses[1]["status"], "error");
    assert_eq!(responses[2]["status"], "ok");
    let peak = responses[2]["content"].as_str().expect("a text").trim();
    if !peak.is_empty() {
        let peak: u64 = peak.parse().expect("kilobytes");
        assert!((1_000..200_000).contains(&peak), "peak of {peak} kB");
    }
}

#[test]
fn output_up_to_the_limit_is_delivered_whole() {
    let dir = Dir::new();
    dir.tool("out", "", "head -c 16777215 /dev/zero | tr '\\0' x; echo");
    dir.batch(&json!([{ "name": "out" }]));
    let ended = dir.run().args(["--quiet"]).end().code(0);
    let (head, content) = ended.stdout.split_at("--- call_1 out: ok\n".len());
    assert_eq!(head, b"--- call_1 out: ok\n");
    assert_eq!(content.len(), 16 << 20);
    assert!(content.ends_with(b"xx\n"));
}

#[test]
fn a_tool_that_closes_its_output_keeps_its_slot_until_it_ends() {
    let dir = Dir::new();
    // The first gives the second every chance to start too early.
    let first = "echo said; exec >&- 2>&-
patience=10
until [ -e second ] || [ $patience = 0 ]; do patience=$((patience - 1)); sleep 0.05; done
echo 'first ends' >>log";
    dir.tool("first", "concurrency = { key = \"disk\" }", first);
    dir.tool("second", "concurrency = { key = \"disk\" }", ": >second; echo 'second starts' >>log");
    dir.batch(&json!([{ "name": "first" }, { "name": "second" }]));
    let ended = dir.json().end().code(0);
    assert_eq!(dir.read("work/log"), "first ends\nsecond starts\n");
    assert_eq!(ended.responses()[0]["content"], "said\n");
}

/// Without the time in front of each line, and what differs from run to run.
fn told(log: &str) -> String {
    let line = |line: &str| {
        let rest = line.split_once(' ').map_or(line, |(_, rest)| rest).trim_start();
        match rest.split_once(" at=") {
            Some((text, _)) => text.to_owned(),
            None => rest.to_owned(),
        }
    };
    log.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_happens_and_what_the_policy_says_goes_to_a_log_file() {
    let dir = Dir::new();
    dir.tool("one", "concurrency = 1", "echo done");
    dir.batch(&json!([{ "name": "one" }]));
    dir.put("tests/hostile/log-escapes.wasm");
    let ended =
        dir.run().args(["--policy", "log-escapes.wasm", "--log-file", "run.log"]).end().code(0);
    assert!(!ended.stderr().contains("forged"), "nothing of it is for the terminal");
    insta::assert_snapshot!(told(&dir.read("run.log")), @r#"
    DEBUG batch: Submitted(0)
    DEBUG batch: Parked(0)
    DEBUG policy: �]0;owned��[31mred� ERROR �forged�
    INFO policy: �]0;owned��[31mred� ERROR �forged�
    WARN policy: �]0;owned��[31mred� ERROR �forged�
    ERROR policy: �]0;owned��[31mred� ERROR �forged�
    DEBUG batch: Decided { shown: 1, released: [0], wake_at: None }
    DEBUG batch: Released(0, ExecutionId(0))
    DEBUG batch: Ended(Some(0), ExecutionId(0), Succeeded)
    DEBUG batch: Settled(0, Responded)
    "#);
}

#[test]
fn a_log_file_that_can_not_be_written_is_said_before_anything_runs() {
    let dir = Dir::new();
    dir.tool("one", "", "echo done >ran");
    dir.batch(&json!([{ "name": "one" }]));
    let ended = dir.run().args(["--log-file", "missing/run.log"]).end().code(2);
    insta::assert_snapshot!(ended.stderr(), @"error: failed to write to `missing/run.log`: No such file or directory (os error 2)");
    assert!(!dir.has("ran"));
}
