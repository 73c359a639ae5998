//! The example `jp-rfd`: right with limits, and wrong without them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value as Json, json};

use super::support::{Dir, Program, files, path};

fn example(path: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/jp-rfd");
    let path = folder.join(path).canonicalize();
    path.expect("the example is there")
}

/// A folder with a copy of the example's workspace.
fn copied() -> Dir {
    let dir = Dir::new();
    dir.copy(&example("workspace"), "work");
    dir
}

/// A batch of the example in a folder's workspace.
fn run(dir: &Dir, batch: &str) -> Program {
    dir.program()
        .args(["run".as_ref(), example(batch).as_path()])
        .args(["--config".as_ref(), example("tools").as_path()])
        .args(["--workspace", "work", "--format", "json"])
        .env("JP_RFD_PACE", "0")
}

/// The same without limits, with the race forced, not hoped for: each script sleeps between its check and its act, and this
/// `sleep` says that it was reached, then waits for a file.
fn race(dir: &Dir, batch: &str) -> Program {
    let sleep = "#!/bin/sh
: >\"$RACE/at.$$\"
patience=1200
until [ -e \"$RACE/go\" ]; do
    patience=$((patience - 1))
    [ $patience -gt 0 ] || exit 1
    PATH=$REAL_PATH sleep 0.05
done
";
    dir.write("bin/sleep", sleep);
    fs::set_permissions(dir.path("bin/sleep"), Permissions::from_mode(0o755))
        .expect("it can be made a program");
    dir.folder("race");
    let path = path().into_string().expect("it is text");
    run(dir, batch)
        .args(["--no-limits"])
        .env("PATH", format!("{}:{path}", dir.path("bin").display()))
        .env("REAL_PATH", path)
        .env("RACE", dir.path("race"))
}

/// How many scripts wait between their check and their act.
fn waiting(dir: &Dir) -> usize {
    files(&dir.path("race")).len()
}

fn documents(dir: &Dir) -> BTreeMap<String, String> {
    let files = files(&dir.path("work/docs/rfd")).into_iter();
    files.map(|(name, bytes)| (name, String::from_utf8(bytes).expect("it is text"))).collect()
}

fn names(dir: &Dir) -> Vec<String> {
    documents(dir).into_keys().collect()
}

/// Everything that is wrong with how the documents name each other.
fn wrong_references(documents: &BTreeMap<String, String>) -> Vec<String> {
    let numbers: BTreeSet<&str> = documents.keys().map(|name| &name[..3]).collect();
    let mut wrong = Vec::new();
    for (name, text) in documents {
        let heading = format!("# RFD {}: ", &name[..3]);
        if !text.starts_with(&heading) {
            wrong.push(format!("{name} does not start with {heading:?}"));
        }
        for rest in text.split("RFD ").skip(1) {
            let number = rest.get(..3).unwrap_or_default();
            if number.bytes().all(|byte| byte.is_ascii_digit()) && !numbers.contains(number) {
                wrong.push(format!("{name} mentions RFD {number}"));
            }
        }
        for (before, target) in text.match_indices("](").map(|(at, _)| text.split_at(at)) {
            let label = before.rsplit('[').next().unwrap_or_default();
            let target = target[2..].split([')', '#']).next().unwrap_or_default();
            if !documents.contains_key(target) {
                wrong.push(format!("{name} links to {target}"));
            }
            if let Some(number) = label.strip_prefix("RFD ")
                && !target.starts_with(number)
            {
                wrong.push(format!("{name} has [{label}] for {target}"));
            }
        }
    }
    wrong
}

fn renumbered() -> Json {
    let response = |id: &str, content: &str| json!({ "id": id, "name": "rfd_renumber", "status": "ok", "content": content });
    json!([
        response(
            "call_1",
            "RFD 008 is now RFD 011 (docs/rfd/011-work-offline.md); 8 references in 6 files rewritten\n"
        ),
        response(
            "call_2",
            "RFD 007 is now RFD 010 (docs/rfd/010-evict-by-last-use.md); 8 references in 6 files rewritten\n"
        ),
        response(
            "call_3",
            "RFD 006 is now RFD 009 (docs/rfd/009-signed-entries.md); 7 references in 6 files rewritten\n"
        ),
        response(
            "call_4",
            "RFD 005 is now RFD 008 (docs/rfd/008-a-shared-shelf-over-http.md); 10 references in 6 files rewritten\n"
        ),
    ])
}

#[test]
fn the_documents_are_in_order_before_anything_runs() {
    let documents = documents(&copied());
    let links: usize = documents.values().map(|text| text.matches("](").count()).sum();
    assert!(links > 20, "{links} links can go wrong");
    assert_eq!(wrong_references(&documents), Vec::<String>::new());
}

#[test]
fn the_chain_of_renumbers_comes_out_right() {
    let dir = copied();
    let ended = run(&dir, "renumber.json").end().code(0);
    assert_eq!(ended.responses(), renumbered());
    assert_eq!(
        names(&dir),
        [
            "001-how-we-write-rfds.md",
            "002-a-shelf-addressed-by-content.md",
            "003-keys-from-inputs.md",
            "004-evict-by-age.md",
            "008-a-shared-shelf-over-http.md",
            "009-signed-entries.md",
            "010-evict-by-last-use.md",
            "011-work-offline.md",
        ]
    );
    assert_eq!(wrong_references(&documents(&dir)), Vec::<String>::new());
}

#[test]
fn the_chain_of_renumbers_without_limits_goes_wrong() {
    let dir = copied();
    let mut running = race(&dir, "renumber.json").start();
    running.until_said("failed", "call_4");
    running.until("three calls have checked", || waiting(&dir) == 3);
    dir.write("race/go", "");
    let ended = running.end().code(1);
    let mut expected = renumbered();
    expected[3]["status"] = json!("error");
    expected[3]["content"] = json!(
        "tool `rfd_renumber` failed: exit status: 1\nrenumber: RFD 008 is taken (docs/rfd/008-work-offline.md)"
    );
    assert_eq!(ended.responses(), expected);
    assert!(names(&dir).contains(&"005-a-shared-shelf-over-http.md".to_owned()));
}

#[test]
fn the_same_chain_as_a_model_sends_it_has_the_same_responses() {
    let dir = copied();
    let ended = run(&dir, "assistant-anthropic.json").end().code(0);
    let mut expected = renumbered();
    for (response, id) in expected
        .as_array_mut()
        .into_iter()
        .flatten()
        .zip(["toolu_01", "toolu_02", "toolu_03", "toolu_04"])
    {
        response["id"] = json!(id);
    }
    assert_eq!(ended.responses(), expected);
}

fn drafted(numbers: [&str; 3]) -> (Json, Vec<String>) {
    let slugs = [
        "compress-entries-on-the-shelf",
        "a-doctor-for-damaged-shelves",
        "say-why-a-step-wasnt-reused",
    ];
    let calls = ["call_1", "call_2", "call_3"].into_iter();
    let (responses, mut names): (Vec<Json>, Vec<String>) = calls
        .zip(numbers.into_iter().zip(slugs))
        .map(|(id, (number, slug))| {
            let content = format!("RFD {number} is drafted (docs/rfd/{number}-{slug}.md)\n");
            let response =
                json!({ "id": id, "name": "rfd_draft", "status": "ok", "content": content });
            (response, format!("{number}-{slug}.md"))
        })
        .unzip();
    names.sort();
    (Json::Array(responses), names)
}

#[test]
fn three_drafts_get_three_numbers() {
    let dir = copied();
    let ended = run(&dir, "drafts.json").end().code(0);
    let (responses, new) = drafted(["009", "010", "011"]);
    assert_eq!(ended.responses(), responses);
    assert_eq!(names(&dir)[8..], new);
    assert_eq!(wrong_references(&documents(&dir)), Vec::<String>::new());
}

#[test]
fn three_drafts_without_limits_get_one_number() {
    let dir = copied();
    let mut running = race(&dir, "drafts.json").start();
    running.until("three calls have checked", || waiting(&dir) == 3);
    dir.write("race/go", "");
    let ended = running.end().code(0);
    let (responses, new) = drafted(["009", "009", "009"]);
    assert_eq!(ended.responses(), responses);
    assert_eq!(names(&dir)[8..], new);
}

#[test]
fn a_scratch_copy_leaves_the_workspace_as_it_is_and_nothing_behind() {
    let dir = copied();
    dir.folder("temp");
    let before = files(&dir.path("work"));
    let ended = run(&dir, "renumber.json")
        .args(["--scratch"])
        .env("TMPDIR", dir.path("temp"))
        .end()
        .code(0);
    assert_eq!(ended.responses(), renumbered());
    assert_eq!(files(&dir.path("work")), before);
    assert_eq!(dir.names("temp"), Vec::<String>::new());
}
