//! Each decision of a batch: what the policy was asked, and what it answered.

use std::fmt::Write as _;

use jp_policy_core::{
    batch::{CallId, Instant},
    policy::{Fault, FaultKind},
    record::Record,
    scheduler::PolicyAnswer,
    text::clean,
};
use jp_policy_guest::{Batch, Decision, Settings, State};
use serde_json::{Value as Json, json};
use unicode_width::UnicodeWidthStr as _;

use super::{notation::seconds, text::fit};

/// Calls of one question, and of one answer, that are shown to people: machines get them all.
const SHOWN: usize = 20;

/// Columns of a label: what is longer is cut.
const LABEL: usize = 32;

/// A question to the policy and its answer.
#[derive(Debug, Clone)]
pub struct DecisionEntry {
    /// When, in nanoseconds since the batch was handed over.
    pub at: Instant,
    /// What the policy was shown.
    pub batch: Batch,
    /// What it said.
    pub answer: Result<Decision, FaultKind>,
}

/// All decisions of a batch, in the order in which they were made.
#[derive(Debug, Clone, Default)]
pub struct Decisions(pub Vec<DecisionEntry>);

impl Decisions {
    /// Notes an answer, and when it was given.
    pub fn note(&mut self, at: Instant, answer: &PolicyAnswer) {
        let (batch, answer) = (answer.batch().clone(), answer.result().clone());
        self.0.push(DecisionEntry { at, batch, answer });
    }

    /// As text for a terminal of this width; `record` is the record of the same batch.
    pub fn to_text(&self, settings: &Settings, record: &Record, width: usize) -> String {
        let mut out = String::new();
        for (n, entry) in self.0.iter().enumerate() {
            if n > 0 {
                out.push('\n');
            }
            let names = Names { settings, record };
            let fault = record.faults.first().filter(|_| n + 1 == self.0.len());
            entry.write(&mut out, n + 1, &names, fault, width);
        }
        out
    }

    /// As JSON, whole: times in nanoseconds, calls by their place in the written order, from 0.
    pub fn to_json(&self, settings: &Settings, record: &Record) -> Json {
        let names = Names { settings, record };
        let last = self.0.len().saturating_sub(1);
        let entries = self.0.iter().enumerate();
        // After a fault the policy is not asked again: it is always the last answer that was at fault.
        entries
            .map(|(n, entry)| entry.to_json(&names, record.faults.first().filter(|_| n == last)))
            .collect()
    }
}

/// Who the numbers in a question are.
struct Names<'a> {
    settings: &'a Settings,
    record: &'a Record,
}

impl Names<'_> {
    fn label(&self, call: CallId) -> Option<&str> {
        self.record.calls.get(call as usize).map(|call| &*call.label)
    }

    fn key(&self, key: u32) -> Option<&str> {
        self.settings.keys.get(key as usize).map(|key| key.name.as_str())
    }

    fn limit(&self, key: u32) -> u32 {
        self.settings.keys.get(key as usize).map_or(0, |key| key.limit)
    }

    /// A call for people: its place, from 1, and its label.
    fn show(&self, call: CallId) -> String {
        let label = self.label(call).map_or_else(|| "(no such call)".to_owned(), clean);
        let label = if label.width() > LABEL { fit(&label, LABEL) } else { label };
        format!("{} {label}", u64::from(call) + 1)
    }

    fn show_key(&self, key: u32) -> String {
        let name = self.key(key).map(clean).unwrap_or_default();
        if name.width() > LABEL { fit(&name, LABEL) } else { name }
    }
}

