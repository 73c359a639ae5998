//! A policy that panics when a call has ended, with the message that its options say.

use jp_policy_guest::{Batch, Decision, Error, Policy, Problem, Settings, Value, rules::Rules};

struct Panics {
    rules: Rules,
    message: String,
}

impl Policy for Panics {
    const NAME: &'static str = "panics";

    fn configure(mut settings: Settings) -> Result<Self, Vec<Problem>> {
        let message = match settings.options.pop() {
            Some(option) => match option.value {
                Value::Text(text) => text,
                other => panic!("option {} is {other:?}", option.name),
            },
            None => "no message".to_owned(),
        };
        Ok(Self { rules: Rules::configure(settings)?, message })
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        assert!(batch.keys.iter().all(|key| key.ended == 0), "{}", self.message);
        self.rules.release(batch)
    }
}

jp_policy_guest::export_policy!(Panics);
