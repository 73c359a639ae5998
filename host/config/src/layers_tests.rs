use std::{fs, path::PathBuf};

use jp_policy_core::terms::OnError;

use super::*;
use crate::ConfigError;

/// Layers out of documents, the first one the lowest.
fn stacked(documents: &[(&str, &str)]) -> Layers {
    let mut layers = Layers::default();
    for (path, text) in documents {
        layers.source(Layer::Config, &Source::new(*path, *text));
    }
    layers
}

/// What tool `a` has after TOML layers that give it these fields.
fn concurrency(layers: &[&str]) -> String {
    let text = |fields: &&str| format!("[conversation.tools.a]\ncommand = 'x'\n{fields}");
    let texts: Vec<String> = layers.iter().map(text).collect();
    let documents: Vec<(&str, &str)> = texts.iter().map(|text| ("t.toml", text.as_str())).collect();
    shown(stacked(&documents))
}

fn shown(layers: Layers) -> String {
    match layers.build() {
        Ok(config) => match &config.tools["a"].concurrency {
            Some(concurrency) => concurrency.text(),
            None => "none".to_owned(),
        },
        Err(ConfigError(problems)) => messages(&problems),
    }
}

fn messages(problems: &[Diagnostic]) -> String {
    problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_number_replaces_a_number_and_a_table() {
    assert_eq!(concurrency(&["concurrency = 2", "concurrency = 3"]), "3");
    assert_eq!(
        concurrency(&["concurrency = { key = 'git', limit = 4, x = 1 }", "concurrency = 1"]),
        "1"
    );
    assert_eq!(concurrency(&["concurrency = 3", "concurrency = 0"]), "none");
    assert_eq!(concurrency(&["concurrency = 0", "concurrency = 1"]), "1");
}

#[test]
fn a_table_merges_with_a_table_field_by_field() {
    let first = "concurrency = { key = 'git', limit = 4, x = 1 }";
    assert_eq!(
        concurrency(&[first, "concurrency.limit = 2"]),
        r#"{ key = "git", limit = 2, x = 1 }"#
    );
    assert_eq!(
        concurrency(&[first, "concurrency.key = 'k'", "concurrency.y = true"]),
        r#"{ key = "k", limit = 4, x = 1, y = true }"#
    );
    assert_eq!(concurrency(&[first, ""]), r#"{ key = "git", limit = 4, x = 1 }"#);
}

#[test]
fn a_table_over_a_number_starts_from_it() {
    assert_eq!(
        concurrency(&["concurrency = 3", "concurrency.x = 1"]),
        r#"{ key = "a", limit = 3, x = 1 }"#
    );
    assert_eq!(
        concurrency(&["concurrency = 3", "concurrency.key = 'git'"]),
        r#"{ key = "git", limit = 3 }"#
    );
    assert_eq!(concurrency(&["concurrency.limit = 3"]), "tool `a`: `concurrency` has no `key`");
}

#[test]
fn a_table_over_0_starts_from_nothing() {
    let git = r#"{ key = "git", limit = 1 }"#;
    let no_key = "tool `a`: `concurrency` has no `key`";
    assert_eq!(concurrency(&["concurrency = 0", "concurrency.key = 'git'"]), git);
    assert_eq!(concurrency(&["concurrency = 0", "concurrency.limit = 3"]), no_key);
    assert_eq!(concurrency(&["concurrency = 0", "concurrency = {}"]), no_key);
    assert_eq!(
        concurrency(&["concurrency = 0", "concurrency.x = 1", "concurrency.key = 'git'"]),
        r#"{ key = "git", limit = 1, x = 1 }"#
    );
    // Neither does anything come back of what 0 has lifted, nor is the 0 of a table one of these.
    assert_eq!(
        concurrency(&[
            "concurrency = { key = 'k', limit = 4, x = 1 }",
            "concurrency = 0",
            "concurrency.key = 'git'"
        ]),
        git
    );
    assert_eq!(
        concurrency(&["concurrency = { key = 'k', limit = 0 }", "concurrency.key = 'git'"]),
        r#"{ key = "git", limit = 0 }"#
    );
}

#[test]
fn the_key_that_is_missing_over_0_is_missed_where_the_table_stands() {
    let lower = Source::new("1.toml", "[conversation.tools.a]\ncommand = 'x'\nconcurrency = 0");
    let upper = Source::new("2.toml", "[conversation.tools.a]\nconcurrency = { limit = 3 }");
    let mut layers = Layers::default();
    layers.source(Layer::Workspace, &lower).source(Layer::Cwd, &upper);
    insta::assert_snapshot!(layers.build().expect_err("it names no key").to_string(), @r#"
    2.toml:2:15: error: tool `a`: `concurrency` has no `key`
      2.toml:2:15: a table names the key it limits
      help: write `concurrency = N` to limit this tool alone, or add `key = "..."`
    "#);
}

#[test]
fn fan_out_merges_like_it() {
    let fan_out = |layers: &[&str]| {
        let text = |fields: &&str| {
            format!("[conversation.tools.a]\ncommand = 'x'\nconcurrency = 1\n{fields}")
        };
        let texts: Vec<String> = layers.iter().map(text).collect();
        let documents: Vec<(&str, &str)> =
            texts.iter().map(|text| ("t.toml", text.as_str())).collect();
        let config = stacked(&documents).build().expect("it holds");
        config.tools["a"].fan_out.as_ref().map(|fan_out| (fan_out.enabled, fan_out.on_error))
    };
    assert_eq!(fan_out(&["fan_out = true"]), Some((true, OnError::Continue)));
    assert_eq!(
        fan_out(&["fan_out = false", "fan_out.on_error = 'stop'"]),
        Some((false, OnError::Stop))
    );
    assert_eq!(
        fan_out(&["fan_out.on_error = 'stop'", "fan_out.enabled = false"]),
        Some((false, OnError::Stop))
    );
    assert_eq!(
        fan_out(&["fan_out.on_error = 'stop'", "fan_out = true"]),
        Some((true, OnError::Continue))
    );
    assert_eq!(fan_out(&["fan_out.on_error = 'stop'"]), Some((true, OnError::Stop)));
}

#[test]
fn agreement_is_checked_on_what_is_merged() {
    // Case 88: in the middle the two disagree, in the end they don't.
    let both = "[conversation.tools]\na = { command = 'x', concurrency = { key = 'git', limit = 1 } }\nb = { command = 'x', concurrency = { key = 'git', limit = 1 } }";
    let a = "[conversation.tools.a]\nconcurrency = { key = 'git', limit = 2 }";
    let b = "[conversation.tools.b]\nconcurrency = { key = 'git', limit = 2 }";
    let (both, a, b) = (("1.toml", both), ("2.toml", a), ("3.toml", b));
    assert_eq!(shown(stacked(&[both, a, b])), r#"{ key = "git", limit = 2 }"#);
    assert_eq!(
        shown(stacked(&[both, a])),
        "the tools of key \"git\" disagree about its limit: `a` has { key = \"git\", limit = 2 }, `b` has { key = \"git\", limit = 1 }"
    );
}

#[test]
fn formats_make_the_same_tree() {
    let toml = (
        "t.toml",
        "[conversation.tools.a]\ncommand = 'x'\nconcurrency = { key = 'git', limit = 0x10 }",
    );
    let json = (
        "t.json",
        r#"{ "conversation": { "tools": { "a": { "command": "x", "concurrency": { "key": "git", "limit": 16, }, } } } } // said"#,
    );
    let json5 = (
        "t.json5",
        "{ conversation: { tools: { a: { command: 'x', concurrency: { key: 'git', limit: 0x10 } } } } }",
    );
    let yaml = (
        "t.yaml",
        "conversation:\n  tools:\n    a:\n      command: x\n      concurrency: { key: git, limit: 0x10 }\n",
    );
    let anchors = (
        "t.yml",
        "shared: &c { key: git, limit: 16 }\nconversation:\n  tools:\n    a: { command: x, concurrency: *c }\n",
    );
    for document in [toml, json, json5, yaml, anchors] {
        assert_eq!(shown(stacked(&[document])), r#"{ key = "git", limit = 16 }"#, "{document:?}");
    }
}

#[test]
fn a_wrong_value_is_found_at_the_same_place_in_each_format() {
    let of = |path: &str, text: &str| match stacked(&[(path, text)]).build() {
        Ok(_) => "it holds".to_owned(),
        Err(error) => error.to_string(),
    };
    insta::assert_snapshot!(of("t.toml", "[conversation.tools.a]\ncommand = 'ключ'\nconcurrency = { key = 'ключ', limit = -1 }"), @"
    t.toml:3:39: error: tool `a`: `concurrency.limit` is -1, expected a whole number from 0 to 4294967295
      t.toml:3:39: negative
      help: 0 lifts the limit
    ");
    insta::assert_snapshot!(of("t.json", "{\"conversation\": {\"tools\": {\"a\": {\"command\": \"ключ\",\n  \"concurrency\": { \"key\": \"ключ\", \"limit\": -1 }}}}}"), @"
    t.json:2:44: error: tool `a`: `concurrency.limit` is -1, expected a whole number from 0 to 4294967295
      t.json:2:44: negative
      help: 0 lifts the limit
    ");
    insta::assert_snapshot!(of("t.yaml", "conversation:\n  tools:\n    a:\n      command: ключ\n      concurrency: { key: ключ, limit: -1 }"), @"
    t.yaml:5:40: error: tool `a`: `concurrency.limit` is -1, expected a whole number from 0 to 4294967295
      t.yaml:5:40: negative
      help: 0 lifts the limit
    ");
}

#[test]
fn a_broken_document_is_refused_at_its_place() {
    let deep = format!("{}1{}", "[".repeat(400), "]".repeat(400));
    let copies = |n: usize| format!("a{n}: &a{n} [{}]\n", format!("*a{},", n - 1).repeat(10));
    let bomb: String = (1..12).map(copies).collect();
    let bomb = format!("a0: &a0 x\n{bomb}");
    let told: Vec<String> = [
        ("t.json", "{\n  \"a\": 1 \"b\": 2\n}"),
        ("t.json", "{\"a\": 1, \"a\": 2}"),
        ("t.json", "[1]"),
        ("t.json", "{} {}"),
        ("t.json", &deep),
        ("t.yaml", "a: 1\na: 2\n"),
        ("t.yaml", "a: [1, 2\nb: 3\n"),
        ("t.yaml", "a: &x [*x]\n"),
        ("t.yaml", "a: *x\n"),
        ("t.yaml", "a: 1\n---\nb: 1\n"),
        ("t.yaml", "a: !secret 1\n"),
        ("t.yaml", "? [1]\n: 2\n"),
        ("t.yaml", "hello\n"),
        ("t.yaml", "é: 'b\n"),
        ("t.yaml", &deep),
        ("t.yaml", &bomb),
    ]
    .map(|(path, text)| {
        let error = stacked(&[(path, text)]).build().expect_err(text);
        error.to_string().lines().next().unwrap_or_default().to_owned()
    })
    .into();
    insta::assert_snapshot!(told.join("\n"), @r#"
    t.json:2:9: error: `t.json` is not valid JSON: expected comma
    t.json:1:10: error: `t.json` is not valid JSON: `a` is set twice
    t.json:1:1: error: the configuration is [1] (an array), expected a table
    t.json:1:4: error: `t.json` is not valid JSON: text cannot contain more than one JSON value
    t.json:1:101: error: `t.json` is not valid JSON: nested more than 100 deep
    t.yaml:2:1: error: `t.yaml` is not valid YAML: `a` is set twice
    t.yaml:2:2: error: `t.yaml` is not valid YAML: illegal placement of ':' indicator
    t.yaml:1:8: error: `t.yaml` is not valid YAML: an alias names what it is a part of
    t.yaml:1:4: error: `t.yaml` is not valid YAML: while parsing node, found unknown anchor
    t.yaml:2:1: error: `t.yaml` is not valid YAML: a second document begins
    t.yaml:1:4: error: `t.yaml` is not valid YAML: the tag `!secret` means nothing here
    t.yaml:1:3: error: `t.yaml` is not valid YAML: expected a name, found an array
    t.yaml:1:1: error: the configuration is "hello" (a string), expected a table
    t.yaml:1:4: error: `t.yaml` is not valid YAML: while scanning a quoted scalar, found unexpected end of stream
    t.yaml:1:256: error: `t.yaml` is not valid YAML: recursion limit exceeded
    t.yaml:6:38: error: `t.yaml` is not valid YAML: its aliases stand for more than 100000 values
    "#);
}

#[test]
fn null_in_a_file_says_nothing() {
    let first = ("t.toml", "[conversation.tools.a]\ncommand = 'x'\nconcurrency = 3");
    let json = (
        "t.json",
        r#"{"conversation": {"tools": {"a": {"concurrency": null}, "b": null}, "release": null}}"#,
    );
    let yaml = ("t.yaml", "conversation:\n  tools:\n    a:\n      concurrency:\n");
    assert_eq!(shown(stacked(&[first, json])), "3");
    assert_eq!(shown(stacked(&[first, yaml])), "3");
    assert_eq!(shown(stacked(&[json, first])), "3");
    assert_eq!(
        shown(stacked(&[("e.yaml", ""), first, ("e.json", ""), ("f.yaml", "# nothing\n")])),
        "3"
    );
}

fn with_cfg(values: &[&str]) -> String {
    let mut layers = stacked(&[(
        "t.toml",
        "[conversation.tools.a]\ncommand = 'x'\nconcurrency = { key = 'git', limit = 4, x = 1 }",
    )]);
    for value in values {
        layers.cfg(value);
    }
    shown(layers)
}

#[test]
fn single_values_merge_as_layers_do() {
    let a = "conversation.tools.a.concurrency";
    assert_eq!(with_cfg(&[&format!("{a}.limit:=8")]), r#"{ key = "git", limit = 8, x = 1 }"#);
    assert_eq!(with_cfg(&[&format!("{a}=0")]), "none");
    assert_eq!(
        with_cfg(&[&format!("{a}:={{\"key\":\"x\"}}")]),
        r#"{ key = "x", limit = 4, x = 1 }"#
    );
    assert_eq!(with_cfg(&[&format!("{a}:=null")]), "none");
    assert_eq!(with_cfg(&[&format!("{a}.x:=null")]), r#"{ key = "git", limit = 4 }"#);
    assert_eq!(
        with_cfg(&[&format!("{a}=2"), &format!("{a}.y=2s")]),
        r#"{ key = "a", limit = 2, y = "2s" }"#
    );
    assert_eq!(with_cfg(&[r#"{"conversation":{"tools":{"a":{"concurrency":5}}}}"#]), "5");
    assert_eq!(
        with_cfg(&[&format!("{a}=99999999999")]),
        "tool `a`: `concurrency` is 99999999999, expected a whole number from 0 to 4294967295"
    );
    assert_eq!(
        with_cfg(&[&format!("{a}=many")]),
        "tool `a`: `concurrency` is \"many\" (a string), expected a limit (0 for none) or a table { key, limit }"
    );
}

#[test]
fn a_list_grows_by_what_is_added_to_it() {
    let mut layers =
        stacked(&[("t.toml", "[conversation.tools.a]\ncommand = { program = 'x', args = ['1'] }")]);
    layers
        .cfg("conversation.tools.a.command.args+=2,3")
        .cfg("conversation.tools.a.command.args:+=[\"4\"]");
    let config = layers.build().expect("it holds");
    let crate::Command::Parts { args, .. } =
        config.tools["a"].command.clone().expect("there is one")
    else {
        panic!("it is a table");
    };
    assert_eq!(args, ["1", "2", "3", "4"]);
    assert_eq!(
        with_cfg(&["conversation.tools.a.command+=y"]),
        "`+=` adds to a list or a table, and `conversation.tools.a.command` is \"x\" (a string)\ntool `a`: `command` is [\"y\"] (an array), expected a string or a table { program, args, shell }"
    );
}

#[test]
fn a_value_for_a_tool_that_is_not_there_is_told() {
    let mut layers = stacked(&[("t.toml", "[conversation.tools.github_issues]\ncommand = 'x'")]);
    layers.cfg("conversation.tools.github_isues.concurrency=1");
    let config = layers.build().expect("it holds");
    assert_eq!(
        config.warnings[0].to_string(),
        "--cfg:1:20: warning: `concurrency` is set for tool `github_isues`, which no other layer has\n  --cfg:1:20: a tool with nothing but this\n  help: did you mean `github_issues`?"
    );
}

#[test]
fn variables_lie_over_files() {
    let mut layers =
        stacked(&[("t.toml", "[conversation.tools.a]\ncommand = 'x'\nconcurrency = 1")]);
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    layers.environment([
        variable("JP_CFG_CONVERSATION_TOOLS_A_CONCURRENCY", "2"),
        variable("JP_CFG_CONVERSATION_TOOLS_A_CONCURRENCY_KEY", "k"),
        variable("JP_CFG_ASSISTANT_MODEL_ID", "x"),
        variable("PATH", "/bin"),
    ]);
    assert_eq!(shown(layers), r#"{ key = "k", limit = 2 }"#);
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    }
    folder
}

fn tool(fields: &str) -> String {
    format!("[conversation.tools.a]\ncommand = 'x'\n{fields}\n")
}

/// What comes of a file, with `/ROOT` for the folder.
fn read(root: &tempfile::TempDir, path: &str) -> (String, String) {
    let mut layers = Layers::default();
    layers.path(&root.path().join(path));
    let (value, problems) = match layers.build() {
        Ok(config) => {
            let concurrency = config.tools.get("a").and_then(|tool| tool.concurrency.clone());
            (concurrency.map_or_else(String::new, |found| found.text()), config.warnings)
        }
        Err(ConfigError(problems)) => ("refused".to_owned(), problems),
    };
    let real = root.path().canonicalize().expect("it is there");
    let text = messages(&problems).replace(&*real.to_string_lossy(), "/ROOT");
    (value, text.replace(&*root.path().to_string_lossy(), "/ROOT"))
}

#[test]
fn a_file_lies_over_what_it_extends_and_under_what_it_wants_after() {
    let root = folder(&[
        ("before.toml", &tool("concurrency = 1")),
        ("own.toml", &format!("extends = ['before.toml']\n{}", tool("concurrency = 2"))),
        ("only.toml", "extends = ['sub/../before.toml']\n"),
        ("after.json", r#"{"conversation": {"tools": {"a": {"concurrency": {"x": 1}}}}}"#),
        (
            "both.yaml",
            "extends: [own.toml, {path: ./after.json, strategy: after}]\nconversation: {tools: {a: {concurrency: 3}}}\n",
        ),
        ("sub/none", ""),
    ]);
    assert_eq!(read(&root, "own.toml"), ("2".to_owned(), String::new()));
    assert_eq!(read(&root, "only.toml"), ("1".to_owned(), String::new()));
    assert_eq!(
        read(&root, "both.yaml"),
        (r#"{ key = "a", limit = 3, x = 1 }"#.to_owned(), String::new())
    );
}

#[test]
fn a_pattern_brings_along_files_in_order() {
    let root = folder(&[
        ("[odd] folder/config.toml", "extends = ['tools/**/*']\n"),
        ("[odd] folder/tools/z.toml", &tool("concurrency = 3")),
        ("[odd] folder/tools/deep/a.yaml", "conversation: {tools: {a: {concurrency: 9}}}"),
        ("[odd] folder/tools/README.md", "no configuration"),
    ]);
    assert_eq!(read(&root, "[odd] folder/config.toml"), ("3".to_owned(), String::new()));
}

#[test]
fn what_extends_in_vain_is_told() {
    let root = folder(&[
        (
            "missing.toml",
            &format!("extends = ['no.toml', 'no/*.toml']\n{}", tool("concurrency = 1")),
        ),
        ("a.toml", "extends = ['b.toml']"),
        ("b.toml", "extends = ['./a.toml']"),
        ("wrong.toml", "extends = [1, { strategy = 'befor' }, '[', '**a']"),
        ("text.toml", "extends = 'a.toml'"),
    ]);
    let refused = |text: &str| ("refused".to_owned(), text.to_owned());
    assert_eq!(
        read(&root, "missing.toml"),
        ("1".to_owned(), "`extends` names `/ROOT/no.toml`, which is not there".to_owned())
    );
    assert_eq!(
        read(&root, "a.toml"),
        refused("files extend each other: `/ROOT/a.toml` -> `/ROOT/b.toml` -> `/ROOT/a.toml`")
    );
    assert_eq!(
        read(&root, "wrong.toml"),
        refused(
            "`extends` is 1 (an integer), expected a path or a table { path, strategy }\n\
             `extends`: `strategy` is \"befor\", expected one of \"before\", \"after\"\n\
             `extends` has an entry without `path`\n\
             `extends` has a pattern that can't be read: invalid range pattern\n\
             `extends` has a pattern that can't be read: recursive wildcards must form a single path component"
        )
    );
    assert_eq!(
        read(&root, "text.toml"),
        refused("`extends` is \"a.toml\" (a string), expected a list of paths")
    );
}

#[test]
fn files_that_bring_each_other_along_for_ever_are_stopped() {
    // Each of 30 files brings the next along twice: 2^30 files.
    let files: Vec<(String, String)> = (0..30)
        .map(|n| (format!("{n}.toml"), format!("extends = ['{0}.toml', '{0}.toml']", n + 1)))
        .chain([("30.toml".to_owned(), String::new())])
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let root = folder(&files);
    let (value, problems) = read(&root, "0.toml");
    assert_eq!(value, "refused");
    assert_eq!(
        problems,
        "`extends` brings along too much: more than 10000 files, or more than 255 one by the other"
    );
}

#[test]
fn places_are_read_until_one_closes_them() {
    let root = folder(&[
        ("user/config.toml", &tool("concurrency = 1")),
        (
            "repo/.jp/config.toml",
            "extends = ['mcp/tools/**/*.toml']\n[conversation.tools.a]\nconcurrency.x = 'w'\n",
        ),
        ("repo/.jp/mcp/tools/a.toml", &tool("concurrency.limit = 5")),
        ("repo/.jp/.id", "otvo8"),
        ("repo/sub/.jp.toml", "[conversation.tools.a.concurrency]\nlimit = 6\n"),
        ("data/workspace/repo-otvo8/config.toml", "[conversation.tools.a.concurrency]\nx = 'u'\n"),
    ]);
    let dirs = ConfigDirs {
        user_config: Some(root.path().join("user")),
        user_data: Some(root.path().join("data")),
        folder: root.path().join("repo/sub"),
        relative: false,
    };
    let build = || {
        let mut layers = Layers::default();
        layers.standard_files(&dirs);
        let outcomes: Vec<(Layer, FileStatus)> =
            layers.searched().iter().map(|file| (file.layer, file.status)).collect();
        (shown(layers), outcomes)
    };
    assert_eq!(
        build(),
        (
            r#"{ key = "a", limit = 6, x = "u" }"#.to_owned(),
            vec![
                (Layer::UserGlobal, FileStatus::Read),
                (Layer::Workspace, FileStatus::Read),
                (Layer::Cwd, FileStatus::Read),
                (Layer::UserWorkspace, FileStatus::Read),
            ]
        )
    );
    // In the guide of jp: the file that says so is still read, later ones are not.
    let closing = "inherit = false\nextends = ['mcp/tools/**/*.toml']\n[conversation.tools.a]\nconcurrency.x = 'w'\n";
    fs::write(root.path().join("repo/.jp/config.toml"), closing).expect("it can be written");
    let (value, outcomes) = build();
    assert_eq!(value, r#"{ key = "a", limit = 5, x = "w" }"#);
    assert_eq!(
        outcomes[1..],
        [
            (Layer::Workspace, FileStatus::Read),
            (Layer::Cwd, FileStatus::Closed),
            (Layer::UserWorkspace, FileStatus::Closed),
        ]
    );
}

#[test]
fn a_folder_is_read_in_all_formats() {
    let root = folder(&[
        ("tools/a.toml", &tool("concurrency = 1")),
        ("tools/b.json", r#"{"conversation": {"tools": {"a": {"concurrency": {"x": 1}}}}}"#),
        ("tools/c.yml", "conversation: {tools: {a: {concurrency: {y: 1}}}}"),
        ("tools/d.txt", "nothing"),
        ("tools/.jp.toml", "\u{feff}# with a mark first\n"),
    ]);
    assert_eq!(
        read(&root, "tools"),
        (r#"{ key = "a", limit = 1, x = 1, y = 1 }"#.to_owned(), String::new())
    );
}

#[test]
fn a_file_is_taken_as_single_value_with_and_without_its_extension() {
    let root = folder(&[("dev.toml", &tool("concurrency = 7"))]);
    for path in ["dev.toml", "dev", "@dev"] {
        let (at, path) = path.strip_prefix('@').map_or(("", path), |path| ("@", path));
        let path: PathBuf = root.path().join(path);
        let mut layers = Layers::default();
        layers.cfg(&format!("{at}{}", path.display()));
        assert_eq!(shown(layers), "7");
    }
    let mut layers = Layers::default();
    layers.cfg("nobody");
    assert_eq!(shown(layers), "`--cfg nobody` names no file and sets no value");
}

#[test]
fn what_drives_a_terminal_in_the_name_of_a_variable_is_not_repeated() {
    let mut layers = Layers::default();
    layers.environment([("JP_CFG_CONVERSATION_TOOLS_[[\u{1b}".to_owned(), String::new())]);
    let error = layers.build().expect_err("a tool is a table").to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
    assert!(error.contains("[[\u{fffd}"), "{error:?}");
}
