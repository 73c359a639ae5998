//! The help, as it is printed on 100 columns.

use super::support::Dir;

fn help(args: &[&str]) -> String {
    let ended = Dir::new().program().args(args).env("COLUMNS", "100").end().code(0);
    assert_eq!(ended.stderr(), "");
    ended.stdout()
}

#[test]
fn program() {
    insta::assert_snapshot!(help(&["--help"]));
}

#[test]
fn run() {
    insta::assert_snapshot!(help(&["run", "--help"]));
}

#[test]
fn serve() {
    insta::assert_snapshot!(help(&["serve", "--help"]));
}

#[test]
fn new() {
    insta::assert_snapshot!(help(&["new", "--help"]));
}

#[test]
fn build() {
    insta::assert_snapshot!(help(&["build", "--help"]));
}

#[test]
fn simulate() {
    insta::assert_snapshot!(help(&["simulate", "--help"]));
}

#[test]
fn test() {
    insta::assert_snapshot!(help(&["test", "--help"]));
}

#[test]
fn check() {
    insta::assert_snapshot!(help(&["check", "--help"]));
}

#[test]
fn replay() {
    insta::assert_snapshot!(help(&["replay", "--help"]));
}

#[test]
fn explain() {
    insta::assert_snapshot!(help(&["explain", "--help"]));
}

#[test]
fn completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = help(&["completions", shell]);
        assert!(script.contains("jp-policy"), "{shell}");
        assert!(script.contains("--no-limits") || script.contains("no-limits"), "{shell}");
    }
    let script = help(&["completions", "bash"]);
    let verbs = ["run", "build", "completions"];
    let offered = |line: &str| verbs.iter().all(|verb| line.split([' ', '"']).any(|w| w == *verb));
    assert!(script.lines().any(|line| line.contains("opts=") && offered(line)), "{script}");
}

#[test]
fn version() {
    assert_eq!(help(&["--version"]), format!("jp-policy {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn without_a_verb_the_help_is_shown_as_an_error() {
    let ended = Dir::new().program().env("COLUMNS", "100").end().code(2);
    assert_eq!(ended.stdout(), "");
    assert_eq!(ended.stderr(), help(&["-h"]));
}

#[test]
fn inspect() {
    insta::assert_snapshot!(help(&["inspect", "--help"]));
}

#[test]
fn bench() {
    insta::assert_snapshot!(help(&["bench", "--help"]));
}

#[test]
fn config() {
    insta::assert_snapshot!(help(&["config", "--help"]));
}

#[test]
fn config_show() {
    insta::assert_snapshot!(help(&["config", "show", "--help"]));
}

#[test]
fn config_explain() {
    insta::assert_snapshot!(help(&["config", "explain", "--help"]));
}

#[test]
fn config_check() {
    insta::assert_snapshot!(help(&["config", "check", "--help"]));
}

#[test]
fn config_schema() {
    insta::assert_snapshot!(help(&["config", "schema", "--help"]));
}
