//! A batch as a trace that Perfetto and `chrome://tracing` open: the trace event format, as JSON.
//!
//! A process a key, one for the calls without a key and one for the policy; a track a call. What a call does at once is in one
//! track only if it nests: a stopped run that lingers beside the next one gets a track of its own.

use std::collections::BTreeMap;

use jp_policy_core::{
    batch::{End, Instant},
    record::{CallRecord, Record, Span},
    scheduler::Settlement,
    text::clean,
};
use serde_json::{Value as Json, json};

use super::decisions::DecisionEntry;

/// The process of the policy. Keys follow.
const POLICY: usize = 1;

/// Makes the trace. `decisions` are those of the same simulation, if they are to be in it.
///
/// Times are microseconds since the batch was handed over, with fractions.
pub fn trace(record: &Record, decisions: &[DecisionEntry]) -> Json {
    let unkeyed = POLICY + 1 + record.keys.len();
    let mut events = Vec::new();
    policy(&mut events, record, decisions);
    let mut by_key: BTreeMap<usize, Vec<&CallRecord>> = BTreeMap::new();
    for call in &record.calls {
        if let Some(key) = call.key {
            by_key.entry(key as usize).or_default().push(call);
        }
    }
    for (key, calls) in by_key {
        let name = record.keys.get(key).map(|name| clean(name)).unwrap_or_default();
        process(&mut events, POLICY + 1 + key, &format!("key {name}"));
        counter(&mut events, &calls, key);
    }
    if record.calls.iter().any(|call| call.key.is_none()) {
        process(&mut events, unkeyed, "no key");
    }
    // Tracks that are needed beside the one of each call.
    let mut further = record.calls.len() + 1;
    for (place, call) in record.calls.iter().enumerate() {
        let pid = call.key.map_or(unkeyed, |key| POLICY + 1 + key as usize);
        let tracks = tracks(call, record.until);
        for (n, spans) in tracks.into_iter().enumerate() {
            let tid = if n == 0 { place + 1 } else { further };
            further += usize::from(n > 0);
            let name = format!("{} {}", place + 1, clean(&call.label));
            let name = if n == 0 { name } else { format!("{name} (also)") };
            events.push(json!({ "ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": { "name": name } }));
            events.push(json!({
                "ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": { "sort_index": place }
            }));
            events.extend(spans.into_iter().map(|span| span.to_json(pid, tid)));
        }
        if let Some((at, how)) = call.settled
            && let Some(name) = settled(call, how)
        {
            events.push(instant(pid, place + 1, at, name, "t", &json!({})));
        }
    }
    json!({ "displayTimeUnit": "ms", "traceEvents": events })
}

/// A slice of a track, as the format calls it.
struct Slice {
    name: String,
    category: &'static str,
    from: Instant,
    to: Instant,
    args: Json,
}

impl Slice {
    fn new(name: impl Into<String>, category: &'static str, span: Span, until: Instant) -> Self {
        let to = span.to.unwrap_or(until);
        Self { name: name.into(), category, from: span.from, to, args: json!({}) }
    }

    fn to_json(&self, pid: usize, tid: usize) -> Json {
        let took = micros(self.to.saturating_sub(self.from));
        json!({
            "ph": "X", "name": self.name, "cat": self.category, "pid": pid, "tid": tid,
            "ts": micros(self.from), "dur": took, "args": self.args
        })
    }
}

