//! Questions to a policy, and its answers: they carry the policy with them, so that it can think on another thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jp_policy_guest::{self as contract, Decision};

use crate::{
    batch::CallId,
    policy::{FaultKind, Policy},
};

/// A question to the policy, with the policy in it: it can be asked wherever there is time for it.
pub struct PolicyQuestion {
    pub(super) policy: Box<dyn Policy>,
    pub(super) batch: contract::Batch,
    pub(super) revision: u64,
}

/// A policy's answer to a [`PolicyQuestion`].
pub struct PolicyAnswer {
    pub(super) policy: Box<dyn Policy>,
    pub(super) batch: contract::Batch,
    pub(super) revision: u64,
    pub(super) result: Result<Decision, FaultKind>,
}

impl PolicyQuestion {
    /// What the policy is shown.
    pub fn batch(&self) -> &contract::Batch {
        &self.batch
    }

    /// Asks the policy; takes as long as the policy takes.
    pub fn ask(mut self) -> PolicyAnswer {
        let result = caught(|| self.policy.release(&self.batch)).flatten();
        self.answered(result)
    }

    /// Asks the policy if it answers in a moment; gives the question back if that may take longer.
    pub fn ask_at_once(mut self) -> Result<PolicyAnswer, Self> {
        match caught(|| self.policy.release_at_once(&self.batch)).transpose() {
            Some(result) => Ok(self.answered(result.flatten())),
            None => Err(self),
        }
    }

    fn answered(self, result: Result<Decision, FaultKind>) -> PolicyAnswer {
        PolicyAnswer { policy: self.policy, batch: self.batch, revision: self.revision, result }
    }
}

impl PolicyAnswer {
    /// What the policy was shown.
    pub fn batch(&self) -> &contract::Batch {
        &self.batch
    }

    /// What the policy said.
    pub fn result(&self) -> &Result<Decision, FaultKind> {
        &self.result
    }

    /// Why the calls that it was shown and does not release still wait, in its own words, the first `most` of them. Takes as
    /// long as the policy takes, so it is asked where the question was.
    pub fn reasons(&mut self, most: usize) -> Vec<(CallId, String)> {
        let Ok(decision) = &self.result else {
            return Vec::new();
        };
        if most == 0 {
            return Vec::new();
        }
        let batch = after(&self.batch, &decision.release);
        let parked = batch.calls.iter().filter(|call| call.state == contract::State::Parked);
        let parked: Vec<CallId> = parked.map(|call| call.id).take(most).collect();
        let reasons = parked.into_iter();
        reasons
            .filter_map(|call| {
                let reason = caught(|| self.policy.explain(&batch, call)).ok().flatten();
                Some((call, reason?))
            })
            .collect()
    }
}

/// Asks a policy. One that is compiled into the host may panic, and then that is a fault like a component's trap.
fn caught<T>(ask: impl FnOnce() -> T) -> Result<T, FaultKind> {
    // After a fault the policy is not asked again, so nobody sees what the panic left behind.
    catch_unwind(AssertUnwindSafe(ask)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let message = format!("panicked: {}", text.as_deref().unwrap_or("without a message"));
        FaultKind::Trap { message }
    })
}

/// What a policy was shown, with what it released running.
fn after(batch: &contract::Batch, released: &[CallId]) -> contract::Batch {
    let mut batch = batch.clone();
    for call in &mut batch.calls {
        if !released.contains(&call.id) || call.state != contract::State::Parked {
            continue;
        }
        (call.state, call.since) = (contract::State::Running, batch.now);
        batch.running += 1;
        for usage in batch.keys.iter_mut().filter(|usage| Some(usage.key) == call.key) {
            usage.running += 1;
            usage.waiting = usage.waiting.saturating_sub(1);
            usage.last_release = Some(batch.now);
        }
    }
    batch
}
