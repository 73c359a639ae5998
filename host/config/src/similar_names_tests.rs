use crate::{Config, Source};

use super::*;

/// The warnings about these keys, each named by a tool of its own, and by two where it is written twice.
fn warned(keys: &[&str]) -> Vec<String> {
    let tools = keys.iter().enumerate().map(|(n, key)| {
        format!("[conversation.tools.tool_{n}]\ncommand = 'x'\nconcurrency = {{ key = '{key}' }}\n")
    });
    let text: String = tools.collect();
    let config = Config::from_sources(&[Source::new("t.toml", text)]).expect("it holds");
    config.warnings.into_iter().map(|warning| warning.message).collect()
}

#[test]
fn names_that_look_alike_are_told() {
    assert_eq!(warned(&["Git", "git"]), ["the names \"Git\" and \"git\" differ only in case"]);
    assert_eq!(
        warned(&["caf\u{e9}", "cafe\u{301}"]),
        ["the names \"cafe\\u{301}\" and \"caf\u{e9}\" differ only in Unicode form"]
    );
    assert_eq!(warned(&["git", "get"]), Vec::<String>::new());
}

#[test]
fn a_tool_and_a_key_have_one_namespace() {
    let text = "[conversation.tools.Deploy]\ncommand = 'x'\n\
        [conversation.tools.release]\ncommand = 'x'\nconcurrency = { key = 'deploy' }\n";
    let config = Config::from_sources(&[Source::new("t.toml", text)]).expect("it holds");
    let [warning] = config.warnings.as_slice() else { panic!("{:?}", config.warnings) };
    assert_eq!(warning.message, "the names \"Deploy\" and \"deploy\" differ only in case");
    let labels: Vec<&str> = warning.labels.iter().map(|(_, label)| label.as_str()).collect();
    assert_eq!(labels, ["tool \"Deploy\"", "key \"deploy\""]);
}

#[test]
fn a_key_that_looks_misspelt_is_told_once() {
    let told = |key: &str, nearly: &str, n: usize| {
        [format!("only tool `tool_{n}` names the key \"{key}\", which is nearly \"{nearly}\"")]
    };
    assert_eq!(warned(&["github", "github", "gihub"]), told("gihub", "github", 2));
    assert_eq!(warned(&["github", "github", "guthub"]), told("guthub", "github", 2));
    assert_eq!(warned(&["gti", "git"]), told("gti", "git", 0));
    assert_eq!(warned(&["githubb", "github"]), told("githubb", "github", 0));
}

#[test]
fn names_that_differ_on_purpose_are_not_told() {
    for keys in
        [["shard1", "shard2"], ["db1", "db2"], ["a", "b"], ["cat", "cut"], ["port80", "port8080"]]
    {
        assert_eq!(warned(&keys), Vec::<String>::new(), "{keys:?}");
    }
}

#[test]
fn two_names_of_several_tools_each_are_meant() {
    assert_eq!(warned(&["stage", "stage", "stags", "stags"]), Vec::<String>::new());
}

#[test]
fn one_slip_is_one() {
    for (a, b, slip) in [
        ("github", "gihub", true),
        ("github", "gthiub", false),
        ("github", "igthub", true),
        ("github", "github", false),
        ("github", "gith", false),
        ("gist", "git", false),
        ("ключи", "ключа", true),
    ] {
        assert_eq!((one_slip(a, b), one_slip(b, a)), (slip, slip), "{a} {b}");
    }
}
