//! `new`: what it writes, what it says, and that nothing is overwritten.

use super::support::{Dir, files};

#[test]
fn a_project_and_what_to_do_next() {
    let dir = Dir::new();
    let ended = dir.program().args(["new", "my-policy"]).end().code(0);
    assert_eq!(ended.stderr(), "");
    insta::assert_snapshot!(ended.stdout(), @r#"
    wrote my-policy, a release policy in Rust:

      .gitignore
      Cargo.toml
      README.md
      scenarios/         3 files
      sdk/               10 files
      src/               2 files

    next:

      jp-policy build my-policy
      jp-policy check my-policy/my-policy.wasm

    its unit tests: cd my-policy && cargo test
    "#);
    let ended = dir.program().args(["new", "a/b c/mine", "--lang", "c"]).end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    wrote a/b c/mine, a release policy in C:

      .gitignore
      README.md
      bindings/          4 files
      policy.c
      requirements.txt
      scenarios/         3 files
      test_policy.c

    next:

      jp-policy build 'a/b c/mine'
      jp-policy check 'a/b c/mine/mine.wasm'

    its unit tests: cd 'a/b c/mine' && cc -std=c2x -Ibindings test_policy.c -o test_policy && ./test_policy
    "#);
}

#[test]
fn nothing_is_overwritten() {
    let dir = Dir::new();
    dir.write("mine/notes.txt", "mine");
    let ended = dir.program().args(["new", "mine"]).end().code(2);
    insta::assert_snapshot!(ended.stderr(), @r#"
    error: `mine` is a folder that is not empty: nothing there is overwritten
           
           hint: choose another name, or remove what is there
    "#);
    assert_eq!(files(&dir.path("mine")).len(), 1);
    dir.write("file", "mine");
    let ended = dir.program().args(["new", "file"]).end().code(2);
    insta::assert_snapshot!(ended.stderr(), @r#"
    error: `file` is there, and no folder: nothing there is overwritten
           
           hint: choose another name, or remove what is there
    "#);
    assert_eq!(dir.read("file"), "mine");
    // Somebody may have made the folder for it.
    dir.folder("empty");
    dir.program().args(["new", "empty"]).end().code(0);
    assert!(dir.has("empty/src/lib.rs"));
}

#[test]
fn what_is_no_name_or_not_there() {
    let dir = Dir::new();
    let said = |args: &[&str]| dir.program().args(["new"]).args(args).end().code(2).stderr();
    insta::assert_snapshot!(said(&["My_Policy"]), @r#"
    error: "My_Policy" is no name for a policy: expected at most 64 lower-case letters, digits and single dashes, a letter first, as in `my-policy`
    "#);
    insta::assert_snapshot!(said(&[".."]), @"error: `..` has no name for a policy, as in `my-policy`");
    insta::assert_snapshot!(said(&["mine", "--lang", "python", "--from", "cap"]), @r#"
    error: policy `cap` is there in Rust only
           
           hint: `--from delay` starts in Python, and `--lang python` alone from the default rules
    "#);
    insta::assert_snapshot!(said(&["mine", "--lang", "ruby"]), @r#"
    error: invalid value 'ruby' for '--lang <LANG>'
      [possible values: rust, javascript, python, c]

    For more information, try '--help'.
    "#);
    assert_eq!(dir.names("work"), Vec::<String>::new());
    assert!(!dir.has("mine"));
}
