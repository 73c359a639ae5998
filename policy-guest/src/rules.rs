//! The default rules: key, limit and written order.
//!
//! They are a plain function, so that the host can run them natively (they can't fail to load) and a policy that only adds to
//! them can ask them first.

use crate::{Batch, Decision, Error, Policy, Problem, Settings, State};

/// The default policy. Takes no further fields and no options.
#[derive(Debug, Clone)]
pub struct Rules {
    /// By key index.
    limits: Vec<u32>,
}

impl Policy for Rules {
    const NAME: &'static str = "default";

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        settings.refuse_all()?;
        Ok(Self { limits: settings.keys.iter().map(|key| key.limit).collect() })
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        Ok(Decision::release(release(&self.limits, batch)))
    }
}

/// The calls that may start now, in written order. `limits` is indexed by key; works with both views.
///
/// A parked call without a key may start. A parked call with a key may start while fewer than its limit run, unless an earlier
/// call of the key still waits: the first one that can't start, be it for want of a slot or because it is pending, holds back
/// all that follow it.
#[must_use]
pub fn release(limits: &[u32], batch: &Batch) -> Vec<u32> {
    // Slots by place in `batch.keys`; 0 once a call had to wait, which is all that order needs.
    let mut free: Vec<u32> = batch
        .keys
        .iter()
        .map(|usage| {
            let limit = usize::try_from(usage.key).ok().and_then(|key| limits.get(key));
            limit.map_or(0, |limit| limit.saturating_sub(usage.running))
        })
        .collect();
    let mut released = Vec::new();
    for call in &batch.calls {
        match (call.state, call.key) {
            (State::Running, _) | (State::Pending, None) => {}
            (State::Parked, None) => released.push(call.id),
            (state, Some(key)) => {
                let Ok(place) = batch.keys.binary_search_by_key(&key, |usage| usage.key) else {
                    continue;
                };
                let Some(slots) = free.get_mut(place) else {
                    continue;
                };
                if state == State::Pending {
                    *slots = 0;
                } else if *slots > 0 {
                    *slots -= 1;
                    released.push(call.id);
                }
            }
        }
    }
    released
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
