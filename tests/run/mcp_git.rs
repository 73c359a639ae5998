//! Several `mcp-server-git` and one repository: what limits are for.

use std::process::Command;

use serde_json::json;

use super::{mcp::servers, support::Dir};

/// Servers and files.
const MANY: usize = 5;

fn git(dir: &Dir, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .current_dir(dir.path("work"))
        .env("HOME", dir.path(""))
        .output()
        .expect("there is git");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "git {args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A repository with as many new files as there are servers for it, and a batch in which each server adds and commits one.
fn repository() -> Option<Dir> {
    let program = servers()?.join("mcp-server-git").display().to_string();
    let dir = Dir::new();
    dir.write("work/first", "");
    git(&dir, &["init", "--quiet"]);
    git(&dir, &["config", "user.name", "a"]);
    git(&dir, &["config", "user.email", "a@example.com"]);
    git(&dir, &["add", "first"]);
    git(&dir, &["commit", "--quiet", "--message", "first"]);
    let path = dir.path("work").display().to_string();
    let mut calls = Vec::new();
    for n in 0..MANY {
        dir.write(&format!("work/file{n}"), format!("{n}\n"));
        dir.write(
            &format!("tools/git{n}.toml"),
            format!("[providers.mcp.git{n}]\ncommand = {program:?}\n"),
        );
        for tool in ["git_add", "git_commit"] {
            dir.settings(
                &format!("{tool}{n}"),
                &format!(
                    "source = \"mcp.git{n}.{tool}\"\nrun = \"unattended\"\nconcurrency = {{ key = \"git\" }}"
                ),
            );
        }
        let files = [format!("file{n}")];
        calls.push(json!({ "name": format!("git_add{n}"), "arguments": { "repo_path": path, "files": files } }));
        calls.push(json!({ "name": format!("git_commit{n}"), "arguments": { "repo_path": path, "message": format!("add {n}") } }));
    }
    dir.batch(&json!(calls));
    Some(dir)
}

/// What was committed, the last first: messages and files.
fn history(dir: &Dir) -> String {
    git(dir, &["fsck", "--strict"]);
    git(dir, &["log", "--format=%s:", "--name-only"]).replace(":\n\n", ": ")
}

#[test]
fn with_a_key_every_write_of_every_server_is_whole() {
    let Some(dir) = repository() else {
        return;
    };
    dir.json().end().code(0);
    insta::assert_snapshot!(history(&dir), @"
    add 4: file4
    add 3: file3
    add 2: file2
    add 1: file1
    add 0: file0
    first: first
    ");
    assert_eq!(git(&dir, &["status", "--porcelain"]), "");
}

/// All at once, it goes wrong as it happens to: commits are lost or have the files of others, or the index is locked.
#[test]
fn without_limits_they_get_into_each_others_way() {
    let Some(whole) = repository() else {
        return;
    };
    whole.json().end().code(0);
    let whole = history(&whole);
    for _ in 0..20 {
        let Some(dir) = repository() else {
            return;
        };
        let ended = dir.json().args(["--no-limits"]).end();
        if ended.exit_code() != Some(0) || history(&dir) != whole {
            return;
        }
    }
    panic!("20 batches without limits came out right: this shows nothing");
}
