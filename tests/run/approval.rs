//! Calls that want approval, or are not to run, where nobody can be asked.

use serde_json::json;

use super::support::Dir;

/// A batch of a tool that asks, one that says nothing of it, one that is skipped, one that just runs, and one whose result is
/// not delivered. Each says it when it runs.
fn mixed() -> Dir {
    let dir = Dir::new();
    let command = |name: &str| format!("command = \"touch ran-{name}\"");
    dir.settings("asks", &format!("{}\nrun = \"ask\"", command("asks")));
    dir.settings("unset", &command("unset"));
    dir.settings("skipped", &format!("{}\nrun = \"skip\"", command("skipped")));
    dir.settings("runs", &format!("{}\nrun = \"unattended\"", command("runs")));
    let silent = "command = { program = \"sh\", args = [\"-c\", \"echo secret; touch ran-silent\"] }\nrun = \"unattended\"\nresult = \"skip\"";
    dir.settings("silent", silent);
    dir.batch(&json!([
        { "id": "1", "name": "asks" },
        { "id": "2", "name": "unset" },
        { "id": "3", "name": "skipped" },
        { "id": "4", "name": "runs" },
        { "id": "5", "name": "silent" },
    ]));
    dir
}

/// Which of the tools have run.
fn ran(dir: &Dir) -> Vec<&'static str> {
    let names = ["asks", "unset", "skipped", "runs", "silent"].into_iter();
    names.filter(|name| dir.has(&format!("work/ran-{name}"))).collect()
}

#[test]
fn without_a_terminal_what_wants_approval_is_rejected() {
    for args in [&[][..], &["--approve", "none"]] {
        let dir = mixed();
        let ended = dir.run().args(args).end().code(1);
        insta::allow_duplicates! {
            insta::assert_snapshot!(ended.stdout(), @"
            --- 1 asks: not run
            tool `asks` runs after approval only, and there was nobody to ask
            --- 2 unset: not run
            tool `unset` runs after approval only, and there was nobody to ask
            --- 3 skipped: not run
            tool `skipped` is set to be skipped
            --- 4 runs: ok
            --- 5 silent: ok
            tool `silent` ran; its result is not delivered
            ");
        }
        assert_eq!(ran(&dir), ["runs", "silent"]);
    }
}

#[test]
fn approving_all_runs_all_but_what_is_skipped() {
    let dir = mixed();
    let ended = dir.run().args(["--approve", "all"]).end().code(1);
    insta::assert_snapshot!(ended.stdout(), @"
    --- 1 asks: ok
    --- 2 unset: ok
    --- 3 skipped: not run
    tool `skipped` is set to be skipped
    --- 4 runs: ok
    --- 5 silent: ok
    tool `silent` ran; its result is not delivered
    ");
    assert_eq!(ran(&dir), ["asks", "unset", "runs", "silent"]);
}

#[test]
fn the_defaults_of_all_tools_count_where_a_tool_has_none() {
    let dir = mixed();
    dir.write("tools/defaults.toml", "[conversation.tools.'*']\nrun = \"unattended\"\n");
    dir.batch(&json!([{ "id": "1", "name": "unset" }, { "id": "2", "name": "runs" }]));
    let ended = dir.run().end().code(0);
    assert_eq!(ended.stdout(), "--- 1 unset: ok\n--- 2 runs: ok\n");
}
