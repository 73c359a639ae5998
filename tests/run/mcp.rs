//! Tools of MCP servers that others wrote: `server-everything` and `server-filesystem`.
//!
//! `tests/install-mcp-servers OUT` installs them, and with `JP_POLICY_MCP_SERVERS=OUT` they are tested. Without it they are left
//! out, and the tests say so.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value as Json, json};

use super::support::{Dir, ENTER, ESCAPE, until};

/// The folder with the servers' programs, if they are installed.
pub(super) fn servers() -> Option<PathBuf> {
    let folder = std::env::var_os("JP_POLICY_MCP_SERVERS").filter(|folder| !folder.is_empty());
    if folder.is_none() {
        eprintln!(
            "left out: install the servers with `tests/install-mcp-servers OUT`, and set JP_POLICY_MCP_SERVERS=OUT"
        );
    }
    // Cargo runs tests in the package's folder; the person who set the variable is in the workspace's.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Some(workspace.join(folder?).join("bin"))
}

/// A folder with the server `everything` and these of its tools.
fn everything(tools: &[(&str, &str)]) -> Option<Dir> {
    let program = servers()?.join("mcp-server-everything");
    let dir = Dir::new();
    dir.write(
        "tools/servers.toml",
        format!("[providers.mcp.everything]\ncommand = {:?}\n", program.display().to_string()),
    );
    for (name, settings) in tools {
        dir.settings(
            name,
            &format!("source = \"mcp.everything.{name}\"\nrun = \"unattended\"\n{settings}"),
        );
    }
    Some(dir)
}

/// Status and content of each response.
fn contents(responses: &Json) -> Vec<(&str, &str)> {
    let responses = responses.as_array().expect("an array").iter();
    responses
        .map(|response| {
            (
                response["status"].as_str().unwrap_or_default(),
                response["content"].as_str().unwrap_or_default(),
            )
        })
        .collect()
}

