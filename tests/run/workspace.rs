//! The folder that calls run in, and copies of it.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt as _};

use rustix::process::Signal;
use serde_json::json;

use super::support::{Dir, until};

/// A tool that says where it runs and what stands in a file there, and then changes that file.
fn writer() -> Dir {
    let dir = Dir::new();
    dir.tool("write", "", "pwd; cat file; echo changed >file");
    dir.batch(&json!([{ "id": "a", "name": "write" }]));
    dir.write("work/file", "as it was\n");
    dir
}

#[test]
fn calls_run_in_the_workspace() {
    let dir = writer();
    let ended = dir.run().end().code(0);
    assert_eq!(ended.stdout(), "--- a write: ok\n[DIR]/work\nas it was\n");
    assert_eq!(dir.read("work/file"), "changed\n");
}

#[test]
fn without_a_workspace_they_run_in_the_current_folder() {
    let dir = writer();
    dir.write("file", "of the folder\n");
    let args = ["run", "batch.json", "--config", "tools"];
    let ended = dir.program().args(args).end().code(0);
    assert_eq!(ended.stdout(), "--- a write: ok\n[DIR]\nof the folder\n");
}

#[test]
fn a_copy_has_folders_links_and_programs_as_they_are() {
    let dir = writer();
    dir.write("work/folder/inner", "inside\n");
    dir.folder("work/empty");
    std::os::unix::fs::symlink("folder", dir.path("work/link")).expect("a link can be made");
    fs::copy("/bin/sh", dir.path("work/program")).expect("there is a shell");
    let look = "cat file link/inner; [ -L link ] && [ -d empty ] && ./program -c 'echo runs'";
    dir.tool("look", "", look);
    dir.batch(&json!([{ "id": "a", "name": "look" }]));
    dir.folder("temp");
    let ended = dir.run().args(["--scratch"]).env("TMPDIR", dir.path("temp")).end().code(0);
    assert_eq!(ended.stdout(), "--- a look: ok\nas it was\ninside\nruns\n");
    assert_eq!(dir.names("temp"), Vec::<String>::new());
}

#[test]
fn a_copy_inside_the_workspace_does_not_copy_itself() {
    let dir = writer();
    dir.folder("work/temp");
    let ended = dir.run().args(["--scratch"]).env("TMPDIR", dir.path("work/temp")).end().code(0);
    assert!(ended.stdout().ends_with("\nas it was\n"));
    assert_eq!(dir.names("work"), ["file", "temp"]);
    assert_eq!(dir.names("work/temp"), Vec::<String>::new());
}

#[test]
fn a_workspace_whose_name_is_not_utf_8_does_not_hang() {
    let dir = writer();
    let name = OsStr::from_bytes(b"caf\xe9");
    if fs::create_dir(dir.path(name)).is_err() {
        // Some file systems have no such names.
        return;
    }
    let program = dir.program().args(["run", "batch.json", "--config", "tools", "--workspace"]);
    let ended = program.args([name]).end();
    assert!(matches!(ended.exit_code(), Some(0..=2)), "it ends in order");
}

#[test]
fn a_copy_is_thrown_away_also_if_the_program_is_killed() {
    let dir = Dir::new();
    dir.tool("long", "", "touch started; sleep 1000");
    dir.batch(&json!([{ "name": "long" }]));
    dir.folder("temp");
    let mut running = dir.run().args(["--scratch"]).env("TMPDIR", dir.path("temp")).start();
    let started = || {
        dir.names("temp").iter().any(|copy| dir.path("temp").join(copy).join("started").exists())
    };
    running.until("the tool runs", started);
    running.signal(Signal::KILL);
    running.end_whatever_is_left();
    until("the guard has cleaned up", || dir.names("temp").is_empty().then_some(()));
}
