//! The default rules, and no more than `AT_ONCE` executions at once, over all keys.

use jp_policy_guest::{
    Batch, CallId, Decision, Error, Policy, Problem, Settings, export_policy, rules,
};

/// The idea, and what to change first.
const AT_ONCE: u32 = 4;

struct AtOnce {
    limits: Vec<u32>, // by key index
}

impl Policy for AtOnce {
    const NAME: &'static str = "{{name}}";

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        settings.refuse_all()?; // by name, so that a typo is never silent
        Ok(Self { limits: settings.keys.iter().map(|key| key.limit).collect() })
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        let free = AT_ONCE.saturating_sub(batch.running);
        let could = rules::release(&self.limits, batch); // in written order
        Ok(Decision::release(could.into_iter().take(free as usize)))
    }

    fn explain(&self, batch: &Batch, _: CallId) -> Option<String> {
        (batch.running >= AT_ONCE).then(|| format!("{} executions run already", batch.running))
    }
}

export_policy!(AtOnce);

#[cfg(test)]
mod tests;
