//! What can't be run: said exactly, with exit code 2, and before any tool has started.

use serde_json::json;

use super::support::{Dir, Program};

/// A folder in which everything is fine, and which shows it if the tool has run.
pub(crate) fn fine() -> Dir {
    let dir = Dir::new();
    dir.tool("touch", "", "touch ran");
    dir.batch(&json!([{ "id": "a", "name": "touch" }]));
    dir
}

/// What the program says when it refuses to run.
#[track_caller]
pub(crate) fn refusal(dir: &Dir, program: Program) -> String {
    let ended = program.end().code(2);
    assert_eq!(ended.stdout(), "");
    assert!(!dir.has("work/ran"), "nothing has run");
    ended.stderr()
}

/// The refusal of `jp-policy run` with other arguments.
#[track_caller]
pub(crate) fn refused(dir: &Dir, args: &[&str]) -> String {
    refusal(dir, dir.program().args(["run"]).args(args))
}

#[test]
fn fine_is_fine() {
    let dir = fine();
    let ended = dir.run().end().code(0);
    assert_eq!(ended.stdout(), "--- a touch: ok\n");
    assert!(dir.has("work/ran"));
}

#[test]
fn a_batch_that_is_not_there() {
    let dir = fine();
    let args = ["missing.json", "--config", "tools", "--workspace", "work"];
    insta::assert_snapshot!(refused(&dir, &args), @"error: failed to read batch `missing.json`: No such file or directory (os error 2)");
}

#[test]
fn a_batch_that_is_a_folder() {
    let dir = fine();
    let args = ["work", "--config", "tools", "--workspace", "work"];
    insta::assert_snapshot!(refused(&dir, &args), @"error: failed to read batch `work`: Is a directory (os error 21)");
}

#[test]
fn a_batch_that_is_not_json() {
    let dir = fine();
    dir.write("batch.json", "[\n  {\n");
    insta::assert_snapshot!(refusal(&dir, dir.run()), @"error: failed to read batch `batch.json`: not JSON: EOF while parsing an object at line 3 column 0");
}

#[test]
fn a_batch_on_standard_input_that_is_not_utf_8() {
    let dir = fine();
    let args = ["run", "-", "--config", "tools", "--workspace", "work"];
    insta::assert_snapshot!(refusal(&dir, dir.program().args(args).stdin(b"\xff\xfe")), @"error: failed to read batch standard input: stream did not contain valid UTF-8");
}

#[test]
fn a_message_without_calls() {
    let dir = fine();
    dir.batch(&json!({ "role": "assistant", "content": "Nothing to do." }));
    insta::assert_snapshot!(refusal(&dir, dir.run()), @"error: failed to read batch `batch.json`: no tool calls in it: expected a list of {id, name, arguments}, or an assistant message with Anthropic's `tool_use` blocks, OpenAI's `tool_calls` or `function_call` items; found an object with `role`, `content`");
}

#[test]
fn a_call_without_a_name() {
    let dir = fine();
    dir.batch(&json!([{ "name": "touch" }, { "name": "" }]));
    insta::assert_snapshot!(refusal(&dir, dir.run()), @r#"error: failed to read batch `batch.json`: call 2 of the message has the name "", expected a text"#);
}

#[test]
fn a_workspace_that_is_not_there_or_no_folder() {
    let dir = fine();
    let said = ["missing", "batch.json"]
        .map(|path| refused(&dir, &["batch.json", "--config", "tools", "--workspace", path]))
        .concat();
    insta::assert_snapshot!(said, @"
    error: failed to open workspace `missing`: No such file or directory (os error 2)
    error: workspace `batch.json` is not a folder
    ");
}

#[test]
fn asking_without_a_terminal() {
    let dir = fine();
    insta::assert_snapshot!(refusal(&dir, dir.run().args(["--approve", "ask"])), @"error: `--approve ask` needs a terminal; use `--approve all` or `--approve none`");
}

#[test]
fn wrong_use() {
    let dir = fine();
    let said = [
        &["batch.json", "--config", "tools", "--wrong"][..],
        &["batch.json"],
        &["--config", "tools"],
        &["batch.json", "--config", "tools", "--timeout", "soon"],
        &["batch.json", "--config", "tools", "--policy", "a.wasm", "--no-limits"],
        &["batch.json", "--config", "tools", "--format", "xml"],
    ]
    .map(|args| refused(&dir, args))
    .join("======\n");
    insta::assert_snapshot!(said, @"
    error: unexpected argument '--wrong' found

      tip: a similar argument exists: '--config'

    Usage: jp-policy run --config <PATH>... <BATCH>

    For more information, try '--help'.
    ======
    error: no configuration: name one with `--config PATH`; jp's own places have none:
             .config/jp/config.toml
             .jp.toml
    ======
    error: the following required arguments were not provided:
      <BATCH>

    Usage: jp-policy run --config <PATH>... <BATCH>

    For more information, try '--help'.
    ======
    error: invalid value 'soon' for '--timeout <DURATION>': expected number at 0

    For more information, try '--help'.
    ======
    error: the argument '--policy <FILE>' cannot be used with '--no-limits'

    Usage: jp-policy run --config <PATH>... --policy <FILE> <BATCH>

    For more information, try '--help'.
    ======
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: text, json]

    For more information, try '--help'.
    ");
}

#[test]
fn a_timeout_of_no_time() {
    let dir = fine();
    insta::assert_snapshot!(refusal(&dir, dir.run().args(["--timeout", "0s"])), @r"
    error: invalid value '0s' for '--timeout <DURATION>': no call ends within no time: expected more than 0s, for instance 30s

    For more information, try '--help'.
    ");
}

#[test]
fn too_few_open_files() {
    let dir = fine();
    let script = format!("ulimit -n 12; exec {} \"$@\"", env!("CARGO_BIN_EXE_jp-policy"));
    let args =
        ["-c", &script, "sh", "run", "batch.json", "--config", "tools", "--workspace", "work"];
    let mut shell = std::process::Command::new("sh");
    let ended = shell.args(args).current_dir(dir.path("")).output().expect("there is a shell");
    assert_eq!(ended.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&ended.stderr),
        "error: only 12 files may be open at once, and 32 are needed: raise the limit with `ulimit -n 32`\n"
    );
    assert!(!dir.has("work/ran"), "nothing has run");
}
