//! The versions of the contract that this host knows.

use super::{contract::Contract, v0_1::V0_1};

/// All of them, the newest first.
pub(super) const CONTRACTS: &[&dyn Contract] = &[&V0_1];

#[cfg(test)]
#[path = "versions_tests.rs"]
mod tests;
