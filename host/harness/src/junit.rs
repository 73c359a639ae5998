//! The outcome of a suite as a JUnit report, which CI servers read.

use std::{fmt::Write as _, time::Duration};

use jp_policy_report::xml;

use super::suite::{Outcome, Tested};

/// Writes the report of tests that took so long together. A scenario is a test case, named by its title, of the class that is
/// its file; one that could not be tested is an error, one that came out differently a failure.
pub fn junit(tested: &[Tested], took: Duration) -> String {
    let count = |of: fn(&Outcome) -> bool| tested.iter().filter(|it| of(&it.outcome)).count();
    let counts = format!(
        r#"tests="{}" failures="{}" errors="{}" skipped="0" time="{:.6}""#,
        tested.len(),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Broken(_))),
        took.as_secs_f64()
    );
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"jp-policy\" {counts}>\n  <testsuite name=\"jp-policy test\" {counts}>\n"
    );
    for tested in tested {
        let file = xml::attribute(&tested.file.display().to_string());
        let stem = tested.file.file_stem().unwrap_or_default().to_string_lossy();
        let name = if tested.title.trim().is_empty() { &stem } else { tested.title.as_str() };
        let _ = write!(
            out,
            r#"    <testcase classname="{file}" name="{}" file="{file}" time="{:.6}""#,
            xml::attribute(name),
            tested.took.as_secs_f64()
        );
        let (element, message) = match &tested.outcome {
            Outcome::Passed => {
                out.push_str("/>\n");
                continue;
            }
            Outcome::Failed(verdict) => {
                let what: Vec<&str> =
                    verdict.mismatches.iter().map(|mismatch| mismatch.what.as_str()).collect();
                ("failure", format!("differs: {}", what.join(", ")))
            }
            Outcome::Broken(why) => ("error", why.lines().next().unwrap_or_default().to_owned()),
        };
        let _ = writeln!(
            out,
            "><{element} message=\"{}\" type=\"{element}\">{}</{element}></testcase>",
            xml::attribute(&message),
            xml::text(&tested.problems().join("\n"))
        );
    }
    out + "  </testsuite>\n</testsuites>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mismatch, verdict::Verdict};

    #[test]
    fn counts_times_and_escapes() {
        let tested = |title: &str, outcome| Tested {
            file: "a & b/s.toml".into(),
            title: title.to_owned(),
            took: Duration::from_micros(1_500),
            outcome,
        };
        let mismatch = Mismatch {
            what: "starts".to_owned(),
            expected: "A@0".to_owned(),
            actual: "A\u{1b}@1".to_owned(),
        };
        let failed = Verdict { mismatches: vec![mismatch], record: None };
        let all = [
            tested("fine", Outcome::Passed),
            tested("<\"odd\">\n", Outcome::Failed(Box::new(failed))),
            tested("", Outcome::Broken("s.toml:1:1: error: ]]>\nmore".to_owned())),
        ];
        let report = junit(&all, Duration::from_millis(2_250));
        insta::assert_snapshot!(report, @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="jp-policy" tests="3" failures="1" errors="1" skipped="0" time="2.250000">
          <testsuite name="jp-policy test" tests="3" failures="1" errors="1" skipped="0" time="2.250000">
            <testcase classname="a &amp; b/s.toml" name="fine" file="a &amp; b/s.toml" time="0.001500"/>
            <testcase classname="a &amp; b/s.toml" name="&lt;&quot;odd&quot;&gt;&#10;" file="a &amp; b/s.toml" time="0.001500"><failure message="differs: starts" type="failure">starts:
          expected  A@0
          actual    A�@1</failure></testcase>
            <testcase classname="a &amp; b/s.toml" name="s" file="a &amp; b/s.toml" time="0.001500"><error message="s.toml:1:1: error: ]]&gt;" type="error">s.toml:1:1: error: ]]&gt;
        more</error></testcase>
          </testsuite>
        </testsuites>
        "#);
        roxmltree::Document::parse(&report).expect("it is well-formed");
    }
}
