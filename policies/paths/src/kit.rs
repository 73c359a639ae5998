//! Held to its scenarios and to the contract, by the test kit.

use super::*;

/// Natively there are no arguments; the component has the host's.
#[test]
fn the_scenarios_come_out() {
    jp_policy_testing::component_scenarios(env!("CARGO_MANIFEST_DIR"), "scenarios");
}

#[test]
fn the_contract_is_kept() {
    jp_policy_testing::Check::quick().native::<Paths>();
    jp_policy_testing::Check::quick().component(env!("CARGO_MANIFEST_DIR"));
}
