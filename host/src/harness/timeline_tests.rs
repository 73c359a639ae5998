use insta::assert_snapshot;

use super::*;
use crate::{
    config::Source,
    harness::{Scenario, simulate},
    policy::Native,
};

fn drawn(scenario: &str, width: usize) -> String {
    let scenario = Scenario::parse(&Source::new("scenario.toml", scenario)).expect("a scenario");
    let simulation = simulate(&scenario, &Native::rules()).expect("it comes to an end");
    timeline(&simulation.record, width, false)
}

const CHAIN: &str = r#"
    [conversation.tools.rfd_renumber]
    concurrency = { key = "rfd" }
    [conversation.tools.a_tool_with_a_very_long_name_that_does_not_fit]
    [[call]]
    name = "renumber 008 -> 011"
    tool = "rfd_renumber"
    does = "300ms"
    [[call]]
    name = "renumber 007 -> 010"
    tool = "rfd_renumber"
    does = "400ms ask 100ms"
    answered = 2
    [[call]]
    name = "renumber 006 -> 009, whose name is far too long for a terminal"
    tool = "rfd_renumber"
    does = "300ms fail"
    [[call]]
    name = "renumber 005 -> 008"
    tool = "rfd_renumber"
    does = "1ms"
    [[call]]
    name = "日本語"
    tool = "a_tool_with_a_very_long_name_that_does_not_fit"
    does = "1500ms"
    [[call]]
    name = "skipped"
    tool = "a_tool_with_a_very_long_name_that_does_not_fit"
    rejected = 0
"#;

#[test]
fn a_batch_at_several_widths() {
    assert_snapshot!("100 columns", drawn(CHAIN, 100));
    assert_snapshot!("50 columns", drawn(CHAIN, 50));
}

#[test]
fn a_long_batch_shows_its_ends() {
    let many = "
        [conversation.tools.t]
        concurrency = 20
        [[call]]
        name = \"c\"
        tool = \"t\"
        copies = 200
    ";
    let drawn = drawn(many, 80);
    assert_eq!(drawn.lines().count(), 1 + ROWS + 1);
    assert!(drawn.contains("... 140 more calls ..."));
}

#[test]
fn durations_are_short() {
    let texts = [
        0,
        1,
        1_234,
        56_700_000,
        999_000_000,
        1_000_000_000,
        12_340_000_000,
        300_000_000_000,
        7_384_000_000_000,
    ];
    assert_eq!(
        texts.map(duration),
        ["0s", "1ns", "1.23µs", "56.7ms", "999ms", "1s", "12.3s", "5m00s", "2h03m"]
    );
}
