//! `replay`: other policies decide about the same calls.

use serde_json::{Value as Json, json};

use super::support::{Dir, repository};

fn number(json: &Json) -> u64 {
    json.as_u64().unwrap_or_else(|| panic!("{json} is no number"))
}

/// A batch of real calls with a pause between them, recorded.
fn real() -> Dir {
    let dir = Dir::new();
    dir.tool("edit", "concurrency = { key = \"disk\", delay = \"20ms\" }", "[ $1 != 2 ]");
    dir.tool("read", "", "true");
    dir.batch(&json!([
        { "id": "a", "name": "edit", "arguments": { "n": 1 } },
        { "id": "b", "name": "edit", "arguments": { "n": 2 } },
        { "id": "c", "name": "read" },
        { "id": "d", "name": "edit", "arguments": { "n": 4 } },
    ]));
    let delay = repository("policies/delay.wasm");
    dir.run().args(["--record", "r.jsonl", "--policy"]).args([&delay]).end().code(1);
    dir
}

#[test]
fn a_real_batch_under_another_policy_and_its_own() {
    let dir = real();
    let (delay, default) = (repository("policies/delay.wasm"), repository("policies/default.wasm"));
    let ended = dir
        .program()
        .args(["replay", "r.jsonl", "--format", "json", "--policy"])
        .args([&delay])
        .args(["--policy"])
        .args([&default])
        .end()
        .code(0);
    let json = ended.json();
    assert_eq!((&json["format"], &json["version"]), (&json!("jp-policy.replay"), &json!(1)));
    let outcomes = json["data"]["outcomes"].as_array().expect("a list");
    let names: Vec<&Json> = outcomes.iter().map(|outcome| &outcome["name"]).collect();
    assert_eq!(names, ["recorded", "delay", "default"]);
    for outcome in outcomes {
        // What was released together started together, and stands in written order.
        assert_eq!(outcome["starts"], json!([0, 2, 1, 3]));
        assert_eq!(outcome["peaks"], json!({ "disk": 1 }));
        let responses: Vec<&Json> = (0..4).map(|n| &outcome["calls"][n]["response"]).collect();
        assert_eq!(responses, ["ok", "error", "ok", "ok"]);
        let ran = |of: &Json, n: usize| {
            number(&of["calls"][n]["ended"]) - number(&of["calls"][n]["started"])
        };
        for n in 0..4 {
            assert_eq!(
                ran(outcome, n),
                ran(&outcomes[0], n),
                "a call runs as long as it really did"
            );
        }
    }
    let gap = |outcome: &Json, n: usize, m: usize| {
        number(&outcome["calls"][m]["started"]) - number(&outcome["calls"][n]["ended"])
    };
    let pause = 20_000_000;
    assert_eq!((gap(&outcomes[1], 0, 1), gap(&outcomes[1], 1, 3)), (pause, pause));
    assert_eq!((gap(&outcomes[2], 0, 1), gap(&outcomes[2], 1, 3)), (0, 0));
    assert!(gap(&outcomes[0], 0, 1) >= pause);
    let left_out = &outcomes[2]["left_out"][0];
    assert_eq!((&left_out["key"], &left_out["field"]), (&json!("disk"), &json!("delay")));
    assert_eq!(json["data"]["assumed"], json!([]));
}

#[test]
fn without_a_policy_the_default_one_decides() {
    let dir = real();
    let ended = dir.program().args(["replay", "r.jsonl"]).env("COLUMNS", "100").end().code(0);
    assert_eq!(ended.stderr(), "");
    let stdout = ended.stdout();
    let rows =
        stdout.lines().filter(|line| line.contains("  default  ") || line.contains("  recorded  "));
    assert_eq!(rows.count(), 8, "{stdout}");
    let sums: Vec<&str> = stdout.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(
        sums[sums.len() - 5..],
        [
            "  peaks: disk 1",
            "  starts: 1 3 2 4",
            "  peaks: the same",
            "  starts: the same",
            "  without key disk: `delay`, which it refuses",
        ]
    );
}

