//! The default rules, with a pause between the executions of a key. README.md says what for, and what the fields mean.
//!
//! ```toml
//! [conversation.tools.api_get]
//! concurrency = { key = "api", delay = "2s" }
//! ```

mod pause;

use jp_policy_guest::{
    Batch, CallId, Decision, Error, Instant, KeyIndex, Policy, Problem, Settings,
    duration::seconds, export_policy, rules,
};

use crate::pause::{After, Pause};

/// The policy: what it knows of the keys, each list by key index.
#[derive(Debug)]
pub struct Delay {
    names: Vec<String>,
    limits: Vec<u32>,
    pauses: Vec<Option<Pause>>,
}

impl Policy for Delay {
    const NAME: &'static str = "delay";

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        let mut problems =
            settings.refuse_unknown(&["delay", "from"], &[]).err().unwrap_or_default();
        let mut pauses = Vec::new();
        for (index, key) in (0..).zip(&settings.keys) {
            pauses.push(Pause::read(&key.fields, |field, why| {
                problems.push(Problem::new(Some(index), Some(field), why));
            }));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let limits = settings.keys.iter().map(|key| key.limit).collect();
        let names = settings.keys.into_iter().map(|key| key.name).collect();
        Ok(Self { names, limits, pauses })
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        let (now, later): (Vec<_>, Vec<_>) =
            self.turns(batch).into_iter().partition(|turn| turn.at == batch.now);
        Ok(Decision {
            release: now.iter().map(|turn| turn.call).collect(),
            wake_at: later.iter().map(|turn| turn.at).min(),
        })
    }

    fn explain(&self, batch: &Batch, call: CallId) -> Option<String> {
        let turn = self.turns(batch).into_iter().find(|turn| turn.call == call)?;
        let (key, pause) = turn.pause.filter(|_| turn.at > batch.now)?;
        Some(format!(
            "key {} pauses {} after the last {}, until {}",
            self.names[key as usize],
            seconds(pause.length),
            pause.after.word(),
            seconds(turn.at),
        ))
    }
}

/// When a call may start that limit and order would let start now.
struct Turn {
    call: CallId,
    /// Now, or the end of the pause.
    at: Instant,
    pause: Option<(KeyIndex, Pause)>,
}

impl Delay {
    /// The calls that the default rules would release, in written order, and when each may start.
    fn turns(&self, batch: &Batch) -> Vec<Turn> {
        let mut last_turns: Vec<Option<Instant>> = vec![None; self.pauses.len()];
        let turn = |call| {
            let pause =
                key_of(batch, call).and_then(|key| Some((key, (*self.pauses.get(key as usize)?)?)));
            let Some((key, Pause { length, after })) = pause else {
                return Turn { call, at: batch.now, pause };
            };
            let usage = batch.usage(key);
            let last = match after {
                After::End => usage.and_then(|usage| usage.last_end),
                // The turn before it is a start that the numbers do not show yet.
                After::Start => {
                    last_turns[key as usize].or_else(|| usage.and_then(|usage| usage.last_release))
                }
            };
            let at = last.map_or(0, |last| last.saturating_add(length)).max(batch.now);
            last_turns[key as usize] = Some(at);
            Turn { call, at, pause }
        };
        rules::release(&self.limits, batch).into_iter().map(turn).collect()
    }
}

fn key_of(batch: &Batch, call: CallId) -> Option<KeyIndex> {
    let place = batch.calls.binary_search_by_key(&call, |call| call.id).ok()?;
    batch.calls[place].key
}

export_policy!(Delay);

#[cfg(test)]
mod tests;

#[cfg(test)]
mod kit;
