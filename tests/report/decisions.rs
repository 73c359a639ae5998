use insta::assert_snapshot;
use jp_policy_config::Source;
use jp_policy_core::{
    policy::{Native, PolicyFactory},
    record::Record,
};
use jp_policy_guest::Settings;
use jp_policy_harness::{Scenario, SimulateOptions, simulate_with};
use jp_policy_report::Decisions;

fn decisions(scenario: &str, policy: &dyn PolicyFactory) -> (Decisions, Settings, Record) {
    let scenario = Scenario::parse(&Source::new("s.toml", scenario)).expect("a scenario");
    let mut decisions = Decisions::default();
    let setup = SimulateOptions { observer: Some(&mut decisions), ..SimulateOptions::default() };
    let simulation = simulate_with(&scenario, policy, setup).expect("it ends");
    let settings = scenario.config.expect("it holds").settings();
    (decisions, settings, simulation.record)
}

const TWO_KEYS: &str = "
    [conversation.tools.edit]
    concurrency = { key = \"repository of the whole project\" }
    [conversation.tools.look]
    [[call]]
    name = \"first \\u001b[2J\"
    tool = \"edit\"
    does = \"1500ms fail\"
    [[call]]
    name = \"the second one, whose name is longer than it needs to be\"
    tool = \"edit\"
    [[call]]
    name = \"third\"
    tool = \"look\"
";

#[test]
fn for_people() {
    let (decisions, settings, record) = decisions(TWO_KEYS, &Native::rules());
    assert_snapshot!(decisions.to_text(&settings, &record, 100));
    assert_snapshot!("40 columns", decisions.to_text(&settings, &record, 40));
}

#[test]
fn for_machines() {
    let (decisions, settings, record) = decisions(TWO_KEYS, &Native::rules());
    let json = decisions.to_json(&settings, &record);
    assert_snapshot!(serde_json::to_string_pretty(&json[1]).expect("it is JSON"));
}

#[test]
fn a_long_question_is_cut_for_people_only() {
    let many = "
        [conversation.tools.t]
        [[call]]
        name = \"c\"
        tool = \"t\"
        copies = 200
    ";
    let (decisions, settings, record) = decisions(many, &Native::rules());
    let text = decisions.to_text(&settings, &record, 80);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[22], "          ... 180 more calls");
    assert_eq!(lines.last().copied(), Some("            20 c20, and 180 more"));
    let json = decisions.to_json(&settings, &record);
    assert_eq!(json[0]["calls"].as_array().map(Vec::len), Some(200));
    assert_eq!(json[0]["answer"]["release"].as_array().map(Vec::len), Some(200));
}
