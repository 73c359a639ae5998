//! `test`: what it prints, its reports, and how it is interrupted.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use super::support::{Dir, plain};

const GOOD: &str = r#"
title = "Good"
[conversation.tools.t]
[[call]]
name = "A"
tool = "t"
[expect]
starts = "A@0"
"#;

const BAD: &str = r#"
title = "Starts \u001b[2J otherwise"
[conversation.tools.t]
concurrency = 1
[[call]]
name = "A"
tool = "t"
[[call]]
name = "B b"
tool = "t"
[expect]
starts = "A@0 B b@2 C@3"
settled = 3
"#;

const BROKEN: &str = r#"
[conversation.tools.t]
[[call]]
name = "A"
tool = "t"
copies = 0
"#;

fn three() -> Dir {
    let dir = Dir::new();
    dir.write("s/a-good.toml", GOOD);
    dir.write("s/b-bad.toml", BAD);
    dir.write("s/c/broken.toml", BROKEN);
    dir
}

#[test]
fn a_failure_shows_what_differs_above_what_happened() {
    let ended = three().program().args(["test", "s"]).end().code(1);
    let stdout = ended.stdout();
    let (shown, sums) = stdout.trim_end().rsplit_once('\n').expect("several lines");
    insta::assert_snapshot!(shown, @r"
    failed  s/b-bad.toml  Starts �[2J otherwise
      starts
        expected  A@0  B b@2    C@3
        actual    A@0  B b@1    -
                       differs  missing
      settled
        expected  3
        actual    2

             0s                500ms              1s                1.5s                 waited  ran
      1 A    █████████████████████████████████████                                                1s  ok
      2 B b  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░█████████████████████████████████████      1s   1s  ok

    failed  s/c/broken.toml
      s/c/broken.toml:6:10: error: call `A`: `copies` is 0, expected 1 to 100000
        s/c/broken.toml:6:10: how many calls there are
    ");
    assert_eq!(plain(sums), "1 passed, 2 failed in [TIME]\n");
    assert_eq!(ended.stderr(), "");
}

#[test]
fn the_same_as_json() {
    let dir = three();
    let ended = dir.program().args(["test", "s", "--format", "json"]).end().code(1);
    let json = ended.json();
    let data = &json["data"];
    assert_eq!([&data["passed"], &data["failed"], &data["not_run"]], [1, 2, 0]);
    let bad = &data["scenarios"][1];
    assert!(bad["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    assert_eq!(
        bad["mismatches"][0],
        json!({
            "what": "starts",
            "expected": "A@0 B b@2 C@3",
            "actual": "A@0 B b@1",
            "changes": [
                { "kind": "differs", "expected": "B b@2", "actual": "B b@1" },
                { "kind": "missing", "expected": "C@3", "actual": null },
            ],
        })
    );
    assert_eq!(bad["actual"]["responses"], "A ok@1, B b ok@2");
    assert_eq!(data["scenarios"][0]["passed"], true);
    assert_eq!(data["scenarios"][2]["mismatches"], json!(null));
}

#[test]
fn a_junit_report_counts_them() {
    let dir = three();
    dir.program().args(["test", "s", "--junit", "report.xml"]).end().code(1);
    let report = dir.read("report.xml");
    let document = roxmltree::Document::parse(&report).expect("it is well-formed");
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("one");
    let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name));
    assert_eq!(counts, ["3", "1", "1", "0"].map(Some));
    let cases = suite.children().filter(|node| node.has_tag_name("testcase"));
    let names: Vec<_> = cases.filter_map(|case| case.attribute("name")).collect();
    assert_eq!(names, ["Good", "Starts \u{fffd}[2J otherwise", "broken"]);
}

#[test]
fn what_is_not_there_is_wrong_use() {
    let dir = three();
    let ended = dir.program().args(["test", "s", "nowhere"]).end().code(2);
    assert_eq!(
        ended.stderr(),
        "error: failed to read `nowhere`: No such file or directory (os error 2)\n"
    );
    dir.folder("empty");
    let ended = dir.program().args(["test", "empty"]).end().code(2);
    assert_eq!(ended.stderr(), "error: no scenarios: there is no `*.toml` file in `empty`\n");
}

/// A scenario whose policy takes an hour, if it may.
fn endless() -> Dir {
    let dir = Dir::new();
    let hostile = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile");
    dir.write("loop.wasm", fs::read(hostile.join("loop-at-once.wasm")).expect("it is checked in"));
    let plugin = "
        [conversation.release]
        policy = \"loop\"
        [plugins.wasm.loop]
        path = \"../loop.wasm\"
        limits = { fuel = 1_000_000_000_000_000, time = \"1h\" }
    ";
    dir.write("s/endless.toml", format!("{GOOD}{plugin}"));
    dir
}

#[test]
fn the_second_interrupt_ends_it_at_once() {
    let dir = endless();
    let mut running = dir.program().args(["test", "s"]).start();
    running.until_caught(Signal::INT);
    running.signal(Signal::INT);
    let stopping = "stopping after the tests that run; once more to end at once\n";
    running.until("the word that it stops", || dir.read("stderr") == stopping);
    running.signal(Signal::INT);
    running.end().code(130);
}

#[test]
fn the_first_interrupt_lets_what_runs_end_and_reports() {
    let dir = endless();
    // This one ends, after its budget; whatever comes behind it is not begun.
    let text = dir.read("s/endless.toml").replace("1_000_000_000_000_000", "500_000_000");
    for n in 0..200 {
        dir.write(&format!("s/{n:03}.toml"), &text);
    }
    fs::remove_file(dir.path("s/endless.toml")).expect("it was there");
    let mut running = dir.program().args(["test", "s"]).start();
    running.until_caught(Signal::INT);
    running.signal(Signal::INT);
    let ended = running.end().code(130);
    let stdout = ended.stdout();
    let sums = stdout.lines().last().expect("a line");
    assert!(sums.contains(" not run in "), "{sums}");
}
