//! Held to its scenarios and to the contract, by the test kit.

use super::*;

#[test]
fn the_scenarios_come_out() {
    jp_policy_testing::scenarios::<Shortest>("scenarios");
}

#[test]
fn the_contract_is_kept() {
    let check = || jp_policy_testing::Check::quick();
    check().native::<Shortest>();
    check().options("patience = 0").component(env!("CARGO_MANIFEST_DIR"));
    check().options("weights = { free = 3 }").component(env!("CARGO_MANIFEST_DIR"));
}