/// The spans of a call in as many tracks as it takes to have none overlap, what nests aside.
fn tracks(call: &CallRecord, until: Instant) -> Vec<Vec<Slice>> {
    let waits = call.parked.iter().filter(|span| span.to != Some(span.from));
    let waits = waits.map(|span| vec![Slice::new("waits", "waiting", *span, until)]);
    let runs = call.runs.iter().filter(|run| !run.gated).map(|run| {
        let mut whole = Slice::new(clean(&call.label), "running", run.span, until);
        whole.args = json!({ "end": run.end.map(end) });
        let asks = run.asks.iter().map(|ask| Slice::new("asks", "question", *ask, until));
        [whole].into_iter().chain(asks).collect::<Vec<_>>()
    });
    let mut groups: Vec<Vec<Slice>> = waits.chain(runs).collect();
    groups.sort_by_key(|group| (group[0].from, group[0].to));
    let mut tracks: Vec<Vec<Slice>> = vec![Vec::new()];
    for group in groups {
        let from = group[0].from;
        let free = |track: &Vec<Slice>| track.iter().all(|other| other.to <= from);
        match tracks.iter_mut().find(|track| free(track)) {
            Some(track) => track.extend(group),
            None => tracks.push(group),
        }
    }
    tracks
}

fn policy(events: &mut Vec<Json>, record: &Record, decisions: &[DecisionEntry]) {
    if decisions.is_empty() && record.faults.is_empty() {
        return;
    }
    process(events, POLICY, "policy");
    events.push(json!({
        "ph": "M", "name": "thread_name", "pid": POLICY, "tid": 0, "args": { "name": "decisions" }
    }));
    for entry in decisions {
        let Ok(decision) = &entry.answer else {
            continue;
        };
        let label = |call: &u32| {
            let label = record.calls.get(*call as usize).map_or("?", |call| &call.label);
            format!("{} {}", u64::from(*call) + 1, clean(label))
        };
        let released: Vec<String> = decision.release.iter().map(label).collect();
        let name = match released.as_slice() {
            [] => "nothing".to_owned(),
            [one] => format!("start {one}"),
            several => format!("start {} calls", several.len()),
        };
        let args = json!({
            "shown": entry.batch.calls.len(),
            "running": entry.batch.running,
            "released": released,
            "wake_at": decision.wake_at.map(micros),
        });
        events.push(instant(POLICY, 0, entry.at, &name, "t", &args));
    }
    for fault in &record.faults {
        let args = json!({ "kind": fault.kind.word(), "message": clean(&fault.to_string()) });
        events.push(instant(POLICY, 0, fault.at, "fault", "g", &args));
    }
}

fn process(events: &mut Vec<Json>, pid: usize, name: &str) {
    events.push(json!({ "ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": { "name": name } }));
    events.push(json!({
        "ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": { "sort_index": pid }
    }));
}

/// How many executions of a key run, at each instant at which that changes.
fn counter(events: &mut Vec<Json>, calls: &[&CallRecord], key: usize) {
    let mut changes: BTreeMap<Instant, i64> = BTreeMap::from([(0, 0)]);
    for run in calls.iter().flat_map(|call| &call.runs) {
        *changes.entry(run.span.from).or_default() += 1;
        if let Some(to) = run.span.to {
            *changes.entry(to).or_default() -= 1;
        }
    }
    let mut running = 0;
    for (at, change) in changes {
        running += change;
        events.push(json!({
            "ph": "C", "name": "running", "pid": POLICY + 1 + key, "tid": 0, "ts": micros(at), "args": { "running": running }
        }));
    }
}

fn instant(pid: usize, tid: usize, at: Instant, name: &str, scope: &str, args: &Json) -> Json {
    json!({
        "ph": "i", "name": name, "cat": "event", "pid": pid, "tid": tid, "ts": micros(at), "s": scope, "args": args
    })
}

fn end(end: End) -> &'static str {
    match end {
        End::Succeeded => "ok",
        End::Failed | End::Gated => "failed",
        End::Stopped => "stopped",
    }
}

/// What is worth an instant of its own: what no span tells.
fn settled(call: &CallRecord, how: Settlement) -> Option<&'static str> {
    match how {
        Settlement::Responded if call.runs.last().is_some_and(|run| run.gated) => Some("not run"),
        Settlement::Responded => None,
        Settlement::NotRun => Some("not run"),
        Settlement::Cancelled => Some("cancelled"),
        Settlement::PolicyFault => Some("error after a fault"),
    }
}

fn micros(at: Instant) -> f64 {
    at as f64 / 1000.0
}
