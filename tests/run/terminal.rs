//! A person at a terminal: approvals, questions, reviews, the menu of Ctrl-C, and the view they come between.

use rustix::process::Signal;
use serde_json::json;

use super::support::{BACKSPACE, CTRL_C, DOWN, Dir, ENTER, ESCAPE, OnTerminal};

/// Asks for a name, and greets.
const ASKS: &str = r#"case "$2" in
*name*) echo "hi $2" ;;
*) echo '{"type":"needs_input","question":{"id":"name","text":"Who?"}}' ;;
esac"#;

fn start(dir: &Dir) -> OnTerminal {
    // Wide enough for the sums in one row, whatever the times are.
    dir.run().on_terminal(40, 160)
}

/// Three calls that want approval.
fn edits() -> Dir {
    let dir = Dir::new();
    let settings = "run = \"ask\"\nparameters.path = { type = \"string\", required = true }";
    let command = "command = { program = \"sh\", args = [\"-c\", \"echo {{tool.arguments.path}} >>ran; echo done {{tool.arguments.path}}\"] }\nconcurrency = 1";
    dir.settings("edit", &format!("{command}\n{settings}"));
    dir.batch(&json!([
        { "id": "1", "name": "edit", "arguments": { "path": "a", "content": "one\nthe second line of it\u{1b}[2J\n" } },
        { "id": "2", "name": "edit", "arguments": { "path": "b" } },
        { "id": "3", "name": "edit", "arguments": { "path": "c" } },
    ]));
    dir
}

