//! The log: floods, long lines and what could drive a terminal.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Mutex},
};

use jp_policy_wasm::Budget;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::with_default,
};

use jp_policy_tests::support::{ABC, AT_FIRST, Life, live, load, quick};

/// Lines of the policy's log: level, message and other fields.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "policy"
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().expect("nobody has panicked").push(line.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        }
        .expect("writing to a string works");
    }
}

/// What a policy that keeps the default rules writes beside them; lines that repeat are counted.
fn written(policy: &str, budget: Budget) -> Vec<String> {
    let component = load(policy, budget).expect("it can be loaded");
    let lines = Lines::default();
    let record =
        with_default(lines.clone(), || live(&component, ABC, "{}")).expect("it serves the batch");
    let [starts, ends, responses] = AT_FIRST[0].map(str::to_owned);
    assert_eq!(Life::of(&record), Life { starts, ends, responses, faults: Vec::new() }, "{policy}");
    let lines = lines.0.lock().expect("nobody has panicked");
    let runs = lines.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].clone(),
        times => format!("{times} times {}", run[0]),
    });
    runs.collect()
}

/// Each of the three questions writes the same.
fn thrice(lines: &[String]) -> Vec<String> {
    [lines, lines, lines].concat()
}

/// A hundred lines a question, and how many more there were: three questions, and the flood of each is told of.
#[test]
fn a_flood_is_dropped_and_counted() {
    let question =
        ["100 times INFO again", "WARN the policy wrote more log than it may dropped=99900"];
    assert_eq!(written("log-flood", quick()), thrice(&question.map(str::to_owned)));
}

/// A log that is never a fault, as the contract says, has to take a long line, and cuts it.
#[test]
fn a_huge_line_is_cut() {
    let line = format!("3 times INFO {}...", "x".repeat(1000));
    assert_eq!(written("log-huge", quick()), [line]);
}

#[test]
fn nothing_in_it_drives_a_terminal() {
    let text = "\u{fffd}]0;owned\u{fffd}\u{fffd}[31mred\u{fffd} ERROR \u{fffd}forged\u{fffd}";
    let lines = ["DEBUG", "INFO", "WARN", "ERROR"].map(|level| format!("{level} {text}"));
    assert_eq!(written("log-escapes", quick()), thrice(&lines));
}

/// "Without a trap it counts as `error`", says the contract.
#[test]
fn last_words_that_were_not_the_last_are_an_error() {
    assert_eq!(written("log-last-words", quick()), ["3 times ERROR all is lost"]);
}
