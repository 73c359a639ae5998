//! What comes of a check.

use jp_policy_config::ConfigError;
use jp_policy_core::policy::Refusal;

use super::{plan::Plan, violation::Violation};
use crate::Scenario;

/// What a policy was refuted by.
#[derive(Debug)]
pub struct Refutation {
    /// What went wrong.
    pub violation: Violation,
    /// The smallest batch found in which it does.
    pub scenario: Scenario,
    /// Whether a random batch showed it, and not the search.
    pub random: bool,
    /// Whether the batch alone shows it again. If not, it hangs on what the policy was asked before, which it must not.
    pub shown: bool,
}

/// What came of a check that could be made.
#[derive(Debug)]
pub struct Report {
    /// Kinds of batches that were searched whole.
    pub batches: usize,
    /// Kinds of batches that there are.
    pub kinds: usize,
    /// Random batches that were tried.
    pub random: usize,
    /// What went wrong; none: the policy holds.
    pub refutation: Option<Refutation>,
}

/// Why a policy can't be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The settings of the check are no configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The policy does not take the settings.
    #[error("{0}")]
    Unloadable(String),
}

/// What the refusal of a policy means: a fault is a violation, and what it asks for has to be given.
pub(super) fn not_configured(
    refusal: Refusal,
    plan: &Plan,
    name: &str,
) -> Result<Violation, CheckError> {
    match plan.parameters.refusal(name, refusal) {
        Ok(problems) => Err(problems.into()),
        Err(Refusal::Fault(kind)) => Ok(Violation::NotConfigured(kind)),
        Err(other) => Err(CheckError::Unloadable(other.to_string())),
    }
}
