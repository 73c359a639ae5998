//! Locks by argument: calls of a key that name the same file, or a folder above it, exclude each other; others run side by side.
//! README.md says what for, and what the options mean.
//!
//! ```toml
//! [plugins.wasm.paths]
//! path = "policies/paths.wasm"
//! options = { paths = ["path", "to"], reads = ["fs_read_file"], root = "/home/me/project" }
//! ```

mod claim;
mod locks;
mod options;
mod texts;

use std::collections::BTreeMap;

use jp_policy_guest::{
    Batch, Call, CallId, Decision, Error, KeyIndex, Policy, Problem, Settings, State, Usage, View,
    export_policy,
};

use crate::{claim::Claim, locks::Locks, options::Options};

/// The policy.
#[derive(Debug)]
pub struct Paths {
    options: Options,
    /// Names and limits of the keys, by index.
    keys: Vec<(String, u32)>,
}

impl Policy for Paths {
    const NAME: &'static str = "paths";
    // Later calls pass those that wait for a path, and what runs holds its paths.
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
        Ok(Decision::release(self.decide(batch, &arguments)))
    }

    fn explain(&self, batch: &Batch, call: CallId) -> Option<String> {
        self.reason(batch, call, &arguments)
    }
}

/// Where the arguments of a call come from.
type Arguments<'a> = &'a dyn Fn(CallId) -> Option<String>;

#[cfg(target_family = "wasm")]
use jp_policy_guest::arguments;

/// Natively there is no host to ask.
#[cfg(not(target_family = "wasm"))]
fn arguments(_: CallId) -> Option<String> {
    None
}

/// What is left of a key.
struct Left {
    slots: u32,
    locks: Locks,
}

impl Paths {
    fn decide(&self, batch: &Batch, arguments: Arguments) -> Vec<CallId> {
        let mut left: BTreeMap<KeyIndex, Left> = BTreeMap::new();
        for usage in &batch.keys {
            let slots = self.slots(usage);
            if slots > 0 {
                left.insert(usage.key, Left { slots, locks: Locks::default() });
            }
        }
        let mut shown: BTreeMap<KeyIndex, u32> = BTreeMap::new();
        for call in batch.calls.iter().filter(|call| call.state == State::Running) {
            if let Some((key, left)) = call.key.and_then(|key| Some((key, left.get_mut(&key)?))) {
                left.locks.add(&self.claim(call, arguments));
                *shown.entry(key).or_default() += 1;
            }
        }
        left.retain(|key, left| {
            let shown = shown.get(key).copied().unwrap_or(0);
            // What runs and is not shown was started before: nobody knows on which paths.
            !left.locks.is_whole() && batch.usage(*key).is_some_and(|usage| usage.running <= shown)
        });
        let mut released = Vec::new();
        for call in batch.calls.iter().filter(|call| call.state != State::Running) {
            let Some(key) = call.key else {
                if call.state == State::Parked {
                    released.push(call.id);
                }
                continue;
            };
            let Some(Left { slots, locks }) = left.get_mut(&key) else { continue };
            let claim = self.claim(call, arguments);
            if call.state == State::Parked && locks.allow(&claim) {
                released.push(call.id);
                *slots -= 1;
            }
            // A call that waits holds back the later ones on its paths too: that is their order.
            locks.add(&claim);
            if *slots == 0 || locks.is_whole() {
                // None of those that follow can start: they are not looked at.
                left.remove(&key);
            }
        }
        released
    }

    /// What a parked call waits for, if that is a path.
    fn reason(&self, batch: &Batch, id: CallId, arguments: Arguments) -> Option<String> {
        let place = batch.calls.binary_search_by_key(&id, |call| call.id).ok()?;
        let call = &batch.calls[place];
        let key = call.key?;
        let (name, _) = self.keys.get(key as usize)?;
        let claim = self.claim(call, arguments);
        let of_key = batch.calls.iter().filter(|other| other.key == Some(key));
        let before = of_key.filter(|other| other.state == State::Running || other.id < id);
        let mut running = 0;
        for other in before {
            let held = self.claim(other, arguments);
            running += u32::from(other.state == State::Running);
            let mut locks = Locks::default();
            locks.add(&held);
            if locks.allow(&claim) {
                continue;
            }
            return Some(
                match claim.places.iter().find(|place| !locks.allow_place(place, claim.writes)) {
                    None => {
                        format!("it names no path, so it waits for earlier calls of key {name}")
                    }
                    Some(_) if held.places.is_empty() => {
                        format!(
                            "an earlier call of key {name} names no path, so this one waits for it"
                        )
                    }
                    Some(place) if other.state == State::Running => format!("{place} is in use"),
                    Some(place) => format!("an earlier call waits for {place}"),
                },
            );
        }
        let hidden = batch.usage(key).is_some_and(|usage| usage.running > running);
        hidden.then(|| format!("an execution of key {name} from before is not gone"))
    }

    fn slots(&self, usage: &Usage) -> u32 {
        let limit = self.keys.get(usage.key as usize).map_or(0, |(_, limit)| *limit);
        limit.saturating_sub(usage.running)
    }

    fn claim(&self, call: &Call, arguments: Arguments) -> Claim {
        let writes = !self.options.reads.contains(&call.tool);
        Claim::read(arguments(call.id).as_deref(), writes, &self.options)
    }
}

export_policy!(Paths);

#[cfg(test)]
mod tests;

#[cfg(test)]
mod kit;
