//! What is found when a policy is given the settings of a batch: before any call runs.

use jp_policy_config::{ConfigError, Source};
use jp_policy_harness::{Scenario, SimulateError, judge};

use jp_policy_tests::support::{ABC, live, load, quick};

fn refused(policy: &str) -> SimulateError {
    let component = load(policy, quick()).expect("it can be loaded");
    // With both answers to a fault: this is none.
    let answers = ["default", "settle"].map(|on_fault| {
        live(&component, ABC, &format!("{{ on_fault = \"{on_fault}\" }}"))
            .expect_err("it serves no batch")
    });
    let [default, settle] = answers;
    assert_eq!(default.to_string(), settle.to_string());
    default
}

#[test]
fn a_fault_on_the_way() {
    for (policy, fault) in [
        ("configure-traps", "trapped: wasm trap: wasm `unreachable` instruction executed"),
        ("configure-loops", "used up its budget of 20000000 instructions for one question"),
        ("configure-view", "gave an answer that can't be read: unexpected discriminant: 7"),
        (
            "configure-huge",
            "gave an answer that can't be read: an answer of 56000000 bytes, over the budget of 1048576",
        ),
    ] {
        assert_eq!(
            refused(policy).to_string(),
            format!(
                "policy \"{policy}\" does not serve the batch: it can't be configured: it {fault}"
            )
        );
    }
}

fn problems(policy: &str) -> Vec<String> {
    let SimulateError::Config(ConfigError(problems)) = refused(policy) else {
        panic!("they are errors of the configuration");
    };
    problems.into_iter().map(|problem| problem.message).collect()
}

/// Each problem is shown, at the place that it names if there is one, with nothing that could drive a terminal.
#[test]
fn problems_with_the_settings() {
    assert_eq!(
        problems("configure-refuses"),
        [
            "release policy \"configure-refuses\" refuses field `de\u{fffd}[31mlay` of key \"t\": \u{fffd}[2Jno\u{fffd} such day",
            "release policy \"configure-refuses\" refuses the options: \u{fffd}[2Jno\u{fffd} such day",
        ]
    );
}

/// The host has no place to show it at, and must not make one up.
#[test]
fn a_problem_with_a_key_that_there_is_not() {
    assert_eq!(
        problems("configure-refuses-no-key"),
        [
            "release policy \"configure-refuses-no-key\" refuses key 99, which there is not: no such day"
        ]
    );
}

/// A refusal is one, also without a reason: nobody may take the empty list for "no problem".
#[test]
fn a_refusal_without_a_problem() {
    let error = refused("configure-refuses-nothing");
    if let SimulateError::Config(ConfigError(problems)) = &error {
        assert!(!problems.is_empty(), "an error that says nothing");
    }
    assert!(error.to_string().contains("configure-refuses-nothing"), "{error:?}");
}

/// A batch that was not lived through has not come out as expected.
#[test]
fn a_refusal_without_a_problem_does_not_pass_for_a_success() {
    let component = load("configure-refuses-nothing", quick()).expect("it can be loaded");
    let expect = "[expect]\nstarts = \"A@0 B@3 C@4\"\n";
    let source = Source::new("hostile.toml", format!("{ABC}{expect}"));
    let scenario = Scenario::parse(&source).expect("a scenario that holds");
    assert_ne!(judge(&scenario, &component), []);
}
