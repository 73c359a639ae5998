//! Held to its scenarios and to the contract, by the test kit.

use super::*;

#[test]
fn the_scenarios_come_out() {
    jp_policy_testing::scenarios::<Cap>("scenarios");
}

#[test]
fn the_contract_is_kept() {
    let check = || jp_policy_testing::Check::quick();
    // Without a cap it is the default policy.
    check().rules().native::<Cap>();
    check().options("cap = 1").component(env!("CARGO_MANIFEST_DIR"));
    check().options("cap = 2").component(env!("CARGO_MANIFEST_DIR"));
}
