//! `simulate`: what it prints, and the files it writes.

use super::support::Dir;

const BATCH: &str = r#"
title = "Two edits and a look"
[conversation.tools.edit]
concurrency = 1
[conversation.tools.look]
[[call]]
name = "first"
tool = "edit"
does = "2s fail"
[[call]]
name = "second"
tool = "edit"
[[call]]
name = "look"
tool = "look"
"#;

fn batch() -> Dir {
    let dir = Dir::new();
    dir.write("batch.toml", BATCH);
    dir
}

#[test]
fn the_timeline_and_each_decision() {
    let ended = batch().program().args(["simulate", "batch.toml", "--decisions"]).end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r"
    batch.toml: Two edits and a look

              0s                     1s                     2s                       waited  ran
    1 first   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓                                  2s  failed
    2 second  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░███████████████████████      2s   1s  ok
    3 look    ███████████████████████                                                         1s  ok

    #1 at 0s
    asked     0 running
      key     edit: 0 of 1 running, 2 waiting
      call    1 first, parked since 0s, key edit
      call    3 look, parked since 0s
    answered  start 1 first, 3 look

    #2 at 2s
    asked     0 running
      key     edit: 0 of 1 running, 1 waiting, 1 ended, 1 failed, last start 0s, last end 2s
      call    2 second, parked since 0s, key edit
    answered  start 2 second
    ");
    assert_eq!(ended.stderr(), "");
}

#[test]
fn decisions_are_in_the_json_if_they_are_asked_for() {
    let dir = batch();
    let args = ["simulate", "batch.toml", "--format", "json"];
    let plain = dir.program().args(args).end().code(0).json();
    assert_eq!(plain["data"][0]["questions"], serde_json::Value::Null);
    let with = dir.program().args(args).args(["--decisions"]).end().code(0).json();
    let questions = with["data"][0]["questions"].as_array().expect("a list");
    let released: Vec<_> = questions.iter().map(|it| it["answer"]["release"].clone()).collect();
    assert_eq!(
        serde_json::Value::from(released),
        serde_json::json!([
            [{ "call": 0, "label": "first" }, { "call": 2, "label": "look" }],
            [{ "call": 1, "label": "second" }],
        ])
    );
}

/// A policy that starts the last call first, where order is guarded.
fn last_first() -> (Dir, [&'static str; 5]) {
    let dir = batch();
    let hostile = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile");
    let policy = std::fs::read(hostile.join("last-first.wasm")).expect("it is checked in");
    dir.write("policy.wasm", policy);
    dir.write("batch.toml", format!("{BATCH}[conversation.release]\nguard = \"order\"\n"));
    (dir, ["simulate", "batch.toml", "--policy", "policy.wasm", "--decisions"])
}

#[test]
fn a_fault_stands_with_the_question_it_answered() {
    let (dir, args) = last_first();
    let text = dir.program().args(args).end().code(0).stdout();
    let (_, decisions) = text.split_once("#1").expect("there is a decision");
    insta::assert_snapshot!(format!("#1{decisions}"), @r#"
    #1 at 0s
    asked     0 running
      key     edit: 0 of 1 running, 2 waiting
      call    1 first, parked since 0s, key edit
      call    2 second, parked since 0s, key edit
      call    3 look, parked since 0s
    answered  start 3 look

    #2 at 1s
    asked     0 running
      key     edit: 0 of 1 running, 2 waiting
      call    1 first, parked since 0s, key edit
      call    2 second, parked since 0s, key edit
    answered  start 2 second
    fault     released call 1 before call 0, which waits for the same key "edit"
    "#);
}

#[test]
fn a_fault_is_in_the_json_of_the_question_it_answered() {
    let (dir, args) = last_first();
    let json = dir.program().args(args).args(["--format", "json"]).end().code(0).json();
    let questions = json["data"][0]["questions"].as_array().expect("a list");
    let faults: Vec<_> = questions.iter().map(|it| it["fault"]["kind"].clone()).collect();
    assert_eq!(serde_json::Value::from(faults), serde_json::json!([null, "out-of-order"]));
}

#[test]
fn a_picture_and_a_trace_are_written_and_nothing_is_said() {
    let dir = batch();
    let args = ["simulate", "batch.toml", "--svg", "out.svg", "--trace", "out.json"];
    let ended = dir.program().args(args).end().code(0);
    assert_eq!(ended.stderr(), "");
    assert!(dir.read("out.svg").starts_with("<svg xmlns="));
    let trace: serde_json::Value = serde_json::from_str(&dir.read("out.json")).expect("JSON");
    assert_eq!(trace["displayTimeUnit"], "ms");
    let ended = dir.program().args(["simulate", "batch.toml", "--svg", "no/out.svg"]).end().code(2);
    let error = "error: failed to write `no/out.svg`: No such file or directory (os error 2)\n";
    assert_eq!(ended.stderr(), error);
}

#[test]
fn pictures_of_several_scenarios_are_numbered_and_named() {
    let dir = batch();
    dir.write("other.toml", BATCH);
    let args = ["simulate", "batch.toml", "other.toml", "--svg", "a.b.svg", "--trace", "trace"];
    let ended = dir.program().args(args).end().code(0);
    assert_eq!(
        ended.stderr(),
        "wrote a.b-1.svg of batch.toml\nwrote trace-1 of batch.toml\nwrote a.b-2.svg of other.toml\n\
         wrote trace-2 of other.toml\n"
    );
    assert!(
        dir.has("a.b-1.svg") && dir.has("a.b-2.svg") && dir.has("trace-1") && dir.has("trace-2")
    );
    assert!(!dir.has("a.b.svg") && !dir.has("trace"));
}

#[test]
fn a_seed_gives_the_same_each_time_and_another_one_something_else() {
    let dir = Dir::new();
    dir.write(
        "batch.toml",
        "[conversation.tools.t]\n[[call]]\nname = \"A\"\ntool = \"t\"\n[[event]]\nat = 1\ncancel = true\n",
    );
    let run = |seed: u64| {
        let args = ["simulate", "batch.toml", "--seed", &seed.to_string(), "--format", "json"];
        let json = dir.program().args(args).end().code(0).json();
        json["data"][0]["responses"].as_str().expect("a text").to_owned()
    };
    let mut found: Vec<String> = (0..10).map(run).collect();
    assert_eq!(found, (0..10).map(run).collect::<Vec<_>>());
    found.sort();
    found.dedup();
    assert_eq!(found, ["A cancelled@1", "A ok@1"]);
}

#[test]
fn a_closed_pipe_is_no_error_to_shout_about() {
    let dir = batch();
    let mut running =
        dir.program().args(["simulate", "batch.toml"]).start_with(std::process::Stdio::piped());
    drop(running.stdout());
    assert_eq!(running.end().stderr(), "");
}
