//! What an author implements.

use crate::{Batch, CallId, Decision, Problem, Settings, View};

/// Why a policy can't answer; any error, or a text: `Err("no clock".into())`.
pub type Error = Box<dyn std::error::Error>;

/// A release policy.
///
/// `Sync` and `&self` are there on purpose: a decision is a pure function of the settings and the batch, so a policy has
/// nothing to remember between two questions, and can't by accident.
pub trait Policy: Sized + Send + Sync + 'static {
    /// The name that people read in messages.
    const NAME: &'static str;

    /// What the policy wants to see of a batch. [`View::Front`] is enough for whatever starts calls of one key in written order,
    /// and its cost does not grow with the batch.
    const VIEW: View = View::Front;

    /// Takes the settings of a batch, once, before the first question.
    ///
    /// Refuse by name what the policy does not know ([`Settings::refuse_all`] where it knows nothing), so that a typo is never
    /// silent, and return all problems, not the first.
    fn configure(settings: Settings) -> Result<Self, Vec<Problem>>;

    /// Chooses the calls that start now. An error, like a panic, is a fault: the host goes on without this policy.
    fn release(&self, batch: &Batch) -> Result<Decision, Error>;

    /// Why the parked call `call` does not start now, as a fragment that can follow "queued: ". `None`: the host explains it
    /// by key, limit and holders.
    fn explain(&self, batch: &Batch, call: CallId) -> Option<String> {
        let _ = (batch, call);
        None
    }
}
