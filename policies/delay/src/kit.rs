//! Held to its scenarios and to the contract, by the test kit.

use super::*;

#[test]
fn the_scenarios_come_out() {
    jp_policy_testing::scenarios::<Delay>("scenarios");
}

#[test]
fn the_contract_is_kept() {
    let check = || jp_policy_testing::Check::quick();
    check().fields("delay = \"2s\"").native::<Delay>();
    check().fields("delay = \"300ms\"\nfrom = \"start\"").native::<Delay>();
    // Without a pause it is the default policy.
    check().rules().native::<Delay>();
    check().fields("delay = \"2s\"").component(env!("CARGO_MANIFEST_DIR"));
}
