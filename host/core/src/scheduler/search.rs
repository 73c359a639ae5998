//! What a search through all that may happen needs of a scheduler: to take two ways from one state, and to know a state again.

use std::{
    collections::VecDeque,
    hash::{Hash, Hasher},
};

use jp_policy_guest::{View, rules};

use super::{Decider, Scheduler};
use crate::{
    batch::{CallId, Instant, Stage},
    policy::Policy,
};

impl Scheduler {
    /// A scheduler in the same state whose policy is away: it has to be lent one that decides as this one's does before it is
    /// asked. Events that nobody has taken stay here.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            batch: self.batch.clone(),
            decider: match &self.decider {
                Decider::Policy(_) => Decider::Policy(None),
                Decider::Rules => Decider::Rules,
                Decider::Nobody => Decider::Nobody,
            },
            identity: self.identity.clone(),
            options: self.options,
            events: VecDeque::new(),
            ..*self
        }
    }

    /// Lends a fork its policy.
    pub fn lend(&mut self, policy: Box<dyn Policy>) {
        if let Decider::Policy(away @ None) = &mut self.decider {
            *away = Some(policy);
        }
    }

    /// Feeds what decides how it goes on into a hash; of times only the wake-up, how far away it is, and with `timed` all that a
    /// question shows of them. Executions are told apart by their calls, not by their ids.
    pub fn hash_state(&self, now: Instant, timed: bool, state: &mut impl Hasher) {
        (self.due, self.woken, self.spins, self.started, self.open, self.cancelled).hash(state);
        self.wake_at.map(|at| at.saturating_sub(now)).hash(state);
        for call in self.batch.calls() {
            let place = match call.stage {
                Stage::Pending => 0,
                Stage::Parked => 1,
                Stage::Running { asking, .. } => 2 + u8::from(asking),
                Stage::Ended { failed } => 4 + u8::from(failed),
                Stage::Settled => 6,
            };
            (call.tool, place).hash(state);
            if timed && place < 4 {
                now.saturating_sub(call.since).hash(state);
            }
        }
        self.batch.in_flight().hash(state);
        for (key, _) in (0..).zip(self.batch.limits()) {
            let usage = self.batch.usage(key);
            (usage.running, usage.ended, usage.failed).hash(state);
            if timed {
                let ago = |at: Option<Instant>| at.map(|at| now.saturating_sub(at));
                (ago(usage.last_release), ago(usage.last_end)).hash(state);
            }
        }
    }

    /// Whether something happened since the last question that could let a call start.
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// The calls that the default rules would start now.
    pub fn startable(&self, now: Instant) -> Vec<CallId> {
        if self.holds() || self.cancelled {
            return Vec::new();
        }
        rules::release(self.batch.limits(), &self.batch.view(now, View::Front))
    }
}
