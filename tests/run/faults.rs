//! A policy that fails: reported once, with what follows, an exit code on request, and a file that reproduces it.

use std::path::Path;

use serde_json::json;

use super::support::Dir;

/// Three calls of one key, and a policy that traps when the first of them has ended.
fn three() -> Dir {
    let dir = Dir::new();
    dir.tool("t", "concurrency = 1", "echo done");
    dir.batch(&json!([{ "id": "1", "name": "t" }, { "id": "2", "name": "t" }, { "id": "3", "name": "t" }]));
    let hostile =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile/trap-at-the-second.wasm");
    let policy = std::fs::read(hostile).expect("the component is checked in");
    dir.write("policy.wasm", policy);
    dir
}

const POLICY: [&str; 2] = ["--policy", "policy.wasm"];

const ALL_DONE: &str = "--- 1 t: ok\ndone\n--- 2 t: ok\ndone\n--- 3 t: ok\ndone\n";

fn reports(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.starts_with("fault")).collect()
}

#[test]
fn the_default_rules_take_over_and_it_is_said_once() {
    let ended = three().run().args(POLICY).end().code(0);
    assert_eq!(ended.stdout(), ALL_DONE);
    assert_eq!(
        reports(&ended.stderr()),
        [
            "fault (trap): policy \"trap-at-the-second\" trapped: wasm trap: wasm `unreachable` instruction executed; the default \
         rules decide the rest of the batch"
        ]
    );
}

#[test]
fn strict_ends_with_an_exit_code_of_its_own_after_the_batch() {
    let ended = three().run().args(POLICY).args(["--strict"]).end().code(3);
    assert_eq!(ended.stdout(), ALL_DONE);
}

#[test]
fn settle_gives_the_parked_calls_an_error_that_names_the_policy() {
    let dir = three();
    dir.write("tools/release.toml", "conversation.release.on_fault = \"settle\"\n");
    let ended = dir.run().args(POLICY).end().code(1);
    let why = "not run: release policy \"trap-at-the-second\" failed, and `conversation.release.on_fault` is \"settle\"";
    assert_eq!(
        ended.stdout(),
        format!("--- 1 t: ok\ndone\n--- 2 t: error\n{why}\n--- 3 t: error\n{why}\n")
    );
}

#[test]
fn a_fault_is_written_as_a_scenario_that_reproduces_it() {
    let dir = three();
    dir.run().args(POLICY).args(["--fault-dir", "faults"]).end().code(0);
    let [name] = dir.names("faults").try_into().expect("one file");
    let file = format!("faults/{name}");
    let simulate = |policy: &[&str]| {
        let args = [&["simulate", &file, "--format", "json"], policy].concat();
        let json = dir.program().args(args).end().code(0).json();
        json["data"][0]["faults"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| it["kind"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(simulate(&POLICY), ["trap"]);
    assert_eq!(simulate(&[]), [""; 0], "the default policy has none there");
    dir.program().args(["test", &file]).args(POLICY).end().code(0);
    dir.program().args(["test", &file]).end().code(1);
}

#[test]
fn a_policy_that_wants_approval_is_refused_where_nobody_can_give_it() {
    let dir = three();
    let plugin = "
        conversation.release.policy = \"mine\"
        [plugins.wasm.mine]
        path = \"../policy.wasm\"
    ";
    dir.write("tools/release.toml", format!("{plugin}\nrun = \"ask\"\n"));
    let stderr = dir.run().end().code(2).stderr();
    let (before, _) = stderr.split_once("sha256:").expect("the digest is said");
    assert_eq!(
        before,
        "error: policy plugin `mine` wants to be approved, and there is nobody to ask: set `plugins.wasm.mine.run = \
         \"unattended\"` to let it run, and `checksum = \""
    );
    dir.write("tools/release.toml", format!("{plugin}\nrun = \"deny\"\n"));
    let stderr = dir.run().end().code(2).stderr();
    assert_eq!(
        stderr.trim(),
        "error: policy plugin `mine` may not run: `plugins.wasm.mine.run` is \"deny\""
    );
    dir.write("tools/release.toml", plugin);
    dir.run().end().code(0);
}
