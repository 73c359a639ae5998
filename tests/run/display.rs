//! What people and programs are shown.

use std::{fs::File, process::Stdio};

use serde_json::{Value as Json, json};

use super::support::{Dir, Program};

/// Two keys, a call that fails, one that can't run, and text of all kinds.
fn varied() -> Dir {
    let dir = Dir::new();
    let quick = "[ \"$1\" != 3 ] || { echo 'no space' >&2; exit 2; }; printf 'line 1\\nline 2'";
    dir.tool("edit", "concurrency = { key = \"disk\" }", quick);
    // It runs until everything of the other key is over.
    dir.tool("fetch", "concurrency = { key = \"net\", limit = 2 }", "await done; printf ''");
    dir.tool("last", "concurrency = { key = \"disk\" }", ": >done; echo 'ünï ✓'");
    let edit = |n: u32| json!({ "id": format!("e{n}"), "name": "edit", "arguments": { "n": n } });
    let fetch = |n: u32| json!({ "id": format!("f{n}"), "name": "fetch", "arguments": { "n": n } });
    dir.batch(&json!([fetch(1), edit(1), edit(2), fetch(2), edit(3), { "id": "x", "name": "edti" }, { "id": "l", "name": "last" }, fetch(3)]));
    dir
}

#[test]
fn text() {
    let dir = varied();
    let ended = dir.run().end().code(1);
    insta::assert_snapshot!(ended.stdout(), @"
    --- f1 fetch: ok
    --- e1 edit: ok
    line 1
    line 2
    --- e2 edit: ok
    line 1
    line 2
    --- f2 fetch: ok
    --- e3 edit: error
    tool `edit` failed: exit status: 2
    no space
    --- x edti: error
    no tool `edti` is configured; did you mean `edit`?
    --- l last: ok
    ünï ✓
    --- f3 fetch: ok
    ");
}

#[test]
fn the_plain_view_says_what_happens_and_why_calls_wait() {
    let dir = Dir::new();
    // One after the other, whatever the machine does: what is said depends on nothing else.
    dir.tool("edit", "concurrency = { key = \"disk\" }", "[ $1 != 3 ]");
    let calls: Json = (1..=6)
        .map(|n| json!({ "id": format!("e{n}"), "name": "edit", "arguments": { "n": n } }))
        .collect();
    dir.batch(&calls);
    let ended = dir.run().end().code(1);
    insta::assert_snapshot!(ended.plain_stderr(), @"
    running   e1 edit 1
    queued    e2 edit 2: key disk (limit 1) held by e1, next in line
    queued    e3 edit 3: key disk (limit 1) held by e1, 1 ahead
    queued    e4 edit 4: key disk (limit 1) held by e1, 2 ahead
    queued    e5 edit 5: key disk (limit 1) held by e1, 3 ahead
    queued    e6 edit 6: key disk (limit 1) held by e1, 4 ahead
    done      e1 edit 1  [TIME]
    running   e2 edit 2
    done      e2 edit 2  [TIME]
    running   e3 edit 3
    failed    e3 edit 3  [TIME]
    running   e4 edit 4
    done      e4 edit 4  [TIME]
    running   e5 edit 5
    done      e5 edit 5  [TIME]
    running   e6 edit 6
    done      e6 edit 6  [TIME]

      [AXIS]  waited  ran
    1 edit 1  [BAR]  [TIME]  [TIME]  ok
    2 edit 2  [BAR]  [TIME]  [TIME]  ok
    3 edit 3  [BAR]  [TIME]  [TIME]  failed
    4 edit 4  [BAR]  [TIME]  [TIME]  ok
    5 edit 5  [BAR]  [TIME]  [TIME]  ok
    6 edit 6  [BAR]  [TIME]  [TIME]  ok
    6 calls, 1 failed, key disk: peak 1 of 1, [TIME], 6 decisions by policy default in [TIME] ([TIME] each)
    ");
}

/// What is said of calls that wait.
fn queued(dir: &Dir, args: &[&str]) -> String {
    let ended = dir.run().args(args).end().code(0);
    let stderr = ended.stderr();
    let lines = stderr.lines().filter(|line| line.starts_with("queued"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn of_many_holders_some_are_named() {
    let dir = Dir::new();
    dir.tool("read", "concurrency = { key = \"net\", limit = 5 }", "");
    let calls = (1..=8).map(|n| json!({ "id": format!("r{n}"), "name": "read" }));
    dir.batch(&calls.collect());
    insta::assert_snapshot!(queued(&dir, &[]), @"
    queued    r6 read: key net (limit 5) held by r1, r2, r3, 2 more, next in line
    queued    r7 read: key net (limit 5) held by r1, r2, r3, 2 more, 1 ahead
    queued    r8 read: key net (limit 5) held by r1, r2, r3, 2 more, 2 ahead
    ");
}

#[test]
fn before_everything_is_approved_nothing_starts() {
    let dir = Dir::new();
    dir.tool("read", "", "");
    dir.tool("edit", "concurrency = 1", "");
    dir.settings("push", "command = \"true\"\nrun = \"ask\"");
    let names = ["read", "edit", "push", "edit", "push"];
    dir.batch(&names.iter().map(|name| json!({ "name": name })).collect());
    insta::assert_snapshot!(queued(&dir, &["--approve", "all"]), @"
    queued    call_1 read: waits for 2 approvals
    queued    call_2 edit: waits for 2 approvals
    queued    call_4 edit: waits for 2 approvals
    queued    call_3 push: waits for 1 approval
    ");
}

#[test]
fn json() {
    let dir = varied();
    let ended = dir.run().args(["--format", "json"]).end().code(1);
    let mut envelope = ended.json();
    // Calls that end together are answered by one decision.
    let decisions = envelope["data"]["decisions"].take();
    assert!(decisions.as_u64().is_some_and(|decisions| decisions > 0), "{decisions}");
    insta::assert_snapshot!(format!("{envelope:#}"), @r#"
    {
      "format": "jp-policy.run",
      "version": 1,
      "data": {
        "responses": [
          {
            "id": "f1",
            "name": "fetch",
            "status": "ok",
            "content": ""
          },
          {
            "id": "e1",
            "name": "edit",
            "status": "ok",
            "content": "line 1\nline 2"
          },
          {
            "id": "e2",
            "name": "edit",
            "status": "ok",
            "content": "line 1\nline 2"
          },
          {
            "id": "f2",
            "name": "fetch",
            "status": "ok",
            "content": ""
          },
          {
            "id": "e3",
            "name": "edit",
            "status": "error",
            "content": "tool `edit` failed: exit status: 2\nno space"
          },
          {
            "id": "x",
            "name": "edti",
            "status": "error",
            "content": "no tool `edti` is configured; did you mean `edit`?"
          },
          {
            "id": "l",
            "name": "last",
            "status": "ok",
            "content": "ünï ✓\n"
          },
          {
            "id": "f3",
            "name": "fetch",
            "status": "ok",
            "content": ""
          }
        ],
        "peaks": {
          "disk": 1,
          "net": 2
        },
        "decisions": null,
        "faults": []
      }
    }
    "#);
}

#[test]
fn quiet_is_quiet() {
    let dir = Dir::new();
    dir.tool("say", "concurrency = 1", "echo said; echo noise >&2");
    dir.batch(&json!([{ "id": "a", "name": "say" }, { "id": "b", "name": "say" }]));
    for flag in ["--quiet", "-q"] {
        let ended = dir.run().args([flag]).end().code(0);
        assert_eq!(ended.stderr(), "");
        assert_eq!(ended.stdout(), "--- a say: ok\nsaid\n--- b say: ok\nsaid\n");
    }
}

#[test]
fn without_a_terminal_there_is_no_colour_whatever_the_environment_says() {
    let dir = Dir::new();
    dir.tool("say", "concurrency = 1", "[ $1 != 1 ]");
    dir.batch(&json!([{ "name": "say", "arguments": { "n": 1 } }, { "name": "say" }]));
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("TERM", "dumb")] {
        let ended = dir.run().env(name, value).end().code(1);
        assert!(!ended.stderr().contains('\u{1b}'), "{name}={value}");
        assert!(!ended.stdout().contains('\u{1b}'));
    }
}

#[test]
fn names_and_ids_can_not_drive_a_terminal() {
    let dir = Dir::new();
    dir.tool("say", "", "echo said");
    let id = "a\u{1b}[31m\r\nb";
    dir.batch(&json!([{ "id": id, "name": "say" }, { "id": "c", "name": "s\u{1b}[2Jy" }]));
    let ended = dir.run().end().code(1);
    for text in [ended.stdout(), ended.stderr()] {
        assert!(!text.contains(['\u{1b}', '\r']), "{text:?}");
    }
    insta::assert_snapshot!(ended.stdout(), @r"
    --- a�[31m� b say: ok
    said
    --- c s�[2Jy: error
    no tool `s\u{1b}[2Jy` is configured
    ");
}

/// What a program says whose standard output nobody reads. It ends as if by SIGPIPE.
fn unread(program: Program) -> String {
    let mut running = program.start_with(Stdio::piped());
    drop(running.stdout());
    running.end().code(141).stderr()
}

#[test]
fn a_reader_who_has_seen_enough_of_a_text_is_no_error() {
    let dir = Dir::new();
    dir.tool("say", "", "echo said");
    dir.batch(&json!([{ "name": "say" }]));
    assert_eq!(unread(dir.run().args(["--quiet"])), "");
    let mut help = dir.program().args(["run", "--help"]).start_with(Stdio::piped());
    drop(help.stdout());
    assert_eq!(help.end().stderr(), "");
}

#[test]
fn a_reader_who_has_seen_enough_of_json_is_no_error() {
    let dir = Dir::new();
    dir.tool("say", "", "echo said");
    dir.batch(&json!([{ "name": "say" }]));
    assert_eq!(unread(dir.json()), "");
}

#[test]
fn a_reader_who_has_seen_enough_of_completions_is_no_error() {
    assert_eq!(unread(Dir::new().program().args(["completions", "bash"])), "");
}

#[test]
fn what_can_not_be_shown_does_not_stop_the_calls() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        return;
    };
    let dir = Dir::new();
    dir.tool("say", "", "echo said");
    dir.batch(&json!([{ "id": "a", "name": "say" }]));
    let ended = dir.run().stderr(full).end().code(0);
    assert_eq!(ended.stdout(), "--- a say: ok\nsaid\n");
}

#[test]
fn a_disk_that_is_full_is_an_error() {
    let dir = Dir::new();
    dir.tool("say", "", "echo said");
    dir.batch(&json!([{ "id": "a", "name": "say" }]));
    for program in [dir.run().args(["--quiet"]), dir.json()] {
        let Ok(full) = File::options().write(true).open("/dev/full") else {
            return;
        };
        let ended = program.start_with(full.into()).end().code(2);
        assert_eq!(
            ended.stderr(),
            "error: failed to write to standard output: No space left on device (os error 28)\n"
        );
    }
}

#[test]
fn compiled_code_that_can_t_be_kept_is_a_warning_unless_it_is_to_be_quiet() {
    let dir = Dir::new();
    dir.tool("say", "", "echo said");
    dir.batch(&json!([{ "id": "a", "name": "say" }]));
    dir.write("file", "no folder");
    let run = || dir.run().env("XDG_CACHE_HOME", dir.path("file"));
    let ended = run().args(["--quiet"]).end().code(0);
    assert_eq!((ended.stdout(), ended.stderr()), ("--- a say: ok\nsaid\n".into(), String::new()));
    let ended = run().end().code(0);
    let warning = ended.stderr().lines().next().unwrap_or_default().to_owned();
    assert_eq!(
        warning,
        "warning: compiled code can't be kept in `[DIR]/file/jp-policy/compiled`: failed to create cache directory: \
         [DIR]/file/jp-policy/compiled: Not a directory (os error 20)"
    );
}
