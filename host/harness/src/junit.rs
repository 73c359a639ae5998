//! The results of a suite as a JUnit report, which CI servers read.

use std::time::Duration;

use jp_policy_core::text::clean;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::suite::{TestOutcome, TestResult};

/// The report of tests that took so long together, as XML. A scenario is a test case, named by its title, of the class that is its
/// file; one that could not be tested is an error, one that came out differently a failure.
pub fn junit(results: &[TestResult], took: Duration) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new("jp-policy test");
    suite.set_time(took);
    suite.add_test_cases(results.iter().map(test_case));
    let mut report = Report::new("jp-policy");
    report.set_time(took);
    report.add_test_suite(suite);
    report.to_string()
}

fn test_case(result: &TestResult) -> TestCase {
    let (kind, message) = match &result.outcome {
        TestOutcome::Passed => (None, String::new()),
        TestOutcome::Failed(verdict) => {
            let what: Vec<&str> =
                verdict.mismatches.iter().map(|mismatch| mismatch.what.as_str()).collect();
            (Some(NonSuccessKind::Failure), format!("differs: {}", what.join(", ")))
        }
        TestOutcome::Broken(why) => {
            (Some(NonSuccessKind::Error), why.lines().next().unwrap_or_default().to_owned())
        }
    };
    let status = match kind {
        None => TestCaseStatus::success(),
        Some(kind) => {
            let mut status = TestCaseStatus::non_success(kind);
            let word = if kind == NonSuccessKind::Failure { "failure" } else { "error" };
            let problems = result.problems().join("\n");
            let problems: Vec<String> = problems.lines().map(clean).collect();
            status.set_message(clean(&message)).set_type(word).set_description(problems.join("\n"));
            status
        }
    };
    // XML can't have control characters: they are shown as they are on a terminal.
    let file = clean(&result.file.display().to_string());
    let stem = result.file.file_stem().unwrap_or_default().to_string_lossy();
    let name = if result.title.trim().is_empty() { &stem } else { result.title.as_str() };
    let mut case = TestCase::new(clean(name), status);
    case.set_classname(file.as_str()).set_time(result.took);
    case.extra.insert("file".into(), file.into());
    case
}

#[cfg(test)]
#[path = "junit_tests.rs"]
mod tests;
