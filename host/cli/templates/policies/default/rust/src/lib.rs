//! The default rules: key, limit and written order.

use jp_policy_guest::{Batch, Decision, Error, Policy, Problem, Settings, export_policy, rules};

struct Rules {
    limits: Vec<u32>, // by key index
}

impl Policy for Rules {
    const NAME: &'static str = "{{name}}";

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        settings.refuse_all()?; // by name, so that a typo is never silent
        Ok(Self { limits: settings.keys.iter().map(|key| key.limit).collect() })
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        Ok(Decision::release(rules::release(&self.limits, batch)))
    }
}

export_policy!(Rules);

#[cfg(test)]
mod tests;
