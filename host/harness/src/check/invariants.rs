//! What a policy is held to after each of its answers, beyond what the scheduler itself calls a fault.

use jp_policy_core::{
    batch::{Instant, Stage},
    scheduler::Scheduler,
};

use super::{purity::SharedPolicy, violation::Violation};

/// Wake-ups in a row that release nothing, while nothing runs and nobody is asked, before a policy is held to starve what waits.
const WAKES: u32 = 1_000;

/// What is asked of the policy.
pub(super) struct Invariants {
    /// Whether it has to keep the default rules.
    pub(super) rules: bool,
    pub(super) policy: SharedPolicy,
}

impl Invariants {
    /// What is wrong after an answer.
    pub(super) fn judge(&self, scheduler: &Scheduler, now: Instant) -> Option<Violation> {
        if let Some((how, first, second)) = self.policy.impure() {
            return Some(Violation::Impure { at: now, how, first, second });
        }
        let late = if self.rules { scheduler.startable(now) } else { Vec::new() };
        let call = *late.first()?;
        let batch = scheduler.batch();
        let key = batch.get(call)?.key;
        let key =
            key.map(|key| (batch.key_name(key).to_owned(), batch.running(key), batch.limit(key)));
        Some(Violation::WaitsNeedlessly { at: now, call, key })
    }

    /// Whether calls wait for nothing but the policy's own wake-up.
    pub(super) fn waits_for_itself(scheduler: &Scheduler) -> bool {
        let batch = scheduler.batch();
        batch.in_flight() == 0
            && batch.pending() == 0
            && batch.parked() > 0
            && scheduler.poll_timeout().is_some()
    }

    /// What waits after so many wake-ups in a row that released nothing, once they are too many.
    pub(super) fn starves(scheduler: &Scheduler, now: Instant, wakes: u32) -> Option<Violation> {
        if wakes < WAKES || !Self::waits_for_itself(scheduler) {
            return None;
        }
        let calls = (0..).zip(scheduler.batch().calls());
        let parked = calls.filter(|(_, call)| call.stage == Stage::Parked).map(|(id, _)| id);
        Some(Violation::Starves { at: now, wakes, parked: parked.collect() })
    }
}
