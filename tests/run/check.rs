//! `check`: what holds, what is refuted, and how both are said.

use super::support::{Dir, Ended};

/// A small search: a test is not built for speed.
fn check(dir: &Dir, args: &[&str]) -> Ended {
    let small = ["--calls", "2", "--keys", "1", "--random", "5", "--seed", "7"];
    dir.program().args(["check", "--no-cache"]).args(small).args(args).end()
}

/// Without what differs from run to run.
fn masked(text: &str) -> String {
    // What else was searched until the search was called off depends on who was faster.
    let refuted = text.starts_with("refuted");
    let mask = |line: &str| match line.split_once(" decisions in ") {
        Some(_) if refuted => "[N] decisions in [TIME]".to_owned(),
        Some((decisions, _)) => format!("{decisions} decisions in [TIME]"),
        None if refuted && line.starts_with("searched ") => "searched [N]".to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(mask).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_default_policy_holds() {
    let dir = Dir::new();
    let ended = check(&dir, &["--rules"]).code(0);
    insta::assert_snapshot!(masked(&ended.stdout()), @r#"
    holds  policy "default" keeps the contract and the default rules
    searched 10 kinds of batches: 15,686 states, 30,334 steps; 5 random batches
    7,211 decisions in [TIME]
    "#);
    assert_eq!(ended.stderr(), "");
    assert!(!dir.has("refuted.toml"), "nothing is written");
}

#[test]
fn a_policy_that_is_refuted_writes_a_batch_that_shows_it() {
    let dir = Dir::new();
    let policy = dir.put("tests/hostile/twice.wasm");
    let ended = check(&dir, &[&policy]).code(1);
    insta::assert_snapshot!(masked(&ended.stdout()), @r#"
    refuted  policy "twice" breaks the contract:
      at 1s it released call A, which stands in the answer twice
      the smallest batch has 1 call: see it with `jp-policy simulate refuted.toml`
    searched [N]
    [N] decisions in [TIME]
    "#);
    let batch = dir.read("refuted.toml").replace(&dir.path("").display().to_string(), "[DIR]/");
    insta::assert_snapshot!(batch, @r#"
    title = "at 1s it released call A, which stands in the answer twice"

    [conversation.tools.a]
    concurrency = { key = "a", limit = 1 }

    [conversation.tools.free]

    [conversation.release]
    policy = "twice"

    [plugins.wasm.twice]
    path = "[DIR]/twice.wasm"
    options = {}

    [[call]]
    name = "A"
    tool = "a"
    approved = "1s"
    does = "10s"
    "#);
    let simulate = ["simulate", "--no-cache", "refuted.toml", "--policy", &policy];
    let again = dir.program().args(simulate).end().code(0);
    insta::assert_snapshot!(again.stdout(), @r#"
    refuted.toml: at 1s it released call A, which stands in the answer twice

         0s            2s            4s            6s            8s            10s       waited  ran
    1 A         ███████████████████████████████████████████████████████████████████████          10s  ok
    fault at 1s: policy "twice" released call 0, which stands in the answer twice
    "#);
}

#[test]
fn a_fault_that_hangs_on_earlier_questions() {
    let dir = Dir::new();
    let policy = dir.put("tests/hostile/trap-at-the-second.wasm");
    let ended = check(&dir, &[&policy]).code(1);
    insta::assert_snapshot!(masked(&ended.stdout()), @r#"
    refuted  policy "trap-at-the-second" breaks the contract:
      at 1s it trapped: wasm trap: wasm `unreachable` instruction executed
      the smallest batch has 1 call and is in `refuted.toml`; alone it does not show it, since that hangs on what was asked before
    searched [N]
    [N] decisions in [TIME]
    "#);
}

#[test]
fn for_machines() {
    let dir = Dir::new();
    let policy = dir.put("tests/hostile/forgets.wasm");
    let ended = dir
        .program()
        .args(["check", "--no-cache", &policy, "--calls", "3", "--keys", "1", "--limits", "1"])
        .args(["--format", "json", "--out", "why.toml"])
        .end()
        .code(1);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout()).expect("it is JSON");
    assert_eq!((&json["format"], &json["version"]), (&"jp-policy.check".into(), &1.into()));
    let data = &json["data"];
    assert_eq!(data["holds"], false);
    assert_eq!(data["violation"]["kind"], "stall");
    assert_eq!(data["violation"]["scenario"], "why.toml");
    assert!(dir.has("why.toml"));
}

#[test]
fn what_can_not_be_checked() {
    let dir = Dir::new();
    let policy = dir.put("policies/delay.wasm");
    let ended = check(&dir, &[&policy, "--fields", "dely = \"2s\""]).code(2);
    // That it is being compiled is said where that takes a while.
    let said = ended.stderr().replace("compiling policy delay.wasm\n", "");
    insta::assert_snapshot!(said, @r#"
    error: policy "delay" refuses field `dely`: unknown further field; this policy takes delay, from
     --> --fields:1:1
      |
    1 | dely = "2s"
      | ^^^^ refused

    jp-policy: the configuration has 1 error
    "#);
    let ended = check(&dir, &["missing.wasm"]).code(2);
    insta::assert_snapshot!(ended.stderr(), @"error: failed to read policy `missing.wasm`: No such file or directory (os error 2)");
}
