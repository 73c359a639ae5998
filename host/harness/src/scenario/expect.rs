//! What a scenario expects.

use std::collections::BTreeMap;

use jp_policy_config::{
    Diagnostic, Located,
    node::{Entry, Node, Value},
    reader::{Reader, wrong_kind},
};
use jp_policy_core::batch::Instant;

use super::values::{count, items, time};

/// What is expected; what is not given is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expect {
    /// `A@0 B@2`
    pub starts: Option<String>,
    /// `A!2 B!4`
    pub ends: Option<String>,
    /// `B [0,2)`; an empty text: nothing was parked.
    pub parked: Option<String>,
    /// `A ok@2, B error@4`
    pub responses: Option<String>,
    /// When the last call has its response.
    pub settled: Option<Instant>,
    /// The most executions at once, by key.
    pub peaks: BTreeMap<String, u32>,
    /// The kinds of the policy's faults, in order.
    pub faults: Option<Vec<String>>,
    /// What is wrong with the configuration, or what the policy refuses of it: the messages of all errors.
    pub errors: Option<Vec<String>>,
    /// The messages of all warnings.
    pub warnings: Option<Vec<String>>,
}

pub(super) fn read_expect(node: Node, problems: &mut Vec<Diagnostic>) -> Expect {
    let Some(mut reader) = Reader::new("expect", node, problems) else {
        return Expect::default();
    };
    let [starts, ends, parked, responses] =
        ["starts", "ends", "parked", "responses"].map(|field| reader.string(field));
    let settled = reader.take("settled");
    let peaks = reader.take("peaks");
    let lists = ["faults", "errors", "warnings"].map(|field| (field, reader.take(field)));
    let problems = &mut *reader.problems;
    let settled = settled.and_then(|entry| time("expect: `settled`", &entry.node, problems));
    let peaks = peaks.map(|entry| read_peaks(entry.node, problems)).unwrap_or_default();
    let [faults, errors, warnings] = lists.map(|(field, entry)| {
        let entry = entry?;
        let mut texts = Vec::new();
        for item in items(Some(entry), field, problems) {
            match item.value {
                Value::String(text) => texts.push(text),
                other => problems.push(wrong_kind(
                    &format!("expect: `{field}`"),
                    "strings",
                    &other,
                    &item.place,
                )),
            }
        }
        Some(texts)
    });
    reader.finish();
    let text = |text: Option<Located<String>>| text.map(|text| text.value);
    Expect {
        starts: text(starts),
        ends: text(ends),
        parked: text(parked),
        responses: text(responses),
        settled,
        peaks,
        faults,
        errors,
        warnings,
    }
}

fn read_peaks(node: Node, problems: &mut Vec<Diagnostic>) -> BTreeMap<String, u32> {
    let place = node.place.clone();
    let Value::Table(peaks) = node.value else {
        problems.push(wrong_kind(
            "expect: `peaks`",
            "a table of keys and numbers",
            &node.value,
            &place,
        ));
        return BTreeMap::new();
    };
    let peak = |(key, entry): (String, Entry)| {
        Some((key, count("expect: `peaks`", &entry.node, problems)?))
    };
    peaks.into_iter().filter_map(peak).collect()
}
