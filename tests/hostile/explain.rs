//! Reasons that go wrong: they cost the explanation, not the policy.

use jp_policy_config::{Config, Source};
use jp_policy_core::policy::{Arguments, PolicyFactory as _};
use jp_policy_guest::{Batch, Call, Decision, State, Usage};

use jp_policy_tests::support::{load, quick};

/// What it says about a parked call, asked twice, and what it releases then.
fn explained(policy: &str) -> ([Option<String>; 2], Decision) {
    let source = Source::new("hostile.toml", "conversation.tools.t.concurrency = 1");
    let settings = Config::from_sources(&[source]).expect("a configuration that holds").settings();
    let component = load(policy, quick()).expect("it can be loaded");
    let mut policy =
        component.instantiate(&settings, Arguments::default()).expect("it takes the settings");
    let batch = Batch {
        now: 0,
        running: 0,
        keys: vec![Usage {
            key: 0,
            running: 0,
            waiting: 1,
            ended: 0,
            failed: 0,
            last_release: None,
            last_end: None,
        }],
        calls: vec![Call {
            id: 0,
            parent: 0,
            tool: 0,
            key: Some(0),
            state: State::Parked,
            since: 0,
        }],
    };
    let reasons = [policy.explain(&batch, 0), policy.explain(&batch, 0)];
    (reasons, policy.release(&batch).expect("it decides as before"))
}

#[test]
fn a_fault_costs_the_explanation_only() {
    for policy in ["explain-traps", "explain-loops"] {
        assert_eq!(explained(policy), ([None, None], Decision::release(vec![0])), "{policy}");
    }
}

#[test]
fn a_reason_is_made_fit_for_a_terminal() {
    let clean = Some("\u{fffd}[2Jowned\u{fffd} ERROR\u{fffd}".to_owned());
    assert_eq!(explained("explain-escapes"), ([clean.clone(), clean], Decision::release(vec![0])));
}
