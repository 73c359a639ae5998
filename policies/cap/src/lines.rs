//! Whose turn it is. Each key is a line, and the calls without a key are one more.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use jp_policy_guest::{Batch, CallId, Instant, KeyIndex, State, rules};

/// Among lines with as many executions, who goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    First,
    /// After those that were released before then.
    Since(Instant),
    Last,
}

/// The calls that the default rules would release, in the order in which slots go to them: each slot to the line with the fewest
/// executions; of those to the one whose last release is longest ago; of those to the call that was written first.
pub fn by_turn(limits: &[u32], batch: &Batch) -> Vec<CallId> {
    let startable = rules::release(limits, batch);
    let mut lines: BTreeMap<Option<KeyIndex>, Vec<CallId>> = BTreeMap::new();
    let mut calls = batch.calls.iter();
    for id in startable.iter().rev() {
        // Both are sorted: each call is looked at once.
        let key = calls.rfind(|call| call.id == *id).and_then(|call| call.key);
        lines.entry(key).or_default().push(*id);
    }
    let mut next: BinaryHeap<_> = lines
        .iter()
        .filter_map(|(key, calls)| {
            let (running, turn) = place(*key, batch);
            Some(Reverse((running, turn, *calls.last()?, *key)))
        })
        .collect();
    let mut order = Vec::with_capacity(startable.len());
    while let Some(Reverse((running, _, call, key))) = next.pop() {
        order.push(call);
        let Some(calls) = lines.get_mut(&key) else { continue };
        calls.pop();
        if let Some(call) = calls.last() {
            let turn = if key.is_some() { Turn::Since(batch.now) } else { Turn::Last };
            next.push(Reverse((running + 1, turn, *call, key)));
        }
    }
    order
}

/// How many executions of a line run, and its turn.
fn place(key: Option<KeyIndex>, batch: &Batch) -> (u64, Turn) {
    if let Some(key) = key {
        let usage = batch.usage(key);
        let last = usage.and_then(|usage| usage.last_release);
        let running = usage.map_or(0, |usage| usage.running);
        return (running.into(), last.map_or(Turn::First, Turn::Since));
    }
    let running = batch.calls.iter().filter(|call| call.key.is_none());
    let running = running.filter(|call| call.state == State::Running).count() as u64;
    // When one was released last, nothing shows once it has ended. But a slot that comes from a key does not come from them.
    let from_key = batch.keys.iter().any(|usage| usage.last_end == Some(batch.now));
    (running, if from_key { Turn::First } else { Turn::Last })
}
