//! `run --record`: what happens, written line by line while it does.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Command,
};

use rustix::process::Signal;
use serde_json::{Value as Json, json};

use super::support::{Dir, until};

const RECORD: [&str; 2] = ["--record", "record.jsonl"];

/// Two calls of one key.
fn two() -> Dir {
    let dir = Dir::new();
    dir.tool(
        "edit",
        "concurrency = { key = \"disk\" }",
        "echo \"edited $1\" >>log; echo \"secret $1\"",
    );
    dir.batch(&json!([
        { "id": "a", "name": "edit", "arguments": { "n": "password" } },
        { "id": "b", "name": "edit", "arguments": { "n": "2" } },
        { "id": "c", "name": "nope" },
    ]));
    dir
}

/// The record without what differs between two runs.
fn recorded(dir: &Dir) -> String {
    let lines = dir.read("record.jsonl");
    let lines = lines.lines().map(|line| {
        let mut line: Json = serde_json::from_str(line).expect("each line is JSON");
        for field in ["at", "time"] {
            if line[field].is_u64() || line[field].is_string() {
                line[field] = "[TIME]".into();
            }
        }
        if line["policy"]["digest"].is_string() {
            line["policy"]["digest"] = "[DIGEST]".into();
        }
        line.to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_batch_is_recorded_as_it_happens() {
    let dir = two();
    dir.run().args(RECORD).end().code(1);
    insta::assert_snapshot!(recorded(&dir), @r###"
    {"format":"jp-policy.record","version":1,"time":"[TIME]","policy":{"name":"default","digest":"[DIGEST]"},"guard":"limit","on_fault":"default","tools":[{"name":"edit","key":0}],"keys":[{"name":"disk","limit":1}],"options":{},"arguments":false}
    {"at":"[TIME]","event":"submitted","call":0,"id":"a","tool":"edit","parent":0}
    {"at":"[TIME]","event":"submitted","call":1,"id":"b","tool":"edit","parent":1}
    {"at":"[TIME]","event":"submitted","call":2,"id":"c","tool":"nope","parent":2}
    {"at":"[TIME]","event":"parked","call":0}
    {"at":"[TIME]","event":"parked","call":1}
    {"at":"[TIME]","event":"settled","call":2,"how":"not-run"}
    {"at":"[TIME]","event":"decided","shown":1,"released":[0],"wake_at":null}
    {"at":"[TIME]","event":"released","call":0,"execution":0}
    {"at":"[TIME]","event":"ended","call":0,"execution":0,"how":"succeeded"}
    {"at":"[TIME]","event":"settled","call":0,"how":"responded"}
    {"at":"[TIME]","event":"decided","shown":1,"released":[1],"wake_at":null}
    {"at":"[TIME]","event":"released","call":1,"execution":1}
    {"at":"[TIME]","event":"ended","call":1,"execution":1,"how":"succeeded"}
    {"at":"[TIME]","event":"settled","call":1,"how":"responded"}
    {"at":"[TIME]","event":"over"}
    "###);
}

#[test]
fn arguments_and_responses_are_recorded_where_they_are_asked_for() {
    let dir = two();
    dir.run().args(RECORD).end().code(1);
    let text = dir.read("record.jsonl");
    assert!(!text.contains("password") && !text.contains("secret"), "{text}");
    dir.run().args(RECORD).args(["--record-arguments"]).end().code(1);
    let text = dir.read("record.jsonl");
    let lines: Vec<Json> =
        text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(lines[1]["arguments"], json!({ "n": "password" }));
    let responses: Vec<&Json> = lines.iter().filter_map(|line| line.get("response")).collect();
    assert_eq!(
        responses,
        [
            &json!({ "id": "c", "name": "nope", "status": "error", "content": "no tool `nope` is configured" }),
            &json!({ "id": "a", "name": "edit", "status": "ok", "content": "secret password\n" }),
            &json!({ "id": "b", "name": "edit", "status": "ok", "content": "secret 2\n" }),
        ]
    );
}

#[test]
fn arguments_without_a_record_are_wrong_use() {
    let ended = two().run().args(["--record-arguments"]).end().code(2);
    insta::assert_snapshot!(ended.stderr(), @r"
    error: the following required arguments were not provided:
      --record <FILE>

    Usage: jp-policy run --record <FILE> --config <PATH>... --workspace <FOLDER> --record-arguments <BATCH>

    For more information, try '--help'.
    ");
}

#[test]
fn a_record_that_can_not_be_begun_stops_the_batch_before_it_starts() {
    let dir = two();
    let ended = dir.run().args(["--record", "none/record.jsonl"]).end().code(2);
    insta::assert_snapshot!(ended.stderr(), @r"
    error: failed to write record `none/record.jsonl`: No such file or directory (os error 2)
    ");
    assert!(!dir.has("work/log"));
}

#[test]
fn a_record_that_can_not_be_written_any_more_is_said_once_and_stops_nothing() {
    let dir = two();
    let pipe = dir.path("record.jsonl");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("it can be started");
    assert!(made.success());
    let reader = std::thread::spawn(move || {
        let mut header = String::new();
        let file = fs::File::open(&pipe).expect("it can be opened");
        BufReader::with_capacity(1, file).read_line(&mut header).expect("it can be read");
        header
    });
    // The first call ends only when the reader has left.
    dir.tool("edit", "concurrency = 1", "await ../gone; echo \"secret $1\"");
    let running = dir.run().args(RECORD).start();
    let header: Json = serde_json::from_str(&reader.join().expect("it reads")).expect("it is JSON");
    assert_eq!(header["format"], "jp-policy.record");
    dir.write("gone", "");
    let ended = running.end().code(1);
    let stderr = ended.stderr();
    let said: Vec<&str> = stderr.lines().filter(|line| line.starts_with("warning")).collect();
    assert_eq!(
        said,
        [
            "warning: record `record.jsonl` ends here, it can't be written any more: Broken pipe (os error 32)"
        ]
    );
    assert_eq!(
        ended.stdout(),
        "--- a edit: ok\nsecret password\n--- b edit: ok\nsecret 2\n--- c nope: error\nno tool `nope` is configured\n"
    );
}

#[test]
fn a_program_that_is_killed_leaves_a_record_that_can_be_read() {
    let dir = two();
    dir.tool("edit", "concurrency = { key = \"disk\" }", ": >started; await never");
    dir.tool("nope", "", "await started");
    let mut running = dir.run().args(RECORD).start();
    running.until_file("work/started");
    running.until_recorded("record.jsonl", r#""event":"ended""#);
    running.signal(Signal::KILL);
    let ended = running.end_whatever_is_left();
    assert_eq!(ended.signal(), Some(9));
    until("the end of its tools", || ended.left().is_empty().then_some(()));
    let explain = || dir.program().args(["explain", "record.jsonl", "b", "--format", "json"]).end();
    let ended = explain().code(0);
    assert_eq!(
        ended.stderr().trim(),
        "warning: record `record.jsonl` ends before its batch was over: the program was killed there, or could not write"
    );
    let waited = &ended.json()["data"]["calls"][0]["waited"];
    assert_eq!((&waited[0]["why"], &waited[0]["to"]), (&json!("key"), &Json::Null), "{waited}");

    let whole = dir.read("record.jsonl");
    dir.write("record.jsonl", format!("{whole}{{\"at\":99999999999,\"event\":\"en"));
    let ended = explain().code(0);
    assert_eq!(
        ended.stderr().trim(),
        "warning: record `record.jsonl` ends in the middle of a line before its batch was over: the program was killed there, or \
         could not write"
    );
    assert_eq!(&ended.json()["data"]["calls"][0]["waited"], waited, "the torn line is left out");
}

#[test]
fn a_cancel_and_what_it_stops_are_recorded() {
    let dir = two();
    dir.tool("edit", "concurrency = { key = \"disk\" }", ": >started; await never");
    let mut running = dir.run().args(RECORD).start();
    running.until_file("work/started");
    running.signal(Signal::INT);
    running.end().code(130);
    let text = recorded(&dir);
    let (_, rest) = text.split_once("\"event\":\"cancelled\"}\n").expect("the cancel is there");
    insta::assert_snapshot!(rest, @r###"
    {"at":"[TIME]","event":"stop","execution":0}
    {"at":"[TIME]","event":"settled","call":1,"how":"cancelled"}
    {"at":"[TIME]","event":"ended","call":0,"execution":0,"how":"stopped"}
    {"at":"[TIME]","event":"settled","call":0,"how":"responded"}
    {"at":"[TIME]","event":"over"}
    "###);
}
