//! `config`: what is shown, explained and checked, and configuration from jp's places, the environment and the command line.

use serde_json::{Value as Json, json};

use super::support::{Dir, Ended, repository};

/// A folder that is a jp workspace: tools in the user's configuration, the workspace's and this folder's.
fn jp() -> Dir {
    let dir = Dir::new();
    dir.write(
        ".config/jp/config.yaml",
        "conversation:\n  tools:\n    '*': { run: unattended }\n    rfd_draft:\n      command: 'true'\n      concurrency: { key: rfd }\n",
    );
    dir.write(
        ".jp/config.toml",
        "extends = ['mcp/tools/**/*.toml']\n\n[conversation.tools.github_issues]\nconcurrency = { key = \"github\", limit = 4 }\n",
    );
    dir.write(
        ".jp/mcp/tools/github/issues.toml",
        "[conversation.tools.github_issues]\ncommand = 'true'\nconcurrency = 2\n",
    );
    dir.write(
        ".jp/mcp/tools/github/pulls.toml",
        "[conversation.tools.github_pulls]\ncommand = 'true'\nconcurrency = { key = \"github\", limit = 4 }\n",
    );
    dir.write(
        ".jp/mcp/tools/fs.toml",
        "[conversation.tools]\nfs_read = { command = 'true' }\ncargo_test = { command = 'true', concurrency = 0 }\n",
    );
    dir
}

fn config(dir: &Dir, args: &[&str]) -> Ended {
    dir.program().args(["config"]).args(args).env("COLUMNS", "100").end()
}

/// Without the digest of the default policy, which changes when it is built again.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let end = line.find("sha256:").map_or(line.len(), |at| at + "sha256:".len());
        out += &line[..end];
        out.push('\n');
    }
    out
}