#[test]
fn a_person_approves_edits_and_rejects_in_written_order() {
    let dir = edits();
    let mut terminal = start(&dir);
    terminal.until_shows("every call of edit");
    insta::assert_snapshot!(terminal.screen(), @r#"
    edit
      path: "a"
      content:
        | one
        | the second line of it[2J
    ? Run edit? [y/n/e/Y/N]
    [y: run, n: don't, n REASON: don't, and say why, e: edit the arguments, Y or N: the same for every call of edit]
    "#);
    terminal.keys(&["y", ENTER]);
    terminal.until_shows("path: \"b\"");
    assert!(!dir.has("work/ran"), "nothing runs before all are decided");
    terminal.keys(&["e", ENTER]);
    terminal.until_shows("Run edit with: {\"path\":\"b\"}");
    terminal.keys(&[&BACKSPACE.repeat(12), "{\"paht\":1}", ENTER]);
    terminal.until_shows("these arguments don't do: argument `path` is missing");
    assert!(!dir.has("work/ran"), "nothing runs with arguments that do not fit");
    terminal.keys(&[&BACKSPACE.repeat(10), "{\"path\":\"z\"}", ENTER]);
    terminal.until_shows("path: \"c\"");
    terminal.keys(&["n not that one", ENTER]);
    let ended = terminal.end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- 1 edit: ok
    done a
    --- 2 edit: ok
    done z
    --- 3 edit: not run
    rejected by the user: not that one
    "#);
    assert_eq!(dir.read("work/ran"), "a\nz\n", "an edited call keeps its place");
    insta::assert_snapshot!(ended.stderr(), @r#"
    edit
      path: "a"
      content:
        | one
        | the second line of it[2J
    > Run edit? [y/n/e/Y/N] y
    edit
      path: "b"
    > Run edit? [y/n/e/Y/N] e
    > Run edit with: {"paht":1}
    edit
      paht: 1
    these arguments don't do: argument `path` is missing
    > Run edit with: {"path":"z"}
    edit
      path: "c"
    > Run edit? [y/n/e/Y/N] n not that one
    not run   3 edit c: rejected by the user: not that one
    done      1 edit a one the second line ...  [TIME]
    done      2 edit z  [TIME]

      [AXIS]  waited  ran
    1 edit a one the second line ...  [BAR]  [TIME]  [TIME]  ok
    2 edit z  [BAR]  [TIME]  [TIME]  ok
    3 edit c  not run
    3 calls, 0 failed, 1 not run, key edit: peak 1 of 1, [TIME], 2 decisions by policy default in [TIME] ([TIME] each)
    "#);
}

#[test]
fn what_is_said_of_a_tool_holds_for_the_batch() {
    for (key, ran) in [("Y", Some("a\nb\nc\n")), ("N", None)] {
        let dir = edits();
        let mut terminal = start(&dir);
        terminal.until_shows("Run edit?");
        terminal.keys(&[key, ENTER]);
        terminal.end().code(i32::from(ran.is_none()));
        assert_eq!(dir.has("work/ran").then(|| dir.read("work/ran")).as_deref(), ran, "{key}");
    }
}

#[test]
fn leaving_the_prompt_is_a_no() {
    let dir = edits();
    let mut terminal = start(&dir);
    for path in ["a", "b", "c"] {
        terminal.until_shows(&format!("path: \"{path}\""));
        terminal.keys(&[ESCAPE]);
    }
    let ended = terminal.end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- 1 edit: not run
    rejected by the user
    --- 2 edit: not run
    rejected by the user
    --- 3 edit: not run
    rejected by the user
    "#);
}

#[test]
fn a_tool_set_to_edit_asks_for_its_arguments_at_once() {
    let dir = Dir::new();
    dir.settings("write", "command = \"echo {{tool.arguments.text}}\"\nrun = \"edit\"");
    dir.batch(&json!([
        { "id": "1", "name": "write", "arguments": { "text": "x" } },
        { "id": "2", "name": "write", "arguments": { "text": "y" } },
    ]));
    let mut terminal = start(&dir);
    terminal.until_shows("Run write with: {\"text\":\"x\"}");
    terminal.keys(&[ENTER]);
    terminal.until_shows("Run write with: {\"text\":\"y\"}");
    terminal.keys(&[BACKSPACE, BACKSPACE, "es\"}", ENTER]);
    let ended = terminal.end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- 1 write: ok
    x
    --- 2 write: ok
    yes
    "#);
}

/// Questions are asked one after the other, the batch goes on behind them, and a review waits for its turn.
#[test]
fn questions_and_reviews_take_turns_and_hold_up_nobody_else() {
    let dir = Dir::new();
    dir.tool("asks", "result = \"ask\"", ASKS);
    dir.tool("slow", "concurrency = { key = \"disk\" }", "await ../go; echo \"$1\" >>ended");
    dir.batch(&json!([
        { "id": "1", "name": "asks" },
        { "id": "2", "name": "asks" },
        { "id": "3", "name": "slow", "arguments": { "n": 1 } },
        { "id": "4", "name": "slow", "arguments": { "n": 2 } },
    ]));
    let mut terminal = start(&dir);
    terminal.until_shows("asks: Who?");
    dir.write("go", "");
    // The key's slot is handed on while the question is open.
    super::support::until("both to end", || {
        (dir.has("work/ended") && dir.read("work/ended") == "1\n2\n").then_some(())
    });
    assert_eq!(terminal.screen(), "? asks: Who?\n", "the view waits for the prompt");
    terminal.keys(&["Ann", ENTER]);
    terminal.until_shows("> asks: Who? Ann");
    terminal.until_shows("\n? asks: Who?");
    terminal.keys(&["Bob", ENTER]);
    terminal.until_shows("Deliver this result of asks?");
    terminal.keys(&["n", ENTER]);
    terminal.until_shows("Deliver this result of asks? No");
    terminal.until_shows("Deliver this result of asks? (Y/n)");
    terminal.keys(&[ENTER]);
    let ended = terminal.end().code(0);
    let stdout = ended.stdout();
    let lines: Vec<&str> = stdout.lines().collect();
    // What was said of them was kept back while a prompt was open.
    let stderr = ended.stderr();
    for call in ["done      3 slow 1  [TIME]\n", "done      4 slow 2  [TIME]\n"] {
        assert_eq!(stderr.matches(call).count(), 1, "{call}");
    }
    // Which of the two was asked first is theirs; one result is delivered and one is not.
    assert_eq!(lines.iter().filter(|line| line.starts_with("hi {\"name\":")).count(), 1);
    assert_eq!(
        lines.iter().filter(|line| line.ends_with("its result is not delivered")).count(),
        1
    );
}

#[test]
fn a_dismissed_question_ends_its_call_and_no_other() {
    let dir = Dir::new();
    dir.tool("asks", "concurrency = 1\ncancellation_response = \"Not now.\"", ASKS);
    dir.batch(&json!([{ "id": "1", "name": "asks" }, { "id": "2", "name": "asks" }]));
    let mut terminal = start(&dir);
    terminal.until_shows("? asks: Who?");
    terminal.keys(&[ESCAPE]);
    terminal.until_shows("stopped   1 asks");
    terminal.until_shows("\n? asks: Who?");
    terminal.keys(&["Ann", ENTER]);
    let ended = terminal.end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- 1 asks: cancelled
    Not now.
    --- 2 asks: ok
    hi {"name":"Ann"}
    "#);
}

#[test]
fn an_edited_result_is_what_is_delivered() {
    let dir = Dir::new();
    dir.tool("says", "result = \"edit\"", "echo hello");
    dir.batch(&json!([{ "id": "1", "name": "says" }]));
    let mut terminal = start(&dir);
    terminal.until_shows("Deliver as result of says: hello");
    terminal.keys(&[&BACKSPACE.repeat(5), "bye", ENTER]);
    let ended = terminal.end().code(0);
    assert_eq!(ended.stdout(), "--- 1 says: ok\nbye\n");
}

/// One call that runs until it is told, and two that wait.
fn three() -> Dir {
    let dir = Dir::new();
    let settings = "concurrency = 1\ncancellation_response = \"Not now.\"";
    dir.tool("slow", settings, "echo \"$1\" >>started; await ../go; echo \"ran $1\"");
    let call = |n: u32| json!({ "id": n.to_string(), "name": "slow", "arguments": { "n": n } });
    dir.batch(&json!([call(1), call(2), call(3)]));
    dir
}

/// The same, once the first runs and the view shows it.
fn running(dir: &Dir) -> OnTerminal {
    let mut terminal = start(dir);
    terminal.until_file("work/started");
    terminal.until_shows("queued    3 slow 3");
    terminal
}

/// Presses Ctrl-C, and waits for the menu.
fn open_menu(terminal: &mut OnTerminal) {
    terminal.keys(&[CTRL_C]);
    terminal.until_shows("ctrl-c to stop]");
}

#[test]
fn ctrl_c_opens_a_menu_and_continue_goes_on() {
    let dir = three();
    let mut terminal = running(&dir);
    open_menu(&mut terminal);
    insta::assert_snapshot!(terminal.screen(), @r#"
    ? Interrupted:
    > continue
      stop, and answer with a message
      restart what has no response
      stop
    [↑↓ to move, enter to select, ctrl-c to stop]
    "#);
    terminal.keys(&[ENTER]);
    terminal.until_shows("Interrupted: continue");
    dir.write("go", "");
    let ended = terminal.end().code(0);
    assert_eq!(
        ended.stdout(),
        "--- 1 slow: ok\nran 1\n--- 2 slow: ok\nran 2\n--- 3 slow: ok\nran 3\n"
    );
    insta::assert_snapshot!(ended.stderr(), @r#"
    > Interrupted: continue
    done      1 slow 1  [TIME]
    done      2 slow 2  [TIME]
    done      3 slow 3  [TIME]

      [AXIS]  waited  ran
    1 slow 1  [BAR]  [TIME]  [TIME]  ok
    2 slow 2  [BAR]  [TIME]  [TIME]  ok
    3 slow 3  [BAR]  [TIME]  [TIME]  ok
    3 calls, 0 failed, key slow: peak 1 of 1, [TIME], 3 decisions by policy default in [TIME] ([TIME] each)
    "#);
}

#[test]
fn stopping_with_a_message_answers_with_it() {
    let dir = three();
    let mut terminal = running(&dir);
    open_menu(&mut terminal);
    terminal.keys(&[DOWN, ENTER]);
    terminal.until_shows("What the calls that are cut short answer:");
    terminal.keys(&["Wrong branch.", ENTER]);
    let ended = terminal.end().code(130);
    assert_eq!(
        ended.stdout(),
        "--- 1 slow: cancelled\nWrong branch.\n--- 2 slow: cancelled\nWrong branch.\n--- 3 slow: cancelled\nWrong branch.\n"
    );
}

#[test]
fn stop_answers_in_the_tools_own_words() {
    let dir = three();
    let mut terminal = running(&dir);
    open_menu(&mut terminal);
    terminal.keys(&[DOWN, DOWN, DOWN, ENTER]);
    let ended = terminal.end().code(130);
    assert_eq!(
        ended.stdout(),
        "--- 1 slow: cancelled\nNot now.\n--- 2 slow: cancelled\nNot now.\n--- 3 slow: cancelled\nNot now.\n"
    );
}

#[test]
fn restart_runs_what_has_no_response_again() {
    let dir = three();
    let mut terminal = running(&dir);
    open_menu(&mut terminal);
    terminal.keys(&[DOWN, DOWN, ENTER]);
    terminal.until_shows("restarting what has no response");
    super::support::until("the first to start again", || {
        (dir.read("work/started") == "1\n1\n").then_some(())
    });
    dir.write("go", "");
    let ended = terminal.end().code(0);
    assert_eq!(
        ended.stdout(),
        "--- 1 slow: ok\nran 1\n--- 2 slow: ok\nran 2\n--- 3 slow: ok\nran 3\n"
    );
    assert_eq!(dir.read("work/started"), "1\n1\n2\n3\n");
}

#[test]
fn a_second_press_stops_and_a_third_kills() {
    let dir = Dir::new();
    dir.tool("stubborn", "", "trap ': >asked' TERM; : >started; while :; do sleep 0.05; done");
    dir.batch(&json!([{ "id": "1", "name": "stubborn" }]));
    let mut terminal = start(&dir);
    terminal.until_file("work/started");
    terminal.until_shows("running   1 stubborn");
    open_menu(&mut terminal);
    assert!(!dir.has("work/asked"), "the menu alone stops nothing");
    terminal.keys(&[CTRL_C]);
    terminal.until_shows("stopping; once more to kill");
    terminal.until_file("work/asked");
    terminal.keys(&[CTRL_C]);
    let start = std::time::Instant::now();
    let ended = terminal.end().code(130);
    assert!(
        start.elapsed() < std::time::Duration::from_secs(2),
        "it did not wait for the grace time"
    );
    assert_eq!(ended.stdout(), "--- 1 stubborn: cancelled\nThe tool call was cancelled.\n");
}

/// Ctrl-C while a prompt is open is a key of the prompt; it opens the menu all the same, and the prompt comes back.
#[test]
fn ctrl_c_at_a_prompt_opens_the_menu_too() {
    let dir = edits();
    let mut terminal = start(&dir);
    terminal.until_shows("Run edit?");
    open_menu(&mut terminal);
    terminal.keys(&[ENTER]);
    terminal.until_shows("Interrupted: continue\nedit\n  path: \"a\"");
    terminal.keys(&["y", ENTER]);
    terminal.until_shows("path: \"b\"");
    open_menu(&mut terminal);
    terminal.keys(&[CTRL_C]);
    let ended = terminal.end().code(130);
    assert!(!dir.has("work/ran"));
    assert_eq!(ended.stdout().matches(": cancelled\n").count(), 3);
}

#[test]
fn a_question_at_which_the_batch_is_restarted_is_asked_again() {
    let dir = Dir::new();
    dir.tool("asks", "", &format!("echo run >>runs\n{ASKS}"));
    dir.batch(&json!([{ "id": "1", "name": "asks" }]));
    let mut terminal = start(&dir);
    terminal.until_shows("? asks: Who?");
    open_menu(&mut terminal);
    terminal.keys(&[DOWN, DOWN, ENTER]);
    terminal.until_shows("restarting what has no response\n? asks: Who?");
    terminal.keys(&["Ann", ENTER]);
    let ended = terminal.end().code(0);
    assert_eq!(ended.stdout(), "--- 1 asks: ok\nhi {\"name\":\"Ann\"}\n");
    assert_eq!(dir.read("work/runs"), "run\nrun\nrun\n");
}

/// SIGTERM needs no menu, and an open prompt leaves the terminal as it was.
#[test]
fn a_signal_from_elsewhere_stops_at_once_even_at_a_prompt() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let dir = edits();
        let mut terminal = start(&dir);
        terminal.until_shows("Run edit?");
        assert!(!terminal.is_sane(), "a prompt reads key by key");
        terminal.signal(signal);
        let ended = terminal.end().code(130);
        assert!(!dir.has("work/ran"));
        assert_eq!(ended.stdout().matches(": cancelled\n").count(), 3);
    }
}

/// A policy that never answers holds up neither the menu nor the stop.
#[test]
fn a_policy_that_hangs_holds_up_no_menu() {
    let dir = three();
    dir.put("tests/hostile/loop-at-once.wasm");
    dir.batch(&json!([{ "id": "1", "name": "slow", "arguments": { "n": 1 } }]));
    dir.write(
        "tools/plugin.toml",
        "[conversation.release]\npolicy = \"endless\"\n[plugins.wasm.endless]\npath = \"../loop-at-once.wasm\"\nlimits = { fuel = 100_000_000_000, time = \"1m\" }\n",
    );
    let mut terminal = start(&dir);
    // Before the first decision there is nothing to see.
    terminal.until_caught(Signal::HUP);
    open_menu(&mut terminal);
    terminal.keys(&[CTRL_C]);
    let ended = terminal.end().code(130);
    assert_eq!(ended.stdout(), "--- 1 slow: cancelled\nNot now.\n");
}
