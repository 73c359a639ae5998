use jp_policy_guest::Value;

use super::*;
use crate::tests::{configured, json};

fn claim(arguments: &str, options: Vec<(&str, Value)>) -> Vec<String> {
    let options = configured(&[1], options).expect("all of it is known").options;
    Claim::read(Some(arguments), true, &options).places.iter().map(Place::to_string).collect()
}

#[test]
fn paths_are_made_plain() {
    let plain = |path: &str| claim(&format!(r#"{{"path": {path:?}}}"#), vec![]);
    for (path, place) in [
        ("a", "a"),
        ("a/", "a"),
        ("./a//b/./", "a/b"),
        ("a/../b", "b"),
        ("a/..", "."),
        (".", "."),
        ("/", "/"),
        ("//a/../../b", "/b"),
        ("a\\b", "a\\b"),
        ("a b/ü", "a b/ü"),
        ("...", "..."),
    ] {
        assert_eq!(plain(path), [place], "{path:?}");
    }
    for path in ["", "~", "~/a", "~me/a", "..", "../a", "a/../../b"] {
        assert_eq!(plain(path), [""; 0], "{path:?}");
    }
}

#[test]
fn a_root_tells_where_relative_paths_lie() {
    let rooted = |path: &str| {
        let options = vec![("root", Value::Text("/home//me/".into()))];
        claim(&format!(r#"{{"path": {path:?}}}"#), options)
    };
    for (path, place) in [("a", "/home/me/a"), (".", "/home/me"), ("../a", "/home/a"), ("/a", "/a")]
    {
        assert_eq!(rooted(path), [place], "{path:?}");
    }
    assert_eq!(rooted("../../../../a"), ["/a"]);
    assert_eq!(rooted("~/a"), [""; 0]);
}

#[test]
fn which_arguments_are_paths_is_the_options_choice() {
    let named = |arguments: &str| {
        claim(arguments, vec![("paths", json(r#"["from", "to", "edits.file.path"]"#))])
    };
    assert_eq!(named(r#"{"from": "a", "to": "b", "path": "c"}"#), ["a", "b"]);
    assert_eq!(named(r#"{"to": ["a", ["b"], null], "from": null}"#), ["a", "b"]);
    let edits = r#"{"edits": [{"file": {"path": "a"}}, {"file": [{"path": "b"}], "x": 1}, {}]}"#;
    assert_eq!(named(edits), ["a", "b"]);
    assert_eq!(named(r#"{"to": "a", "to": "b"}"#), ["a", "b"]);
    for unknown in [
        "",
        "{}",
        "{",
        "[]",
        r#"{"to": "a"} x"#,
        r#"{"to": 1}"#,
        r#"{"to": "a", "from": true}"#,
        r#"{"to": {"from": "a"}}"#,
        r#"{"to": "a", "edits": "b"}"#,
        r#"{"to": []}"#,
        &format!(r#"{{"to": {}"a"{}}}"#, "[".repeat(9), "]".repeat(9)),
    ] {
        assert_eq!(named(unknown), [""; 0], "{unknown:?}");
    }
    assert_eq!(named(&format!(r#"{{"to": {}"a"{}}}"#, "[".repeat(8), "]".repeat(8))), ["a"]);
    // What is skipped may be as deep as it likes.
    let deep = format!(r#"{{"x": {}{}, "to": "a"}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(named(&deep), ["a"]);
    assert_eq!(claim(r#"{"paths": ["a", "b"], "path": "c"}"#, vec![]), ["a", "b", "c"]);
}