#[test]
fn what_never_ran_is_taken_to_run_as_long_as_others_of_its_tool() {
    let dir = Dir::new();
    let lines = [
        json!({ "format": "jp-policy.record", "version": 1, "time": "", "policy": { "name": "p" },
            "guard": "limit", "on_fault": "default",
            "tools": [{ "name": "t", "key": 0 }, { "name": "u" }], "keys": [{ "name": "k", "limit": 1 }] }),
        json!({ "at": 0, "event": "submitted", "call": 0, "id": "a", "tool": "t", "parent": 0 }),
        json!({ "at": 0, "event": "submitted", "call": 1, "id": "b", "tool": "t", "parent": 1 }),
        json!({ "at": 0, "event": "submitted", "call": 2, "id": "c", "tool": "u", "parent": 2 }),
        json!({ "at": 0, "event": "parked", "call": 0 }),
        json!({ "at": 0, "event": "parked", "call": 1 }),
        json!({ "at": 0, "event": "parked", "call": 2 }),
        json!({ "at": 0, "event": "released", "call": 0, "execution": 0 }),
        json!({ "at": 2_000_000_000_u64, "event": "ended", "call": 0, "execution": 0, "how": "succeeded" }),
        json!({ "at": 2_000_000_000_u64, "event": "settled", "call": 0, "how": "responded" }),
    ];
    let lines = lines.map(|line| format!("{line}\n")).concat();
    dir.write("r.jsonl", lines);
    let ended = dir.program().args(["replay", "r.jsonl"]).env("COLUMNS", "80").end().code(0);
    insta::assert_snapshot!(ended.stderr().trim(), @r"
    warning: record `r.jsonl` ends before its batch was over: the program was killed there, or could not write
    ");
    insta::assert_snapshot!(ended.stdout(), @r"
                   0s            1s            2s            3s              waited       ran
    1 t  recorded  ████████████████████████████                                            2s  ok
         default   ████████████████████████████                                            2s  ok
    2 t  recorded  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░      2s            unsettled
         default   ░░░░░░░░░░░░░░░░░░░░░░░░░░░░████████████████████████████      2s        2s  ok
    3 u  recorded  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░      2s            unsettled
         default   ████████████████████████████                                      -2s   2s  ok

    recorded under policy p: 2s in all, waited 4s, 0 decisions
      peaks: k 1
      starts: 1
    default: 4s (+2s) in all, waited 2s (-2s), 2 decisions
      peaks: the same
      starts: 1 3 2

    The record does not tell all:
      call 2 (t) never ran: taken to run 2s, as its tool's others do
      call 3 (u) never ran: taken to run 2s, as the other calls do
    ");
}

#[test]
fn a_scenario_is_shown_under_the_default_policy_and_the_other_one() {
    let dir = Dir::new();
    let ended = dir
        .program()
        .args(["replay"])
        .args([repository("policies/delay/scenarios/several-keys.toml")])
        .args(["--policy"])
        .args([repository("policies/delay.wasm")])
        .end()
        .code(0);
    let stdout = ended.stdout();
    let (_, text) = stdout.split_once("several-keys.toml").expect("the file is said");
    insta::assert_snapshot!(text, @r"
    : Each key has its own pause; a key without one, and calls without a key, have none

                   0s             1s             2s             3s               waited          ran
    1 A1  default  ███████████████                                                                1s  ok
          delay    ███████████████                                                                1s  ok
    2 G1  default  ███████████████                                                                1s  ok
          delay    ███████████████                                                                1s  ok
    3 P1  default  ███████████████                                                                1s  ok
          delay    ███████████████                                                                1s  ok
    4 F1  default  ███████████████                                                                1s  ok
          delay    ███████████████                                                                1s  ok
    5 A2  default  ░░░░░░░░░░░░░░░███████████████                                    1s           1s  ok
          delay    ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░███████████████      3s     +2s   1s  ok
    6 G2  default  ░░░░░░░░░░░░░░░███████████████                                    1s           1s  ok
          delay    ░░░░░░░░░░░░░░░░░░███████████████                              1.25s  +250ms   1s  ok
    7 P2  default  ░░░░░░░░░░░░░░░███████████████                                    1s           1s  ok
          delay    ░░░░░░░░░░░░░░░███████████████                                    1s           1s  ok
    8 F2  default  ███████████████                                                                1s  ok
          delay    ███████████████                                                                1s  ok
    9 G3  default  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░███████████████                     2s           1s  ok
          delay    ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░███████████████            2.5s  +500ms   1s  ok

    default: 3s in all, waited 5s, 3 decisions
      peaks: api 1, git 1, plain 1
      starts: 1 2 3 4 8 5 6 7 9
      without key api: `delay`, which it refuses
      without key git: `delay`, which it refuses
    delay: 4s (+1s) in all, waited 7.75s (+2.75s), 7 decisions
      peaks: the same
      starts: 1 2 3 4 8 7 6 9 5
    ");
}

/// A field that the policy of the record would not have taken, for one that does; and another limit.
#[test]
fn configuration_can_be_laid_over_that_of_the_record() {
    let dir = Dir::new();
    dir.tool("edit", "concurrency = { key = \"disk\" }", "true");
    dir.batch(&json!([{ "id": "a", "name": "edit" }, { "id": "b", "name": "edit" }]));
    dir.run().args(["--record", "r.jsonl"]).end().code(0);
    let second = |layer: &str, more: &[&str]| {
        dir.write("layer.toml", format!("[conversation.tools.edit.concurrency]\n{layer}\n"));
        let args = ["replay", "r.jsonl", "--format", "json", "--config", "layer.toml"];
        let ended = dir.program().args(args).args(more).end().code(0);
        let outcome = &ended.json()["data"]["outcomes"][1];
        assert_eq!(outcome["left_out"], json!([]));
        let (ended, started) = (&outcome["calls"][0]["ended"], &outcome["calls"][1]["started"]);
        (number(started), number(ended))
    };
    let delay = repository("policies/delay.wasm");
    let (started, ended) = second("delay = \"5s\"", &["--policy", &delay.display().to_string()]);
    assert_eq!(started, ended + 5_000_000_000);
    let (started, ended) = second("limit = 2", &[]);
    assert!(started < ended, "{started} {ended}");
    dir.write("layer.toml", "[conversation.tools.edit]\nconcurrency = -1\n");
    let args = ["replay", "r.jsonl", "--config", "layer.toml"];
    let stderr = dir.program().args(args).end().code(2).stderr();
    assert_eq!(
        stderr.lines().next(),
        Some(
            "error: tool `edit`: `concurrency` is -1, expected a whole number from 0 to 4294967295"
        ),
        "{stderr}"
    );
}

#[test]
fn a_policy_that_fails_is_shown_and_is_an_exit_code_on_request() {
    let dir = real();
    let replay = || {
        let hostile = repository("tests/hostile/trap-at-the-second.wasm");
        dir.program().args(["replay", "r.jsonl", "--policy"]).args([hostile])
    };
    let ended = replay().end().code(0);
    let stdout = ended.stdout();
    let (_, fault) = stdout.split_once("  fault (").expect("the fault is shown");
    assert_eq!(
        super::support::plain(fault),
        "trap) at [TIME]: policy \"trap-at-the-second\" trapped: wasm trap: wasm `unreachable` instruction executed\n"
    );
    replay().args(["--strict"]).end().code(3);
}

#[test]
fn what_can_not_be_read_is_said_with_its_place() {
    let dir = real();
    let record = dir.read("r.jsonl");
    let wrong = record.replacen("\"event\":\"parked\"", "\"event\":\"flew\"", 1);
    dir.write("wrong.jsonl", wrong);
    dir.write("other.json", "{ \"calls\": [] }\n");
    dir.write("empty.jsonl", "");
    dir.write("torn.jsonl", &record[..40]);
    dir.write("scenario.toml", "[[call]]\nname = \"A\"\ntool = \"t\"\n");
    let mut said = String::new();
    for file in
        ["wrong.jsonl", "other.json", "empty.jsonl", "torn.jsonl", "scenario.toml", "none", "work"]
    {
        let ended = dir.program().args(["replay", file]).end().code(2);
        assert_eq!(ended.stdout(), "");
        said += &format!("{}\n", ended.stderr().trim());
    }
    insta::assert_snapshot!(said, @r###"
    error: record `wrong.jsonl`, line 6: unknown variant `flew`, expected one of `submitted`, `parked`, `decided`, `released`, `asked`, `answered`, `stop`, `ended`, `settled`, `restarted`, `cancelled`, `fault`, `reason`, `over`
    error: `other.json` is no record: its first line does not have "format": "jp-policy.record"; `jp-policy run --record FILE` writes one
    error: `empty.jsonl` is no record: it has no first line; `jp-policy run --record FILE` writes one
    error: `torn.jsonl` is no record: its first line is torn; `jp-policy run --record FILE` writes one
    error: call `A` calls tool `t`, which `conversation.tools` does not have
     --> scenario.toml:3:8
      |
    3 | tool = "t"
      |        ^^^ unknown tool

    jp-policy: the configuration has 1 error
    error: failed to read configuration `none`: No such file or directory (os error 2)

    jp-policy: the configuration has 1 error
    error: failed to read configuration `work`: not a regular file

    jp-policy: the configuration has 1 error
    "###);
}
