//! `explain`: why calls wait, of scenarios and of what really happened.

use serde_json::{Value as Json, json};

use super::support::{Dir, repository};

const SCENARIO: &str = r#"
    [conversation.tools.edit]
    concurrency = { key = "disk", limit = 2 }
    [conversation.tools.read]
    [[call]]
    name = "A"
    tool = "edit"
    does = "4s"
    [[call]]
    name = "B"
    tool = "edit"
    does = "1s ask 1s"
    answered_after = 1
    [[call]]
    name = "C"
    tool = "edit"
    [[call]]
    name = "D"
    tool = "edit"
    [[call]]
    name = "look"
    tool = "read"
    approved = 1
"#;

fn scenario() -> Dir {
    let dir = Dir::new();
    dir.write("s.toml", SCENARIO);
    dir
}

fn explain(dir: &Dir, args: &[&str]) -> String {
    let ended = dir.program().args(["explain"]).args(args).end().code(0);
    assert_eq!(ended.stderr(), "");
    ended.stdout()
}

#[test]
fn the_whole_story() {
    insta::assert_snapshot!(explain(&scenario(), &["s.toml"]), @r"
    1 A:
      0s - 1s  waits for the barrier: call 5 look is undecided
    2 B:
      0s - 1s  waits for the barrier: call 5 look is undecided
    3 C:
      0s - 1s  waits for the barrier: call 5 look is undecided
      1s - 4s  key disk (limit 2) held by 1 A, 2 B
    4 D:
      0s - 1s  waits for the barrier: call 5 look is undecided
      1s - 5s  key disk (limit 2) held by 1 A, 2 B, 3 C
    5 look:
      0s - 1s  waits for its own approval
    ");
}

#[test]
fn an_instant() {
    let dir = scenario();
    insta::assert_snapshot!(explain(&dir, &["s.toml", "--at", "500ms"]), @r"
    at 500ms:
      1 A, since 0s: waits for the barrier: call 5 look is undecided
      2 B, since 0s: waits for the barrier: call 5 look is undecided
      3 C, since 0s: waits for the barrier: call 5 look is undecided
      4 D, since 0s: waits for the barrier: call 5 look is undecided
      5 look, since 0s: waits for its own approval
    ");
    insta::assert_snapshot!(explain(&dir, &["s.toml", "--at", "2"]), @r"
    at 2s:
      3 C, since 0s: key disk (limit 2) held by 1 A (since 1s), 2 B (since 1s), next in line
      4 D, since 0s: key disk (limit 2) held by 1 A (since 1s), 2 B (since 1s), 2nd in line, behind 3 C
    ");
    insta::assert_snapshot!(explain(&dir, &["s.toml", "--at", "2.5s", "D"]), @r"
    at 2.5s:
      4 D, since 0s: key disk (limit 2) held by 1 A (since 1s), 2 B (since 1s), 2nd in line, behind 3 C
    ");
    insta::assert_snapshot!(explain(&dir, &["s.toml", "--at", "1h"]), @r"
    at 1h00m nothing waits: the last thing happened at 6s
    ");
}

/// A policy that sees all that waits has an order of its own, so written order is called just that.
#[test]
fn a_policy_with_an_order_of_its_own() {
    let file = repository("policies/shortest/scenarios/lightest-first.toml");
    let file = file.to_str().expect("a path that is text");
    let dir = Dir::new();
    let explain = |args: &[&str]| dir.program().args(["explain"]).args(args).end().code(0).stdout();
    insta::assert_snapshot!(explain(&[file, "--at", "2.5"]), @r"
    at 2.5s:
      1 B1, since 0s: key cargo (limit 1) held by 2 T1 (since 2s); policy shortest: place 2 in line for key cargo, by its weight of 30; by age from 30s on
      4 B2, since 0s: key cargo (limit 1) held by 2 T1 (since 2s); policy shortest: place 3 in line for key cargo, by its weight of 30; by age from 30s on
      6 T2, since 0s: key cargo (limit 1) held by 2 T1 (since 2s); policy shortest: place 1 in line for key cargo, by its weight of 10; by age from 30s on
    ");
    insta::assert_snapshot!(explain(&[file]), @r"
    1 B1:
      0s - 8s  key cargo (limit 1) held by 3 L1, 5 L2, 2 T1, 6 T2; policy shortest: place 4 in line for key cargo, by its weight of 30; by age from 30s on
    2 T1:
      0s - 2s  key cargo (limit 1) held by 3 L1, 5 L2; policy shortest: place 2 in line for key cargo, by its weight of 10; by age from 30s on
    4 B2:
      0s - 16s  key cargo (limit 1) held by 3 L1, 5 L2, 2 T1, 6 T2 and 1 more; policy shortest: place 5 in line for key cargo, by its weight of 30; by age from 30s on
    5 L2:
      0s - 1s  key cargo (limit 1) held by 3 L1; policy shortest: place 1 in line for key cargo, by its weight of 2; by age from 30s on
    6 T2:
      0s - 5s  key cargo (limit 1) held by 3 L1, 5 L2, 2 T1; policy shortest: place 3 in line for key cargo, by its weight of 10; by age from 30s on
    ");
}

#[test]
fn a_policy_with_an_order_of_its_own_and_no_words_for_it() {
    let file = repository("policies/cap/scenarios/undecided.toml");
    let file = file.to_str().expect("a path that is text");
    let ended = Dir::new().program().args(["explain", file, "--at", "0.7"]).end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r"
    at 700ms:
      3 A2, since 500ms: waits for its own approval
      4 A3, since 500ms: key a (limit 2) held by 1 A1 (since 0s), 2nd in written order, after 3 A2
      5 B2, since 500ms: key b (limit 1) held by 2 B1 (since 0s), first in written order
      6 B3, since 500ms: key b (limit 1) held by 2 B1 (since 0s), 2nd in written order, after 5 B2
    ");
}

#[test]
fn single_calls_by_place_and_by_name() {
    let dir = scenario();
    insta::assert_snapshot!(explain(&dir, &["s.toml", "3", "look"]), @r"
    3 C:
      0s - 1s  waits for the barrier: call 5 look is undecided
      1s - 4s  key disk (limit 2) held by 1 A, 2 B
    5 look:
      0s - 1s  waits for its own approval
    ");
    let ended = dir.program().args(["explain", "s.toml", "lok"]).end().code(2);
    assert_eq!(
        ended.stderr().trim(),
        "error: `s.toml` has no call `lok`: give a place from 1 to 5, an id or a name; did you mean `look`?"
    );
    let ended = dir.program().args(["explain", "s.toml", "--at", "soon"]).end().code(2);
    assert_eq!(
        ended.stderr().lines().next(),
        Some(
            "error: invalid value 'soon' for '--at <TIME>': expected seconds, or a duration like 250ms"
        )
    );
}

#[test]
fn a_file_that_is_not_there() {
    let said = |verb| Dir::new().program().args([verb, "no.toml"]).end().code(2).stderr();
    insta::assert_snapshot!(said("explain"), @r"
    error: failed to read configuration `no.toml`: No such file or directory (os error 2)

    jp-policy: the configuration has 1 error
    ");
    assert_eq!(said("replay"), said("explain"));
}

#[test]
fn for_machines() {
    let text = explain(&scenario(), &["s.toml", "--at", "2", "--format", "json"]);
    let json: Json = serde_json::from_str(&text).expect("it is JSON");
    let second = 1_000_000_000_u64;
    let holders = json!([
        { "call": 0, "since": second, "stopping": false },
        { "call": 1, "since": second, "stopping": false },
    ]);
    let waits = |call: u32, label: &str, ahead: Json| {
        json!({ "why": "key", "key": "disk", "limit": 2, "holders": holders, "earlier": 0, "ahead": ahead, "reason": null,
            "call": call, "label": label, "since": 0 })
    };
    assert_eq!(
        json,
        json!({
            "format": "jp-policy.explain",
            "version": 1,
            "data": {
                "file": "s.toml",
                "policy": "default",
                "at": 2 * second,
                "waiting": [waits(2, "C", json!([])), waits(3, "D", json!([2]))],
            },
        })
    );
}

#[test]
fn a_policy_has_its_own_words() {
    let dir = Dir::new();
    let ended = dir
        .program()
        .args(["explain"])
        .args([repository("policies/delay/scenarios/136-between-end-and-start.toml")])
        .args(["--policy"])
        .args([repository("policies/delay.wasm")])
        .end()
        .code(0);
    insta::assert_snapshot!(ended.stdout(), @r"
    2 B:
      0s - 1s  key t (limit 1) held by 1 A
      1s - 3s  policy delay: key t pauses 2s after the last end, until 3s
    3 C:
      0s - 4s  key t (limit 1) held by 1 A, 2 B
      4s - 6s  policy delay: key t pauses 2s after the last end, until 6s
    ");
}

/// What really happened, and the policy's reasons where it can be asked.
#[test]
fn a_record() {
    let dir = Dir::new();
    dir.tool("edit", "concurrency = { key = \"disk\", delay = \"30ms\" }", "true");
    dir.batch(&json!([{ "id": "a", "name": "edit" }, { "id": "b", "name": "edit" }]));
    let delay = std::fs::read(repository("policies/delay.wasm")).expect("it is checked in");
    dir.write("delay.wasm", delay);
    dir.run().args(["--policy", "delay.wasm", "--record", "r.jsonl"]).end().code(0);
    let ended = dir.program().args(["explain", "r.jsonl", "b"]).end().code(0);
    assert_eq!(
        last(&ended.stdout()),
        "policy delay: key disk pauses s after the last end, until s"
    );

    // The same words were recorded when it happened.
    let record = dir.read("r.jsonl");
    let reason = "\"event\":\"reason\",\"call\":1,\"reason\":\"key disk pauses 0.03s after the last end, until ";
    assert_eq!(record.matches(reason).count(), 1, "{record}");

    // A file that is another one now is not asked.
    dir.write(
        "delay.wasm",
        std::fs::read(repository("policies/default.wasm")).expect("it is checked in"),
    );
    let ended = dir.program().args(["explain", "r.jsonl", "b"]).end().code(0);
    assert_eq!(
        ended.stderr().trim(),
        "warning: policy \"delay\" is not asked for its reasons: its file has changed since; `--policy FILE` gives one"
    );
    assert_eq!(last(&ended.stdout()), "held back by policy delay, wants to be asked again at ms");
}

/// What the last line says after its times, without the digits in it.
fn last(text: &str) -> String {
    let line = text.lines().last().unwrap_or_default().trim_start();
    let (_, why) = line.split_once("  ").expect("times, then why");
    why.trim_start().replace(|c: char| c.is_ascii_digit() || c == '.', "")
}
