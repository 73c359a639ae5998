use roxmltree::{Document, Node};

use super::*;
use crate::{Mismatch, Verdict};

/// An element with all its attributes and its own text, its children below.
fn show(node: Node<'_, '_>, depth: usize, out: &mut String) {
    let attributes: Vec<_> =
        node.attributes().map(|it| format!(" {}={:?}", it.name(), it.value())).collect();
    let text = node.text().filter(|text| !text.trim().is_empty());
    let text = text.map_or_else(String::new, |text| format!(" {text:?}"));
    *out +=
        &format!("{}{}{}{text}\n", "  ".repeat(depth), node.tag_name().name(), attributes.concat());
    for child in node.children().filter(Node::is_element) {
        show(child, depth + 1, out);
    }
}

#[test]
fn counts_times_and_escapes() {
    let result = |title: &str, outcome| TestResult {
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
        result("fine", TestOutcome::Passed),
        result("<\"odd\">\n", TestOutcome::Failed(Box::new(failed))),
        result("", TestOutcome::Broken("s.toml:1:1: error: ]]>\nmore".to_owned())),
    ];
    let report = junit(&all, Duration::from_millis(2_250)).expect("it can be written");
    let document = Document::parse(&report).expect("it is well-formed");
    let mut shown = String::new();
    show(document.root_element(), 0, &mut shown);
    insta::assert_snapshot!(shown, @r#"
    testsuites name="jp-policy" tests="3" skipped="0" failures="1" errors="1" time="2.250"
      testsuite name="jp-policy test" tests="3" skipped="0" errors="1" failures="1" time="2.250"
        testcase name="fine" classname="a & b/s.toml" time="0.002" file="a & b/s.toml"
        testcase name="<\"odd\"> " classname="a & b/s.toml" time="0.002" file="a & b/s.toml"
          failure message="differs: starts" type="failure" "starts:\n  expected  A@0\n  actual    A�@1"
        testcase name="s" classname="a & b/s.toml" time="0.002" file="a & b/s.toml"
          error message="s.toml:1:1: error: ]]>" type="error" "s.toml:1:1: error: ]]>\nmore"
    "#);
}
