//! Held to its scenarios and to the contract, by the test kit.

use super::*;

#[test]
fn the_scenarios_come_out() {
    jp_policy_testing::scenarios::<Backoff>("scenarios");
}

#[test]
fn the_contract_is_kept() {
    let check = || jp_policy_testing::Check::quick();
    check().fields("backoff = \"2s\"").native::<Backoff>();
    check().fields("backoff = \"300ms\"\nmax = \"500ms\"\nrecover = 1").native::<Backoff>();
    // Without a pause it is the default policy.
    check().rules().native::<Backoff>();
    check().fields("backoff = \"2s\"").component(env!("CARGO_MANIFEST_DIR"));
}
