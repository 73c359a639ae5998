use jp_policy_config::{ConfigError, Source};

use super::*;
use crate::{Ending, Phase, Scenario};

const TOOLS: &str = "[conversation.tools.t]\n[conversation.tools.f]\nfan_out = true\n";

fn parse(calls: &str) -> Result<Vec<CallSpec>, ConfigError> {
    let source = Source::new("s.toml", format!("{TOOLS}{calls}"));
    Scenario::parse(&source).map(|scenario| scenario.calls)
}

/// What is wrong with a call that has these lines, from line 7 on.
fn wrong(tool: &str, lines: &str) -> String {
    let error = parse(&format!("[[call]]\nname = \"A\"\ntool = \"{tool}\"\n{lines}"));
    error.expect_err("it is wrong").to_string()
}

#[test]
fn operations_say_all_there_is() {
    insta::assert_snapshot!(wrong("f", "operations = { a = \"1s\" }\ndoes = \"1s\"\ncopies = 2"), @r"
    s.toml:8:1: error: call `A` has both `operations` and `does`
      s.toml:8:1: says nothing about the operations
      s.toml:7:1: these are the calls
      help: each operation says itself what it does
    s.toml:9:1: error: call `A` has both `operations` and `copies`
      s.toml:9:1: says nothing about the operations
      s.toml:7:1: these are the calls
      help: each operation says itself what it does
    ");
}

#[test]
fn only_what_fans_out_has_operations() {
    insta::assert_snapshot!(wrong("t", "operations = { a = \"1s\" }"), @r"
    s.toml:7:1: error: call `A` has `operations`, and tool `t` does not fan out
      s.toml:7:1: operations of a fanned-out call
      s.toml:6:8: its tool
      help: set `conversation.tools.t.fan_out = true`
    ");
    insta::assert_snapshot!(wrong("f", "operations = {}"), @r#"
    s.toml:7:14: error: call `A`: `operations` is empty
      s.toml:7:14: expected at least one operation
      help: for instance { f1 = "1s", f2 = "1s fail" }
    "#);
}

#[test]
fn copies_are_at_least_one_and_not_too_many() {
    insta::assert_snapshot!(wrong("t", "copies = 0"), @r"
    s.toml:7:10: error: call `A`: `copies` is 0, expected 1 to 100000
      s.toml:7:10: how many calls there are
    ");
    insta::assert_snapshot!(wrong("t", "copies = 4_000_000_000"), @r"
    s.toml:7:10: error: call `A`: `copies` is 4000000000, expected 1 to 100000
      s.toml:7:10: how many calls there are
    ");
}

#[test]
fn a_call_is_decided_one_way() {
    insta::assert_snapshot!(wrong("t", "approved = 1\nrejected = 2"), @r"
    s.toml:8:1: error: call `A` has both `approved` and `rejected`
      s.toml:8:1: only one of them can be
      s.toml:7:1: the other
      help: of `approved`, `rejected` and `undecided` a call has at most one
    ");
    insta::assert_snapshot!(wrong("t", "approved = 1\nundecided = true"), @r"
    s.toml:8:13: error: call `A` has both `approved` and `undecided`
      s.toml:8:13: only one of them can be
      s.toml:7:1: the other
      help: of `approved`, `rejected` and `undecided` a call has at most one
    ");
    insta::assert_snapshot!(wrong("t", "undecided = true\nrejected = 1"), @r"
    s.toml:7:13: error: call `A` has both `rejected` and `undecided`
      s.toml:7:13: only one of them can be
      s.toml:8:1: the other
      help: of `approved`, `rejected` and `undecided` a call has at most one
    ");
    parse("[[call]]\nname = \"A\"\ntool = \"t\"\napproved = 1\nundecided = false")
        .expect("it is not undecided");
}

#[test]
fn lists_say_something() {
    insta::assert_snapshot!(wrong("t", "does = []\napproved = []\ngone = []"), @r"
    s.toml:9:8: error: call `A`: `gone` is an empty list
      s.toml:9:8: expected at least one entry
      help: leave the field out if there is nothing to say
    s.toml:8:12: error: call `A`: `approved` is an empty list
      s.toml:8:12: expected at least one entry
      help: leave the field out if there is nothing to say
    s.toml:7:8: error: call `A`: `does` is an empty list
      s.toml:7:8: expected at least one entry
      help: leave the field out if there is nothing to say
    ");
    insta::assert_snapshot!(wrong("t", "does = [\"1s\", 2, \"fail 1s\"]\napproved = [0, true]"), @r#"
    s.toml:8:16: error: call `A`: `approved` is true (a boolean), expected seconds, or a duration like "250ms"
      s.toml:8:16: expected seconds, or a duration like "250ms"
    s.toml:7:15: error: call `A`: `does` is 2 (an integer), expected a text like "1s ask 500ms fail", or a list of them
      s.toml:7:15: expected a text like "1s ask 500ms fail", or a list of them
    s.toml:7:18: error: call `A`: `does` is "fail 1s", and `1s` is not understood there
      s.toml:7:18: expected durations with `ask` between them, and `fail` at the end, or `dismissed` after the last `ask`
      help: for instance "1s ask 500ms fail"
    "#);
    insta::assert_snapshot!(wrong("t", "does = [\"ask 1s dismissed\", \"ask dismissed fail\"]"), @r#"
    s.toml:7:9: error: call `A`: `does` is "ask 1s dismissed", and `dismissed` is not understood there
      s.toml:7:9: expected durations with `ask` between them, and `fail` at the end, or `dismissed` after the last `ask`
      help: for instance "1s ask 500ms fail"
    s.toml:7:29: error: call `A`: `does` is "ask dismissed fail", and `fail` is not understood there
      s.toml:7:29: expected durations with `ask` between them, and `fail` at the end, or `dismissed` after the last `ask`
      help: for instance "1s ask 500ms fail"
    "#);
}

#[test]
fn what_is_wrong_with_the_batch_is_said_at_the_call() {
    let calls = "
[[call]]
name = \"A\"
tool = \"t\"
arrives = 2
[[call]]
name = \"A\"
tool = \"u\"
";
    insta::assert_snapshot!(parse(calls).expect_err("it is wrong"), @r"
    s.toml:11:8: error: call `A` calls tool `u`, which `conversation.tools` does not have
      s.toml:11:8: unknown tool
    s.toml:9:1: error: two calls are named `A`
      s.toml:9:1: the second
    s.toml:9:1: error: call `A` arrives before a call that is written before it
      s.toml:9:1: arrives too early
      help: calls stand in the order in which they arrive
    ");
}

#[test]
fn lists_are_read_as_runs_and_times() {
    const SECOND: Instant = 1_000_000_000;
    let calls = "
[[call]]
name = \"A\"
tool = \"f\"
operations = { a = [\"1s ask 2s\", \"fail\", \"ask 1s ask dismissed\"], b = \"3s\" }
arrives = 1
approved = [0, 4]
gone = [2, \"2500ms\"]
";
    let calls = parse(calls).expect("it is right");
    let phase = |seconds: Instant, asks| Phase { takes: seconds * SECOND, asks };
    let run = |phases: &[Phase], ending| Behaviour { phases: phases.to_vec(), ending };
    let [a, b] = &calls[..] else { panic!("two operations") };
    assert_eq!(
        a.runs,
        [
            run(&[phase(1, true), phase(2, false)], Ending::Succeeds),
            run(&[phase(0, false)], Ending::Fails),
            run(&[phase(0, true), phase(1, true)], Ending::Dismissed),
        ]
    );
    assert_eq!(b.runs, [run(&[phase(3, false)], Ending::Succeeds)]);
    for call in [a, b] {
        assert_eq!(call.decision, PersonEvent::Approved(vec![SECOND, 4 * SECOND]));
        assert_eq!(call.gone, [2 * SECOND, SECOND * 5 / 2]);
    }
    assert_eq!(a.behaviour(0), a.runs.first());
    assert_eq!(a.behaviour(1), a.runs.get(1));
    assert_eq!(a.behaviour(7), a.runs.get(2));
}

#[test]
fn what_nobody_knows_is_an_error_and_what_is_no_toml_is_one_once() {
    insta::assert_snapshot!(wrong("t", "doess = \"1s\""), @r"
    s.toml:7:1: error: call `A`: unknown field `doess`
      s.toml:7:1: it has no effect
      help: did you mean `does`?
    ");
    insta::assert_snapshot!(wrong("t", "does = 1s"), @r"
    s.toml:7:8: error: `s.toml` is not valid TOML: string values must be quoted, expected literal string
      s.toml:7:8: here
    ");
}
