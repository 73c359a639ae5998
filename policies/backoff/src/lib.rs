//! The default rules, with a pause per key that grows with its failures. README.md says what for, and what the fields mean.
//!
//! ```toml
//! [conversation.tools.api_get]
//! concurrency = { key = "api", limit = 4, backoff = "1s", max = "1m" }
//! ```

mod pause;

use jp_policy_guest::{
    Batch, CallId, Decision, Error, Instant, Policy, Problem, Settings, Usage, duration::seconds,
    export_policy, rules,
};

use crate::pause::{FIELDS, Growth};

/// The policy: what it knows of the keys, each list by key index.
#[derive(Debug)]
pub struct Backoff {
    names: Vec<String>,
    limits: Vec<u32>,
    growths: Vec<Option<Growth>>,
}

impl Policy for Backoff {
    const NAME: &'static str = "backoff";

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        let mut problems = settings.refuse_unknown(&FIELDS, &[]).err().unwrap_or_default();
        let mut growths = Vec::new();
        for (index, key) in (0..).zip(&settings.keys) {
            growths.push(Growth::read(&key.fields, |field, why| {
                problems.push(Problem::new(Some(index), Some(field), why));
            }));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let limits = settings.keys.iter().map(|key| key.limit).collect();
        let names = settings.keys.into_iter().map(|key| key.name).collect();
        Ok(Self { names, limits, growths })
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        let mut decision = Decision::nothing();
        for call in rules::release(&self.limits, batch) {
            match self.pause(batch, call).filter(|pause| pause.until > batch.now) {
                None => decision.release.push(call),
                Some(Paused { until, .. }) => {
                    decision.wake_at = Some(decision.wake_at.map_or(until, |at| at.min(until)));
                }
            }
        }
        Ok(decision)
    }

    fn explain(&self, batch: &Batch, call: CallId) -> Option<String> {
        // A call that waits for its key or for those before it is the host's to explain.
        rules::release(&self.limits, batch).binary_search(&call).ok()?;
        let Paused { usage, length, until } = self.pause(batch, call)?;
        if until <= batch.now {
            return None;
        }
        Some(format!(
            "key {} pauses {} after the last end, until {}: {} of {} failed",
            self.names.get(usage.key as usize)?,
            seconds(length),
            seconds(until),
            usage.failed,
            usage.ended,
        ))
    }
}

/// The pause that a call has before it.
struct Paused<'a> {
    usage: &'a Usage,
    length: Instant,
    until: Instant,
}

impl Backoff {
    /// The pause of the call's key; none, if it has no key, or none that has ended an execution and pauses.
    fn pause<'a>(&self, batch: &'a Batch, call: CallId) -> Option<Paused<'a>> {
        let place = batch.calls.binary_search_by_key(&call, |call| call.id).ok()?;
        let key = batch.calls[place].key?;
        let growth = self.growths.get(key as usize)?.as_ref()?;
        let usage = batch.usage(key)?;
        let length = growth.pause(usage.ended, usage.failed);
        Some(Paused { usage, length, until: usage.last_end?.saturating_add(length) })
    }
}

export_policy!(Backoff);

#[cfg(test)]
mod tests;

#[cfg(test)]
mod kit;