impl DecisionEntry {
    fn write(
        &self,
        out: &mut String,
        number: usize,
        names: &Names<'_>,
        fault: Option<&Fault>,
        width: usize,
    ) {
        let _ = writeln!(out, "#{number} at {}s", seconds(self.at));
        let mut parts = vec![format!("{} running", self.batch.running)];
        paragraph(out, "asked", &parts, width);
        for usage in &self.batch.keys {
            let limit = names.limit(usage.key);
            parts = vec![
                format!("{}: {} of {limit} running", names.show_key(usage.key), usage.running),
                format!("{} waiting", usage.waiting),
            ];
            let since = [("last start", usage.last_release), ("last end", usage.last_end)];
            if usage.ended > 0 {
                parts.push(format!("{} ended", usage.ended));
            }
            if usage.failed > 0 {
                parts.push(format!("{} failed", usage.failed));
            }
            let since = since.into_iter().filter_map(|(what, at)| Some((what, at?)));
            parts.extend(since.map(|(what, at)| format!("{what} {}s", seconds(at))));
            paragraph(out, "  key", &parts, width);
        }
        for call in self.batch.calls.iter().take(SHOWN) {
            parts = vec![
                names.show(call.id),
                format!("{} since {}s", word(call.state), seconds(call.since)),
            ];
            parts.extend(call.key.map(|key| format!("key {}", names.show_key(key))));
            paragraph(out, "  call", &parts, width);
        }
        if let Some(more @ 1..) = self.batch.calls.len().checked_sub(SHOWN) {
            let _ = writeln!(out, "          ... {more} more calls");
        }
        if let Ok(decision) = &self.answer {
            let mut released: Vec<String> =
                decision.release.iter().take(SHOWN).map(|call| names.show(*call)).collect();
            if let Some(more @ 1..) = decision.release.len().checked_sub(SHOWN) {
                released.push(format!("and {more} more"));
            }
            let mut parts = vec![if released.is_empty() {
                "nothing".to_owned()
            } else {
                format!("start {}", released.join(", "))
            }];
            parts.extend(decision.wake_at.map(|at| format!("ask again at {}s", seconds(at))));
            paragraph(out, "answered", &parts, width);
        }
        let own = self.answer.as_ref().err().map(ToString::to_string);
        if let Some(text) = fault.map(|fault| fault.kind.to_string()).or(own) {
            paragraph(out, "fault", &[clean(&text)], width);
        }
    }

    fn to_json(&self, names: &Names<'_>, fault: Option<&Fault>) -> Json {
        let call = |id: &CallId| json!({ "call": id, "label": names.label(*id) });
        let keys = self.batch.keys.iter().map(|usage| {
            json!({
                "key": names.key(usage.key),
                "limit": names.limit(usage.key),
                "running": usage.running,
                "waiting": usage.waiting,
                "ended": usage.ended,
                "failed": usage.failed,
                "last_release": usage.last_release,
                "last_end": usage.last_end,
            })
        });
        let calls = self.batch.calls.iter().map(|call| {
            let tool = names.settings.tools.get(call.tool as usize);
            json!({
                "call": call.id,
                "label": names.label(call.id),
                "parent": call.parent,
                "tool": tool.map(|tool| tool.name.as_str()),
                "key": call.key.and_then(|key| names.key(key)),
                "state": word(call.state),
                "since": call.since,
            })
        });
        let answer = self.answer.as_ref().ok().map(|decision| {
            json!({
                "release": decision.release.iter().map(call).collect::<Json>(),
                "wake_at": decision.wake_at,
            })
        });
        let kind = fault.map(|fault| &fault.kind).or(self.answer.as_ref().err());
        json!({
            "at": self.at,
            "running": self.batch.running,
            "keys": keys.collect::<Json>(),
            "calls": calls.collect::<Json>(),
            "answer": answer,
            "fault": kind.map(|kind| json!({ "kind": kind.word(), "message": kind.to_string() })),
        })
    }
}

fn word(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Parked => "parked",
        State::Running => "running",
    }
}

/// A heading and what belongs to it, separated by commas. It goes on below, and further in, where the line is full.
fn paragraph(out: &mut String, heading: &str, parts: &[String], width: usize) {
    const INDENT: usize = 10;
    let words = parts.join(", ");
    let mut line = format!("{heading:INDENT$}");
    let mut fresh = true;
    for word in words.split(' ') {
        if !fresh && line.width() + 1 + word.width() > width {
            let _ = writeln!(out, "{line}");
            line = " ".repeat(INDENT + 2);
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(word);
        fresh = false;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}
