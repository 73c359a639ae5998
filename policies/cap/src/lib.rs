//! The default rules, with a cap on how many executions run at once, whatever their keys. README.md says what for, and what the
//! option means.
//!
//! ```toml
//! [plugins.wasm.cap]
//! path = "policies/cap.wasm"
//! options = { cap = 8 }
//! ```

mod lines;

use jp_policy_guest::{
    Batch, CallId, Decision, Error, Policy, Problem, Settings, Value, View, export_policy,
};

const CAP: &str = "expected a whole number of at least 1; without `cap` there is none";

/// The policy: the cap, and the limits by key index.
#[derive(Debug)]
pub struct Cap {
    cap: Option<u64>,
    limits: Vec<u32>,
}

impl Policy for Cap {
    const NAME: &'static str = "cap";
    // How many calls without a key run stands nowhere but in the list of calls.
    const VIEW: View = View::Full;

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        let mut problems = settings.refuse_unknown(&[], &["cap"]).err().unwrap_or_default();
        let option = settings.options.iter().find(|option| option.name == "cap");
        let cap = option.map(|option| number(&option.value));
        if let Some(None) = cap {
            problems.push(Problem::new(None, Some("cap"), CAP));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let limits = settings.keys.iter().map(|key| key.limit).collect();
        Ok(Self { cap: cap.flatten(), limits })
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        let mut calls = lines::by_turn(&self.limits, batch);
        calls.truncate(self.room(batch));
        Ok(Decision::release(calls))
    }

    fn explain(&self, batch: &Batch, call: CallId) -> Option<String> {
        let cap = self.cap?;
        let place = lines::by_turn(&self.limits, batch).into_iter().position(|id| id == call)?;
        if place < self.room(batch) {
            return None;
        }
        let executions = if batch.running == 1 { "execution runs" } else { "executions run" };
        Some(format!("{} {executions}, the cap is {cap}", batch.running))
    }
}

impl Cap {
    /// How many more may run.
    fn room(&self, batch: &Batch) -> usize {
        let room = self.cap.map(|cap| cap.saturating_sub(u64::from(batch.running)));
        // More than can be counted is more than there are calls.
        room.and_then(|room| usize::try_from(room).ok()).unwrap_or(usize::MAX)
    }
}

fn number(value: &Value) -> Option<u64> {
    let Value::Integer(number) = value else {
        return None;
    };
    u64::try_from(*number).ok().filter(|number| *number > 0)
}

export_policy!(Cap);

#[cfg(test)]
mod tests;

#[cfg(test)]
mod kit;
