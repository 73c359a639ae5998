//! The short notation of timelines: `A@0` starts at 0 s, `A!3` ends at 3 s, `B [0,3)` is parked in that interval.
//!
//! Each list is sorted by time, then by written order. A call that was parked and released at the same instant is not listed.

use std::fmt::Write as _;

use jp_policy_core::{
    batch::{End, Instant},
    record::{CallRecord, Record, Span},
    scheduler::Settlement,
};

/// Seconds, with as many decimals as needed.
pub fn seconds(at: Instant) -> String {
    let (whole, rest) = (at / 1_000_000_000, at % 1_000_000_000);
    let text = format!("{whole}.{rest:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// All starts: `A@0 B@2`.
pub fn starts(record: &Record) -> String {
    join(record, |call| {
        let run = call.runs.iter().filter(|run| !run.gated);
        run.map(|run| (run.span.from, format!("{}@{}", call.label, seconds(run.span.from))))
            .collect()
    })
}

/// All ends: `A!2 B!4`.
pub fn ends(record: &Record) -> String {
    join(record, |call| {
        let runs = call.runs.iter().filter(|run| !run.gated);
        runs.filter_map(|run| run.span.to.map(|to| (to, format!("{}!{}", call.label, seconds(to)))))
            .collect()
    })
}

/// When each call was parked: `B [0,2)`, separated by commas.
pub fn parked(record: &Record) -> String {
    let mut out = String::new();
    for call in &record.calls {
        // A restart parks a call again at the same instant: it waited without a break.
        let touching = |a: &Span, b: &Span| a.to == Some(b.from);
        for spans in call.parked.chunk_by(touching) {
            let span = Span { from: spans[0].from, to: spans[spans.len() - 1].to };
            if span.to == Some(span.from) {
                continue;
            }
            if !out.is_empty() {
                out.push_str(", ");
            }
            let to = span.to.map_or_else(|| "...".to_owned(), seconds);
            write!(out, "{} [{},{to})", call.label, seconds(span.from))
                .expect("writing to a string works");
        }
    }
    out
}

/// Every call's response in written order: `A ok@2, B error@4`.
pub fn responses(record: &Record) -> String {
    let response = |call: &CallRecord| {
        let (at, how) = call.settled?;
        let end = call.runs.last().and_then(|run| run.end);
        let gated = call.runs.last().is_some_and(|run| run.gated);
        let word = match (how, end) {
            (Settlement::Responded, _) if gated => "not-run",
            (Settlement::Responded, Some(End::Succeeded)) => "ok",
            (Settlement::Responded, Some(End::Stopped)) | (Settlement::Cancelled, _) => "cancelled",
            (Settlement::Responded, _) => "error",
            (Settlement::NotRun, _) => "not-run",
            (Settlement::PolicyFault, _) => "policy-fault",
        };
        Some(format!("{word}@{}", seconds(at)))
    };
    let calls = record.calls.iter();
    let words = calls.map(|call| {
        format!("{} {}", call.label, response(call).unwrap_or_else(|| "none".to_owned()))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn join(record: &Record, of: impl Fn(&CallRecord) -> Vec<(Instant, String)>) -> String {
    let mut words: Vec<(Instant, String)> = record.calls.iter().flat_map(of).collect();
    words.sort_by_key(|(at, _)| *at);
    words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}