#[test]
fn what_is_in_force() {
    let ended = config(&jp(), &["show"]).code(0);
    assert_eq!(ended.stderr(), "");
    insta::assert_snapshot!(masked(&ended.stdout()), @"
    key     limit  tools
    github      4  github_issues, github_pulls
    rfd         1  rfd_draft

    no limit  fs_read
    lifted    cargo_test

    policy    default, embedded
    digest    sha256:
    budget    500,000,000 instructions and 2.00 s a question, 64 MiB of memory
    guard     limit
    on_fault  default

    layers    user_global     .config/jp/config.yaml
              workspace       2 other files
                              .jp/mcp/tools/github/pulls.toml
                              .jp/config.toml
    ");
}

#[test]
fn what_is_in_force_on_a_narrow_terminal_and_with_long_names() {
    let dir = Dir::new();
    let tool = |n: usize| {
        format!(
            "[conversation.tools.a_tool_of_many_{n}]\ncommand = 'x'\nconcurrency = {{ key = 'a key that is longer than most of them are', delay = '2s' }}\n"
        )
    };
    dir.write("tools/many.toml", (0..7).map(tool).collect::<String>());
    let program = dir.program().args(["config", "show", "--config", "tools"]);
    let ended = program.end().code(0);
    insta::assert_snapshot!(masked(&ended.stdout()), @r#"
    key                       limit  tools
    a key that is longer than most of them are
                                  1  a_tool_of_many_0, a_tool_of_many_1, a_tool_of_many_2,
                                     a_tool_of_many_3, a_tool_of_many_4, a_tool_of_many_5,
                                     a_tool_of_many_6
                                     + delay = "2s"

    policy    default, embedded
    digest    sha256:
    budget    500,000,000 instructions and 2.00 s a question, 64 MiB of memory
    guard     limit
    on_fault  default

    layers    config          tools/many.toml
    "#);
}

#[test]
fn what_is_in_force_as_json() {
    let ended = config(&jp(), &["show", "--format", "json"]).code(0);
    let mut json: Json = serde_json::from_str(&ended.stdout()).expect("it is JSON");
    assert_eq!(json["format"], "jp-policy.config.show");
    assert_eq!(json["version"], 1);
    let data = json["data"].take();
    assert_eq!(data["no_limit"], json!(["fs_read"]));
    assert_eq!(data["lifted"], json!(["cargo_test"]));
    assert_eq!(
        data["keys"][0],
        json!({
            "key": "github",
            "limit": 4,
            "fields": {},
            "tools": [
                { "name": "github_issues", "place": { "path": ".jp/config.toml", "line": 4, "column": 15 } },
                { "name": "github_pulls", "place": { "path": ".jp/mcp/tools/github/pulls.toml", "line": 3, "column": 15 } },
            ],
        })
    );
    assert_eq!(data["policy"]["name"], "default");
    assert_eq!(data["policy"]["guard"], "limit");
    assert_eq!(
        data["places"][0],
        json!({ "layer": "user_global", "path": ".config/jp/config.yaml", "outcome": "read" })
    );
    assert_eq!(
        data["sources"][1],
        json!({ "layer": "workspace", "path": ".jp/mcp/tools/fs.toml" })
    );
}

#[test]
fn which_layer_won() {
    let dir = jp();
    dir.write(".jp.toml", "[conversation.tools.github_issues.concurrency]\nlimit = 3\n");
    let program = dir.program().args(["config", "explain", "tools.github_issues.concurrency"]);
    let program = program.args(["--cfg", "conversation.tools.github_pulls.concurrency.limit:=8"]);
    let ended =
        program.env("JP_CFG_CONVERSATION_TOOLS_GITHUB_ISSUES_CONCURRENCY_LIMIT", "8").end().code(0);
    assert_eq!(ended.stderr(), "");
    insta::assert_snapshot!(ended.stdout(), @r#"
    conversation.tools.github_issues.concurrency

    user_global     -
    workspace       .jp/mcp/tools/github/issues.toml:3:15  2
    workspace       .jp/config.toml:4:15  { key = "github", limit = 4 }
    cwd             .jp.toml:1:1  { limit = 3 }
                    -> { key = "github", limit = 3 }
    user_workspace  -
    environment     JP_CFG_CONVERSATION_TOOLS_GITHUB_ISSUES_CONCURRENCY_LIMIT:1:53  { limit = 8 }
                    -> { key = "github", limit = 8 }
    config          -
    cli_cfg         -

    in force        { key = "github", limit = 8 }
      key           from workspace  .jp/config.toml:4:23
      limit         from environment  JP_CFG_CONVERSATION_TOOLS_GITHUB_ISSUES_CONCURRENCY_LIMIT:1:59

    At most 8 executions with key "github" at once, those of github_pulls counted in.
    "#);
}

#[test]
fn a_value_that_nothing_sets() {
    let ended = config(&jp(), &["explain", "tools.fs_read.concurrency"]).code(0);
    insta::assert_snapshot!(ended.stdout(), @"
    conversation.tools.fs_read.concurrency

    user_global     -
    workspace       -
    cwd             .jp.toml is not there
    user_workspace  -
    environment     -
    config          -
    cli_cfg         -

    in force        unset

    Any number of executions of fs_read may run at once.
    ");
}

#[test]
fn a_tool_that_there_is_not() {
    let ended = config(&jp(), &["explain", "tools.fs_raed.concurrency"]).code(2);
    assert_eq!(ended.stdout(), "");
    insta::assert_snapshot!(ended.stderr(), @"error: `conversation.tools` has no `fs_raed`; did you mean `fs_read`?");
}

#[test]
fn which_layer_won_as_json() {
    let ended =
        config(&jp(), &["explain", "tools.github_issues.concurrency", "--format", "json"]).code(0);
    let json: Json = serde_json::from_str(&ended.stdout()).expect("it is JSON");
    let data = &json["data"];
    assert_eq!(data["path"], json!(["conversation", "tools", "github_issues", "concurrency"]));
    assert_eq!(data["layers"][0], json!({ "layer": "user_global", "says": "nothing" }));
    assert_eq!(
        data["layers"][1],
        json!({
            "layer": "workspace",
            "says": "value",
            "place": { "path": ".jp/mcp/tools/github/issues.toml", "line": 3, "column": 15 },
            "value": "2",
            "then": "2",
        })
    );
    assert_eq!(data["layers"][3], json!({ "layer": "cwd", "says": "missing", "path": ".jp.toml" }));
    assert_eq!(data["value"], "{ key = \"github\", limit = 4 }");
    assert_eq!(data["winners"][1]["field"], "limit");
}

/// A configuration in which everything is wrong.
fn wrong() -> Dir {
    let dir = Dir::new();
    dir.write(
        "tools/a.toml",
        r#"[conversation.tools.'*']
concurrency = 1

[conversation.tools.git_add]
command = "true"
concurrency = { key = "git", limit = 1 }
fan_out = { concurrency = 2 }

[conversation.tools.git_psuh]
comand = "true"
concurrency = { limit = 2 }

[conversation.tools.edit]
command = "true"
fan_out = { on_error = "stop" }

[conversation.tools.many]
command = "true"
concurrency = 4294967296

[conversation.relase]
policy = "x"
"#,
    );
    dir.write("tools/b.json", "{ \"conversation\": { \"tools\": {\n  \"git_push\": { \"command\": \"true\", \"concurrency\": { \"key\": \"git\", \"limit\": 3 } } // three\n} } }\n");
    dir.write("tools/c.yaml", "conversation:\n  tools:\n    Edit: { command: 'true', run: unatended }\n    fetch:\n      command: 'true'\n      concurrency: {key: network}\n    search: { command: 'true', concurrency: {key: netwrok} }\n    load: { command: 'true', concurrency: {key: network} }\n");
    dir
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let ended = config(&wrong(), &["check", "--config", "tools"]).code(1);
    assert_eq!(ended.stdout(), "the configuration does not hold: 7 errors, 5 warnings\n");
    insta::assert_snapshot!(ended.stderr(), @r#"
    warning: `conversation`: unknown field `relase`
      --> tools/a.toml:21:15
       |
    21 | [conversation.relase]
       |               ^^^^^^ it has no effect
       |
       = help: did you mean `release`?

    error: `concurrency` can't be set for all tools
     --> tools/a.toml:2:1
      |
    2 | concurrency = 1
      | ^^^^^^^^^^^ has no counterpart under `'*'`
      |
      = help: set it for each tool; tools that share a limit name the same key

    error: tool `git_add`: `fan_out.concurrency` moved: it is the tool's `concurrency` now
     --> tools/a.toml:7:13
      |
    7 | fan_out = { concurrency = 2 }
      |             ^^^^^^^^^^^ moved
      |
      = help: write `concurrency = 2` in the tool's table

    warning: tool `git_psuh` is local and has no `command`
     --> tools/a.toml:9:1
      |
    9 | [conversation.tools.git_psuh]
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ its calls will fail
      |
      = help: add `command = "..."`

    error: tool `git_psuh`: `concurrency` has no `key`
      --> tools/a.toml:11:15
       |
    11 | concurrency = { limit = 2 }
       |               ^^^^^^^^^^^^^ a table names the key it limits
       |
       = help: write `concurrency = N` to limit this tool alone, or add `key = "..."`

    warning: tool `git_psuh`: unknown field `comand`
      --> tools/a.toml:10:1
       |
    10 | comand = "true"
       | ^^^^^^ it has no effect
       |
       = help: did you mean `command`?

    error: tool `many`: `concurrency` is 4294967296, expected a whole number from 0 to 4294967295
      --> tools/a.toml:19:15
       |
    19 | concurrency = 4294967296
       |               ^^^^^^^^^^ too large
       |
       = help: 0 lifts the limit

    error: tool `Edit`: `run` is "unatended", expected one of "ask", "unattended", "edit", "skip"
     --> tools/c.yaml:3:35
      |
    3 |     Edit: { command: 'true', run: unatended }
      |                                   ^^^^^^^^^ not one of these
      |
      = help: did you mean "unattended"?

    error: the tools of key "git" disagree about its limit: `git_add` has { key = "git", limit = 1 }, `git_push` has { key = "git", limit = 3 }
     --> tools/a.toml:6:15
      |
    6 | concurrency = { key = "git", limit = 1 }
      |               ^^^^^^^^^^^^^^^^^^^^^^^^^^ tool `git_add`: { key = "git", limit = 1 }
      |
     ::: tools/b.json:2:51
      |
    2 |   "git_push": { "command": "true", "concurrency": { "key": "git", "limit": 3 } } // three
      |                                                   ---------------------------- tool `git_push`: { key = "git", limit = 3 }
      |
      = help: give all of them the same value; to lift the limit of one tool alone, set `concurrency = 0` for it

    error: tool `edit`: `fan_out.on_error` is "stop", but without a limit all operations start at once and nothing is left to stop
      --> tools/a.toml:15:24
       |
    15 | fan_out = { on_error = "stop" }
       |                        ^^^^^^ needs a limit of at least 1
       |
       = help: add `concurrency = 1`, or use on_error = "continue"

    warning: the names "Edit" and "edit" differ only in case
      --> tools/c.yaml:3:5
       |
     3 |     Edit: { command: 'true', run: unatended }
       |     ^^^^ tool "Edit"
       |
      ::: tools/a.toml:13:21
       |
    13 | [conversation.tools.edit]
       |                     ---- tool "edit"
       |
       = help: they are different names: nothing is shared between them

    warning: only tool `search` names the key "netwrok", which is nearly "network"
     --> tools/c.yaml:7:51
      |
    6 |       concurrency: {key: network}
      |                    -------------- "network" of `fetch`, `load`
    7 |     search: { command: 'true', concurrency: {key: netwrok} }
      |                                                   ^^^^^^^ shares nothing
      |
      = help: did you mean "network"?
    "#);
}

#[test]
fn what_is_wrong_as_json() {
    let dir = Dir::new();
    dir.write("t.toml", "[conversation.tools.a]\ncommand = 'x'\nconcurrency = -1\n");
    let ended = config(&dir, &["check", "--config", "t.toml", "--format", "json"]).code(1);
    assert_eq!(ended.stderr(), "");
    let json: Json = serde_json::from_str(&ended.stdout()).expect("it is JSON");
    assert_eq!(
        json,
        json!({
            "format": "jp-policy.config.check",
            "version": 1,
            "data": {
                "holds": false,
                "problems": [{
                    "severity": "error",
                    "message": "tool `a`: `concurrency` is -1, expected a whole number from 0 to 4294967295",
                    "places": [{ "path": "t.toml", "line": 3, "column": 15, "label": "negative" }],
                    "help": "0 lifts the limit",
                }],
            },
        })
    );
}

#[test]
fn a_warning_is_an_error_for_who_is_strict() {
    let dir = Dir::new();
    dir.write("t.toml", "[conversation.tools.a]\ncommand = 'x'\nconcurency = 1\n");
    let ended = config(&dir, &["check", "--config", "t.toml"]).code(0);
    assert_eq!(ended.stdout(), "the configuration holds: 1 tool, 0 keys, 1 warning\n");
    insta::assert_snapshot!(ended.stderr(), @"
    warning: tool `a`: unknown field `concurency`
     --> t.toml:3:1
      |
    3 | concurency = 1
      | ^^^^^^^^^^ it has no effect
      |
      = help: did you mean `concurrency`?
    ");
    let ended = config(&dir, &["check", "--config", "t.toml", "--strict"]).code(1);
    assert_eq!(ended.stdout(), "the configuration does not hold: 1 tool, 0 keys, 1 warning\n");
}

#[test]
fn a_field_that_the_policy_refuses() {
    let dir = jp();
    let cfg = "conversation.tools.github_issues.concurrency.limt=3";
    let cfg_other = "conversation.tools.github_pulls.concurrency.limt=3";
    let ended = config(&dir, &["check", "--cfg", cfg, "--cfg", cfg_other]).code(1);
    insta::assert_snapshot!(ended.stderr(), @r#"
    error: release policy "default" refuses field `limt` of key "github": unknown further field; this policy takes none
     --> --cfg:1:46
      |
    1 | conversation.tools.github_issues.concurrency.limt=3
      |                                              ^^^^ tool `github_issues`
      |
     ::: --cfg:1:45
      |
    1 | conversation.tools.github_pulls.concurrency.limt=3
      |                                             ---- tool `github_pulls`
      |
      = help: did you mean `limit`?
    "#);
}

#[test]
fn a_policy_that_may_not_be_asked() {
    let dir = jp();
    dir.put("policies/delay.wasm");
    dir.write("p.toml", "[plugins.wasm.delay]\npath = 'delay.wasm'\nrun = 'ask'\n[conversation.release]\npolicy = 'delay'\n");
    let ended = config(&dir, &["check", "--config", "p.toml"]).code(0);
    insta::assert_snapshot!(ended.stderr(), @r#"
    warning: policy plugin `delay` was not asked whether it takes this: a person has to let it run first (`run = "ask"`)
     --> p.toml:3:7
      |
    3 | run = 'ask'
      |       ^^^^^ not run
    "#);
    let ended = config(
        &dir,
        &["check", "--config", "p.toml", "--cfg", "plugins.wasm.delay.run=unattended"],
    )
    .code(0);
    // A slow machine says that it is compiling.
    assert!(!ended.stderr().contains("warning"), "{}", ended.stderr());
    let ended = config(&dir, &["show", "--config", "p.toml"]).code(0);
    assert!(
        ended.stdout().contains("policy    delay, ./delay.wasm\ndigest    sha256:"),
        "{}",
        ended.stdout()
    );
}

#[test]
fn no_configuration_at_all() {
    let ended = config(&Dir::new(), &["show"]).code(2);
    insta::assert_snapshot!(ended.stderr(), @"
    error: no configuration: name one with `--config PATH`; jp's own places have none:
             .config/jp/config.toml
             .jp.toml
    ");
    let ended = config(&jp(), &["show", "--no-config"]).code(2);
    assert_eq!(ended.stderr(), "error: no configuration: name one with `--config PATH`\n");
}

#[test]
fn the_schema_is_one() {
    let ended = config(&Dir::new(), &["schema"]).code(0);
    assert_eq!(ended.stderr(), "");
    let json: Json = serde_json::from_str(&ended.stdout()).expect("it is JSON");
    assert_eq!(json["title"], "jp-policy configuration");
}

#[test]
fn a_batch_runs_with_what_stands_in_jps_places() {
    let dir = jp();
    dir.batch(&json!([{ "id": "a", "name": "rfd_draft" }]));
    let run = |args: &[&str]| {
        dir.program().args(["run", "batch.json", "--workspace", "work", "--quiet"]).args(args).end()
    };
    assert_eq!(run(&[]).code(0).stdout(), "--- a rfd_draft: ok\n");
    // The user's `*` lets it run without being asked for.
    let asked = run(&["--cfg", "conversation.tools.'*'.run=skip"]).code(1).stdout();
    assert!(asked.starts_with("--- a rfd_draft: not run\n"), "{asked}");
    let ended = run(&["--no-config"]).code(2);
    assert_eq!(ended.stdout(), "");
}

#[test]
fn names_that_would_drive_a_terminal_are_shown_clean() {
    let dir = Dir::new();
    dir.write(
        "t.json",
        "{\"conversation\": {\"tools\": {\"a\\u001b[31m\\u202e\": {\"command\": \"x\", \"concurrency\": {\"key\": \"k\\u202e\", \"d\\u001b\": \"\\u001b[2J\"}}}}}",
    );
    for verb in [&["show"][..], &["check"], &["explain", "tools"]] {
        let ended = dir.program().args(["config"]).args(verb).args(["--config", "t.json"]).end();
        let shown = ended.stdout() + &ended.stderr();
        let drives =
            |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!shown.contains(drives), "{verb:?}: {shown:?}");
    }
}

#[test]
fn real_tools_load_and_take_limits_from_a_later_layer() {
    // They are not ours to copy: they lie beside the repository where they are there at all.
    let root = repository(".").canonicalize().expect("it is there");
    let beside = root.ancestors().skip(1).map(|folder| folder.join("shared/data/jp-tools"));
    let Some(tools) = beside.into_iter().find(|folder| folder.is_dir()) else {
        eprintln!("skipped: there is no `shared/data/jp-tools` beside the repository");
        return;
    };
    let dir = Dir::new();
    let path = tools.to_str().expect("a path that is text");
    // Some come from an MCP server, which is configured elsewhere.
    dir.write("servers.toml", "providers.mcp.bookworm.command = 'bookworm'\n");
    let files = ["check", "--strict", "--config", path, "--config", "servers.toml"];
    let ended = config(&dir, &files).code(0);
    assert_eq!(ended.stdout(), "the configuration holds: 63 tools, 0 keys\n");
    let names = ["git_commit", "git_stage_patch", "git_unstage"];
    let layer =
        names.map(|name| format!("[conversation.tools.{name}]\nconcurrency = {{ key = 'git' }}\n"));
    dir.write("limits.toml", layer.concat());
    let ended = config(&dir, &[&files[..], &["--config", "limits.toml"]].concat()).code(0);
    assert_eq!(ended.stdout(), "the configuration holds: 63 tools, 1 key\n");
}
