//! Short calls first: within the limit of a key, by a weight per tool. README.md says what for, and what the options mean.
//!
//! ```toml
//! [plugins.wasm.shortest]
//! path = "policies/shortest.wasm"
//! options = { weights = { lint = 2, build = 30 }, patience = "30s" }
//! ```

mod options;

use std::collections::BTreeMap;

use jp_policy_guest::{
    Batch, Call, CallId, Decision, Error, KeyIndex, Policy, Problem, Settings, State, View,
    duration::seconds, export_policy,
};

use crate::options::Options;

/// The policy.
#[derive(Debug)]
pub struct Shortest {
    options: Options,
    /// Names and limits of the keys, by index.
    keys: Vec<(String, u32)>,
}

/// What a line is sorted by: the least starts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It has waited long enough: now its place in the written order counts.
    Aged(CallId),
    Young {
        weight: u64,
        call: CallId,
    },
}

impl Policy for Shortest {
    const NAME: &'static str = "shortest";
    // A short call may stand anywhere behind the first.
    const VIEW: View = View::Full;

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        let mut problems = settings.refuse_unknown(&[], &options::NAMES).err().unwrap_or_default();
        let options = Options::read(&settings, |option, why| {
            problems.push(Problem::new(None, Some(option), why));
        });
        if !problems.is_empty() {
            return Err(problems);
        }
        let keys = settings.keys.into_iter().map(|key| (key.name, key.limit)).collect();
        Ok(Self { options, keys })
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        let mut release = Vec::new();
        let mut lines: BTreeMap<KeyIndex, Vec<Rank>> = BTreeMap::new();
        for call in batch.calls.iter().filter(|call| call.state == State::Parked) {
            match call.key {
                None => release.push(call.id),
                Some(key) => lines.entry(key).or_default().push(self.rank(batch, call)),
            }
        }
        for (key, mut line) in lines {
            line.sort_unstable();
            release.extend(line.iter().take(self.slots(batch, key)).map(Rank::call));
        }
        Ok(Decision::release(release))
    }

    fn explain(&self, batch: &Batch, call: CallId) -> Option<String> {
        let place = batch.calls.binary_search_by_key(&call, |call| call.id).ok()?;
        let call = &batch.calls[place];
        let key = call.key.filter(|_| call.state == State::Parked)?;
        let rank = self.rank(batch, call);
        let line = batch.calls.iter().filter(|it| it.key == Some(key) && it.state == State::Parked);
        let ahead = line.filter(|it| self.rank(batch, it) < rank).count();
        if ahead < self.slots(batch, key) {
            return None;
        }
        let (name, _) = self.keys.get(key as usize)?;
        let why = match rank {
            Rank::Aged(_) => format!("as it has waited {}", seconds(self.options.patience)),
            Rank::Young { weight, .. } => {
                let aged = call.since.saturating_add(self.options.patience);
                format!("by its weight of {weight}; by age from {} on", seconds(aged))
            }
        };
        Some(format!("place {} in line for key {name}, {why}", ahead + 1))
    }
}

impl Shortest {
    fn rank(&self, batch: &Batch, call: &Call) -> Rank {
        if batch.now.saturating_sub(call.since) >= self.options.patience {
            return Rank::Aged(call.id);
        }
        Rank::Young { weight: self.options.weight(call.tool), call: call.id }
    }

    /// How many more may run with a key.
    fn slots(&self, batch: &Batch, key: KeyIndex) -> usize {
        let limit = self.keys.get(key as usize).map_or(0, |(_, limit)| *limit);
        let running = batch.usage(key).map_or(limit, |usage| usage.running);
        limit.saturating_sub(running) as usize
    }
}

impl Rank {
    fn call(&self) -> CallId {
        match self {
            Self::Aged(call) | Self::Young { call, .. } => *call,
        }
    }
}

export_policy!(Shortest);

#[cfg(test)]
mod tests;

#[cfg(test)]
mod kit;