#[test]
fn results_of_every_kind() {
    let Some(dir) = everything(&[
        ("echo", ""),
        ("get-sum", ""),
        ("get-tiny-image", ""),
        ("get-structured-content", ""),
        ("get-resource-links", ""),
        ("no-such-tool", ""),
    ]) else {
        return;
    };
    dir.batch(&json!([
        { "name": "echo", "arguments": { "message": "hello" } },
        { "name": "get-sum", "arguments": { "a": 2, "b": 3 } },
        { "name": "get-sum", "arguments": { "a": "two", "b": 3 } },
        { "name": "get-tiny-image" },
        { "name": "get-structured-content", "arguments": { "location": "Chicago" } },
        { "name": "get-resource-links", "arguments": { "count": 2 } },
        { "name": "no-such-tool" },
    ]));
    let ended = dir.run().end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- call_1 echo: ok
    Echo: hello
    --- call_2 get-sum: ok
    The sum of 2 and 3 is 5.
    --- call_3 get-sum: error
    MCP error -32602: Input validation error: Invalid arguments for tool get-sum: Invalid input: expected number, received string at a
    --- call_4 get-tiny-image: ok
    Here's the image you requested:

    [image, image/png, 3.9 KiB, not shown]

    The image above is the MCP logo.
    --- call_5 get-structured-content: ok
    {"temperature":36,"conditions":"Light rain / drizzle","humidity":82}
    --- call_6 get-resource-links: ok
    Here are 2 resource links to resources available in this server:

    [resource demo://resource/dynamic/blob/1: Blob Resource 1]

    [resource demo://resource/dynamic/text/2: Text Resource 2]
    --- call_7 no-such-tool: error
    tool `no-such-tool`: MCP server `everything` offers no tool `no-such-tool`; offered are `echo`, `get-annotated-message`, `get-env`, `get-resource-links`, `get-resource-reference`, `get-structured-content`, `get-sum`, `get-tiny-image`, `gzip-file-as-resource`, `toggle-simulated-logging`, `toggle-subscriber-updates`, `trigger-long-running-operation`, `trigger-elicitation-request`, `simulate-research-query`
    "#);
}

#[test]
fn a_server_is_not_started_when_nothing_needs_it() {
    let Some(dir) = everything(&[("echo", "")]) else {
        return;
    };
    dir.write("tools/broken.toml", "[providers.mcp.broken]\ncommand = \"./touch-me\"\n");
    dir.write("work/touch-me", "#!/bin/sh\ntouch touched\n");
    dir.tool("local", "", "echo fine");
    dir.batch(&json!([{ "name": "local" }]));
    dir.json().end().code(0);
    assert!(!dir.has("work/touched"));
}

#[test]
fn a_question_is_answered_by_the_configuration_and_the_call_goes_on() {
    let answers = r#"
        questions.name.answer = "Ada"
        questions.check.answer = true
        questions.firstLine.answer = "one line"
        questions.email.answer = "ada@example.com"
        questions.homepage.answer = "https://example.com"
        questions.birthdate.answer = "1815-12-10"
        questions.integer.answer = 36
        questions.number.answer = 3.5
        questions.untitledSingleSelectEnum.answer = "Monica"
        questions.untitledMultipleSelectEnum.answer = "Guitar, Drums"
        questions.titledSingleSelectEnum.answer = "hero-2"
        questions.titledMultipleSelectEnum.answer = ["fish-1"]
        questions.legacyTitledEnum.answer = "pet-3"
    "#;
    let Some(dir) = everything(&[("trigger-elicitation-request", answers)]) else {
        return;
    };
    dir.batch(&json!([{ "name": "trigger-elicitation-request" }]));
    let ended = dir.run().end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- call_1 trigger-elicitation-request: ok
    ✅ User provided the requested information!

    User inputs:
    - Name: Ada
    - Agreed to terms: true
    - Email: ada@example.com
    - Homepage: https://example.com
    - Birthdate: 1815-12-10
    - Favorite Integer: 36
    - Favorite Number: 3.5


    Raw result: {
      "action": "accept",
      "content": {
        "name": "Ada",
        "check": true,
        "firstLine": "one line",
        "email": "ada@example.com",
        "homepage": "https://example.com",
        "birthdate": "1815-12-10",
        "integer": 36,
        "number": 3.5,
        "untitledSingleSelectEnum": "Monica",
        "untitledMultipleSelectEnum": [
          "Guitar",
          "Drums"
        ],
        "titledSingleSelectEnum": "hero-2",
        "titledMultipleSelectEnum": [
          "fish-1"
        ],
        "legacyTitledEnum": "pet-3"
      }
    }
    "#);
}

#[test]
fn a_question_that_nobody_answers_is_cancelled_and_the_server_says_so() {
    let Some(dir) = everything(&[("trigger-elicitation-request", "")]) else {
        return;
    };
    dir.batch(&json!([{ "name": "trigger-elicitation-request" }]));
    let ended = dir.run().end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- call_1 trigger-elicitation-request: ok
    ⚠️ User cancelled the elicitation dialog.


    Raw result: {
      "action": "cancel"
    }
    "#);
}

/// A server that is killed when the test is over.
struct Listening(std::process::Child);

impl Drop for Listening {
    fn drop(&mut self) {
        // It fails if it has ended, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_on_the_net_serves_as_well_and_is_told_to_forget_the_session() {
    let Some(dir) = everything(&[("get-sum", ""), ("trigger-elicitation-request", "")]) else {
        return;
    };
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let port = free.local_addr().expect("it has one").port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    dir.write("tools/servers.toml", format!("[providers.mcp.everything]\nurl = {url:?}\n"));
    dir.batch(&json!([
        { "name": "get-sum", "arguments": { "a": 2, "b": 3 } },
        { "name": "trigger-elicitation-request" },
    ]));
    drop(free);
    let program = servers().expect("it was there").join("mcp-server-everything");
    let log = std::fs::File::create(dir.path("log")).expect("a file can be made");
    let server = std::process::Command::new(program)
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(log.try_clone().expect("it can be"))
        .stderr(log)
        .spawn();
    let _server = Listening(server.expect("it can be started"));
    until("the server", || dir.read("log").contains("listening").then_some(()));
    let ended = dir.run().end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- call_1 get-sum: ok
    The sum of 2 and 3 is 5.
    --- call_2 trigger-elicitation-request: ok
    ⚠️ User cancelled the elicitation dialog.


    Raw result: {
      "action": "cancel"
    }
    "#);
    assert!(dir.read("log").contains("Received session termination request"));
}

#[test]
fn ctrl_c_stops_a_call_and_leaves_no_server_behind() {
    let Some(dir) = everything(&[("trigger-long-running-operation", "")]) else {
        return;
    };
    dir.batch(&json!([
        { "name": "trigger-long-running-operation", "arguments": { "duration": 1000, "steps": 20_000 } },
    ]));
    let mut running = dir.run().args(["--log-file", "log"]).start();
    let log = dir.path("log");
    // It has the call when it tells how far it is.
    running.until("progress", || {
        std::fs::read_to_string(&log).is_ok_and(|text| text.contains(" progress: "))
    });
    running.signal(Signal::INT);
    let ended = running.end().code(130);
    insta::assert_snapshot!(ended.stdout(), @"
    --- call_1 trigger-long-running-operation: cancelled
    The tool call was cancelled.
    ");
}

#[test]
fn files_are_written_one_after_the_other() {
    let Some(folder) = servers() else {
        return;
    };
    let dir = Dir::new();
    let program = folder.join("mcp-server-filesystem").display().to_string();
    dir.write(
        "tools/servers.toml",
        format!("[providers.mcp.files]\ncommand = {program:?}\nargs = [\".\"]\n"),
    );
    for tool in ["write_file", "edit_file", "read_text_file"] {
        dir.settings(
            tool,
            "source = \"mcp.files\"\nrun = \"unattended\"\nconcurrency = { key = \"files\" }",
        );
    }
    let path = dir.path("work/a.txt").display().to_string();
    let edit = |from: &str, to: &str| {
        let edits = json!([{ "oldText": from, "newText": to }]);
        json!({ "name": "edit_file", "arguments": { "path": path, "edits": edits } })
    };
    dir.batch(&json!([
        { "name": "write_file", "arguments": { "path": path, "content": "1\n" } },
        edit("1", "1\n2"),
        edit("2", "2\n3"),
        edit("3", "3\n4"),
        { "name": "read_text_file", "arguments": { "path": path } },
        { "name": "read_text_file", "arguments": { "path": "/etc/hostname" } },
    ]));
    let ended = dir.json().end().code(1);
    assert_eq!(dir.read("work/a.txt"), "1\n2\n3\n4\n");
    let responses = ended.responses();
    let contents = contents(&responses);
    assert_eq!(contents[4], ("ok", "1\n2\n3\n4\n"));
    assert_eq!(contents[5].0, "error");
}

#[test]
fn a_person_answers_a_server_on_the_terminal() {
    let Some(dir) = everything(&[("trigger-elicitation-request", "")]) else {
        return;
    };
    dir.batch(&json!([{ "name": "trigger-elicitation-request" }]));
    let mut terminal = dir.run().on_terminal(24, 80);
    terminal.until_shows("trigger-elicitation-request: String");
    terminal.keys(&["Ada", ENTER]);
    terminal.until_shows("Boolean");
    insta::assert_snapshot!(terminal.screen(), @"
    Please provide inputs for the following fields:
    > trigger-elicitation-request: String (Your full, legal name) Ada
    ? trigger-elicitation-request: Boolean (Agree to the terms and conditions) [opti
    onal] (y/N)
    ");
    terminal.keys(&[ESCAPE]);
    let ended = terminal.end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    --- call_1 trigger-elicitation-request: ok
    ⚠️ User cancelled the elicitation dialog.


    Raw result: {
      "action": "cancel"
    }
    "#);
}
