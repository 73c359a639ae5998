use insta::assert_snapshot;
use jp_policy_config::Source;
use jp_policy_core::policy::Native;
use jp_policy_harness::{Scenario, simulate};
use jp_policy_report::{text::duration, timeline::timeline};
use unicode_width::UnicodeWidthStr as _;

/// Rows of a long batch.
const ROWS: usize = 60;

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
    for width in [40, 80, 200] {
        let drawn = drawn(CHAIN, width);
        assert!(drawn.lines().all(|line| line.width() <= width), "{drawn}");
        assert_snapshot!(format!("{width} columns"), drawn);
    }
}

#[test]
fn one_call_alone_and_an_hour_beside_a_blink() {
    let one = "[conversation.tools.t]\n[[call]]\nname = \"A\"\ntool = \"t\"\n";
    assert_snapshot!(drawn(one, 60), @r"
         0s                     500ms                    ran
    1 A  ██████████████████████████████████████████████   1s  ok
    ");
    let hour = "
        [conversation.tools.t]
        concurrency = 1
        [[call]]
        name = \"hour\"
        tool = \"t\"
        does = \"1h\"
        [[call]]
        name = \"blink\"
        tool = \"t\"
        does = \"1ms fail\"
        [[call]]
        name = \"again\"
        tool = \"t\"
        does = \"1ms\"
    ";
    assert_snapshot!(drawn(hour, 80), @r"
             0s             20m             40m                waited    ran
    1 hour   ███████████████████████████████████████████████           1h00m  ok
    2 blink  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░▓   1h00m    1ms  failed
    3 again  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░█   1h00m    1ms  ok
    ");
}

#[test]
fn colours_are_left_out_where_there_are_none() {
    let scenario = Scenario::parse(&Source::new("scenario.toml", CHAIN)).expect("a scenario");
    let simulation = simulate(&scenario, &Native::rules()).expect("it comes to an end");
    let [plain, styled] = [false, true].map(|styled| timeline(&simulation.record, 80, styled));
    assert!(!plain.contains('\u{1b}'));
    // A sequence goes from the escape to its `m`.
    let stripped: String = (styled.split('\u{1b}').enumerate())
        .map(|(n, part)| if n == 0 { part } else { part.split_once('m').map_or(part, |it| it.1) })
        .collect();
    assert_eq!(stripped, plain);
    assert_ne!(styled, plain);
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
