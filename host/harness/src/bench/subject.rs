//! What is measured.

use jp_policy_wasm::Budget;

/// A policy to be measured.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// What messages call it.
    pub path: &'a str,
    /// The component.
    pub bytes: &'a [u8],
    /// What it is held to.
    pub budget: Budget,
}
