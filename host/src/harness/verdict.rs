//! Holds what happened against what a scenario expects.

use std::fmt;

use super::{
    notation::{ends, parked, responses, seconds, starts},
    scenario::Expect,
};
use crate::record::Record;

/// Something that came out differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Which field of `expect`.
    pub what: String,
    /// What it says.
    pub expected: String,
    /// What happened.
    pub actual: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:\n  expected  {}\n  actual    {}",
            self.what, self.expected, self.actual
        )
    }
}

/// Everything that came out differently. What the scenario does not expect is not looked at, with one exception: a fault of
/// the policy that nobody expects is a mismatch.
pub fn mismatches(expect: &Expect, record: &Record) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let mut compare = |what: &str, expected: &str, actual: String| {
        if expected != actual {
            found.push(Mismatch {
                what: what.to_owned(),
                expected: expected.to_owned(),
                actual,
            });
        }
    };
    if let Some(expected) = &expect.starts {
        compare("starts", expected, starts(record));
    }
    if let Some(expected) = &expect.ends {
        compare("ends", expected, ends(record));
    }
    if let Some(expected) = &expect.parked {
        compare("parked", expected, parked(record));
    }
    if let Some(expected) = &expect.responses {
        compare("responses", expected, responses(record));
    }
    if let Some(expected) = expect.settled {
        let settled = record
            .calls
            .iter()
            .map(|call| call.settled.map(|(at, _)| at));
        let last = settled
            .collect::<Option<Vec<_>>>()
            .map(|all| all.into_iter().max().unwrap_or(0));
        compare(
            "settled",
            &seconds(expected),
            last.map_or_else(|| "never".to_owned(), seconds),
        );
    }
    for (key, expected) in &expect.peaks {
        let place = record.keys.iter().position(|name| name == key);
        let peak = place.and_then(|place| record.peaks.get(place));
        let actual = peak.map_or_else(|| "no such key".to_owned(), ToString::to_string);
        compare(
            &format!("peak of key {key:?}"),
            &expected.to_string(),
            actual,
        );
    }
    let faults: Vec<&str> = record
        .faults
        .iter()
        .map(|fault| fault.kind.word())
        .collect();
    let expected = expect
        .faults
        .as_ref()
        .map(|faults| faults.join(", "))
        .unwrap_or_default();
    compare("faults", &expected, faults.join(", "));
    found
}
