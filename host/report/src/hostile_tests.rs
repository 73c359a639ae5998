//! A record whose times add up to more than the largest instant: whatever shows it neither panics nor wraps around.

use std::path::Path;

use jp_policy_core::{
    batch::Instant,
    policy::Identity,
    record::{Record, RecordFile},
};
use jp_policy_guest::{Key, Settings, Tool};

use crate::{
    ReplayOutcome, WaitAnalysis, ends, parked, responses, side_by_side::side_by_side, starts, svg,
    timeline::timeline, trace,
};

/// The end of time.
const END: Instant = Instant::MAX;

fn file() -> RecordFile {
    let mut text = r#"{"format":"jp-policy.record","version":1,"time":"2026-01-01T00:00:00Z","policy":{"name":"p"},"guard":"limit","on_fault":"default","tools":[{"name":"t","key":0}],"keys":[{"name":"k","limit":1}]}"#.to_owned();
    let mut line = |at: Instant, rest: &str| {
        text += &format!("\n{{\"at\":{at},\"event\":{rest}}}");
    };
    for call in 0..3 {
        line(0, &format!(r#""submitted","call":{call},"id":"c","tool":"t","parent":{call}"#));
        line(0, &format!(r#""parked","call":{call}"#));
    }
    line(0, r#""released","call":0,"execution":0"#);
    line(1, r#""stop","execution":0"#);
    line(1, r#""restarted","call":0"#);
    line(1, r#""parked","call":0"#);
    line(2, r#""released","call":0,"execution":1"#);
    line(3, r#""asked","call":0"#);
    line(END, r#""ended","call":null,"execution":0,"how":"stopped""#);
    line(END, r#""ended","call":0,"execution":1,"how":"failed""#);
    line(END, r#""settled","call":0,"how":"responded""#);
    line(END, r#""cancelled""#);
    line(END, r#""settled","call":1,"how":"cancelled""#);
    text.push('\n');
    RecordFile::parse(Path::new("r"), text.as_bytes()).expect("its steps can follow each other")
}

fn settings() -> Settings {
    let key = Key { name: "k".to_owned(), limit: 1, fields: vec![] };
    Settings {
        tools: vec![Tool { name: "t".to_owned(), key: Some(0) }],
        keys: vec![key],
        options: vec![],
    }
}

fn record() -> Record {
    file().record
}

#[test]
fn a_timeline_sums_what_a_call_ran_up_to_the_largest_instant() {
    let shown = timeline(&record(), 72, false);
    assert!(shown.contains("5124095h34m  failed"), "{shown}");
}

#[test]
fn outcomes_side_by_side_sum_what_all_calls_waited() {
    let outcome = |real| ReplayOutcome {
        policy: Identity { name: "p".to_owned(), digest: None },
        real,
        record: record(),
        faults: Vec::new(),
        left_out: Vec::new(),
    };
    assert_eq!(outcome(true).waited_altogether(), END);
    let shown = side_by_side(&[outcome(true), outcome(false)], 100, false);
    assert!(shown.contains("waited 5124095h34m"), "{shown}");
}

#[test]
fn a_picture_and_a_trace_are_drawn() {
    let picture = svg(&record(), "r");
    assert!(picture.contains("5124095h34m") && !picture.contains("NaN"), "{picture}");
    let events = trace(&record(), &[]);
    let most = events["traceEvents"].as_array().into_iter().flatten();
    let most = most.filter_map(|event| event["dur"].as_f64()).fold(0.0, f64::max);
    assert!((most - END as f64 / 1000.0).abs() < 1.0, "{most}");
}

#[test]
fn the_notation_and_why_calls_waited_go_up_to_it() {
    let record = record();
    let notation = [starts(&record), ends(&record), parked(&record), responses(&record)].join(" ");
    assert!(notation.contains("18446744073.709551615"), "{notation}");
    let mut analysis = WaitAnalysis::of_record(&file(), settings(), None)
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(analysis.at(END).len(), 1);
    let last = analysis.history().pop().and_then(|mut intervals| intervals.pop());
    assert_eq!(last.map(|interval| interval.to), Some(None));
}
