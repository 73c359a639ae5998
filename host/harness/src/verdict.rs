//! Compares what happened with what a scenario expects.

use jp_policy_config::{ConfigError, Diagnostic, Severity};
use jp_policy_core::{policy::PolicyFactory, record::Record};
use jp_policy_report::{ends, parked, responses, seconds, starts};

use super::{
    mismatch::{Mismatch, same},
    scenario::{Expect, Scenario},
    simulate::{SimulateError, simulate},
};

/// What came of a scenario.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Everything that came out differently.
    pub mismatches: Vec<Mismatch>,
    /// What happened, if it came to that.
    pub record: Option<Record>,
}

/// Simulates a scenario under a policy, and returns what came out differently from what it expects.
pub fn judge(scenario: &Scenario, factory: &dyn PolicyFactory) -> Vec<Mismatch> {
    verdict(scenario, factory).mismatches
}

/// The same, with what happened.
pub fn verdict(scenario: &Scenario, factory: &dyn PolicyFactory) -> Verdict {
    let expect = &scenario.expect;
    let mut found = Vec::new();
    let mut record = None;
    let (warnings, errors) = match (&scenario.config, simulate(scenario, factory)) {
        (Ok(config), Ok(simulation)) => {
            found.extend(mismatches(expect, &simulation.record));
            record = Some(simulation.record);
            (messages(&config.warnings, Severity::Warning), Vec::new())
        }
        (Ok(config), Err(SimulateError::Config(ConfigError(refused)))) => {
            (messages(&config.warnings, Severity::Warning), messages(&refused, Severity::Error))
        }
        (Err(ConfigError(problems)), _) => {
            (messages(problems, Severity::Warning), messages(problems, Severity::Error))
        }
        (Ok(config), Err(error)) => {
            (messages(&config.warnings, Severity::Warning), vec![error.to_string()])
        }
    };
    let lists = [
        ("errors", expect.errors.as_ref().or(Some(&Vec::new())).cloned(), errors),
        ("warnings", expect.warnings.clone(), warnings),
    ];
    for (what, expected, actual) in lists {
        if let Some(expected) = expected.filter(|expected| *expected != actual) {
            let list = |texts: &[String]| texts.join("\n            ");
            let (expected, actual) = (list(&expected), list(&actual));
            found.push(Mismatch { what: what.to_owned(), expected, actual });
        }
    }
    Verdict { mismatches: found, record }
}

fn messages(problems: &[Diagnostic], severity: Severity) -> Vec<String> {
    let problems = problems.iter().filter(|problem| problem.severity == severity);
    problems.map(|problem| problem.message.clone()).collect()
}

/// Everything that came out differently. What the scenario does not expect is not looked at, with one exception: a fault of
/// the policy that nobody expects is a mismatch.
pub fn mismatches(expect: &Expect, record: &Record) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let mut compare = |what: &str, expected: &str, actual: String| {
        if !same(expected, &actual) {
            found.push(Mismatch { what: what.to_owned(), expected: expected.to_owned(), actual });
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
        let settled = record.calls.iter().map(|call| call.settled.map(|(at, _)| at));
        let last =
            settled.collect::<Option<Vec<_>>>().map(|all| all.into_iter().max().unwrap_or(0));
        compare("settled", &seconds(expected), last.map_or_else(|| "never".to_owned(), seconds));
    }
    for (key, expected) in &expect.peaks {
        let place = record.keys.iter().position(|name| name == key);
        let peak = place.and_then(|place| record.peaks.get(place));
        let actual = peak.map_or_else(|| "no such key".to_owned(), ToString::to_string);
        compare(&format!("peak of key {key:?}"), &expected.to_string(), actual);
    }
    let faults: Vec<&str> = record.faults.iter().map(|fault| fault.kind.word()).collect();
    let expected = expect.faults.as_ref().map(|faults| faults.join(", ")).unwrap_or_default();
    compare("faults", &expected, faults.join(", "));
    found
}
