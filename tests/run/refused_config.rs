//! Configurations and policies that can't be used, each shown with its place.

use super::refusals::{fine, refusal, refused};

#[test]
fn a_configuration_that_is_not_there() {
    let dir = fine();
    let args = ["batch.json", "--config", "tool", "--workspace", "work"];
    insta::assert_snapshot!(refused(&dir, &args), @"
    error: failed to read configuration `tool`: No such file or directory (os error 2)

    jp-policy: the configuration has 1 error
    ");
}

#[test]
fn a_configuration_folder_without_files() {
    let dir = fine();
    dir.write("work/tools.txt", "");
    let args = ["batch.json", "--config", "work", "--workspace", "work"];
    insta::assert_snapshot!(refused(&dir, &args), @"
    error: no configuration in folder `work`: it has no file that ends in .toml, .json, .json5, .yaml, .yml

    jp-policy: the configuration has 1 error
    ");
}

#[test]
fn a_configuration_that_is_not_utf_8() {
    let dir = fine();
    dir.write("tools/latin.toml", b"# caf\xe9\n");
    insta::assert_snapshot!(refusal(&dir, dir.run()), @"
    error: failed to read configuration `tools/latin.toml`: not UTF-8 (byte 5)

    jp-policy: the configuration has 1 error
    ");
}

#[test]
fn a_configuration_that_is_not_toml() {
    let dir = fine();
    dir.write("tools/wrong.toml", "[conversation.tools.b]\ncommand = true false\n");
    insta::assert_snapshot!(refusal(&dir, dir.run()), @"
    error: `tools/wrong.toml` is not valid TOML: string values must be quoted, expected literal string
     --> tools/wrong.toml:2:11
      |
    2 | command = true false
      |           ^^^^^^^^^^ here

    jp-policy: the configuration has 1 error
    ");
}

#[test]
fn two_problems_of_a_configuration_are_shown_together() {
    let dir = fine();
    dir.write(
        "tools/first.toml",
        "[conversation.tools.first]\ncommand = \"true\"\nrun = \"unatended\"\n",
    );
    dir.write(
        "tools/second.toml",
        "[conversation.tools.second]\ncommand = \"true\"\nconcurrency = -1\n",
    );
    insta::assert_snapshot!(refusal(&dir, dir.run()), @r#"
    error: tool `first`: `run` is "unatended", expected one of "ask", "unattended", "edit", "skip"
     --> tools/first.toml:3:7
      |
    3 | run = "unatended"
      |       ^^^^^^^^^^^ not one of these
      |
      = help: did you mean "unattended"?

    error: tool `second`: `concurrency` is -1, expected a whole number from 0 to 4294967295
     --> tools/second.toml:3:15
      |
    3 | concurrency = -1
      |               ^^ negative
      |
      = help: 0 lifts the limit

    jp-policy: the configuration has 2 errors
    "#);
}

#[test]
fn tools_that_disagree_about_a_key() {
    let dir = fine();
    dir.settings("one", "command = \"true\"\nconcurrency = { key = \"disk\", limit = 2 }");
    dir.settings("two", "command = \"true\"\nconcurrency = { key = \"disk\" }");
    insta::assert_snapshot!(refusal(&dir, dir.run()), @r#"
    error: the tools of key "disk" disagree about its limit: `one` has { key = "disk", limit = 2 }, `two` has { key = "disk", limit = 1 }
     --> tools/one.toml:3:15
      |
    3 | concurrency = { key = "disk", limit = 2 }
      |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^ tool `one`: { key = "disk", limit = 2 }
      |
     ::: tools/two.toml:3:15
      |
    3 | concurrency = { key = "disk" }
      |               ---------------- tool `two`: { key = "disk", limit = 1 }
      |
      = help: give all of them the same value; to lift the limit of one tool alone, set `concurrency = 0` for it

    jp-policy: the configuration has 1 error
    "#);
}

#[test]
fn a_field_that_the_policy_does_not_take() {
    let dir = fine();
    dir.settings("one", "command = \"true\"\nconcurrency = { key = \"disk\", delay = \"2s\" }");
    insta::assert_snapshot!(refusal(&dir, dir.run()), @r#"
    error: release policy "default" refuses field `delay` of key "disk": unknown further field; this policy takes none
     --> tools/one.toml:3:31
      |
    3 | concurrency = { key = "disk", delay = "2s" }
      |                               ^^^^^ tool `one`

    jp-policy: the configuration has 1 error
    "#);
}

#[test]
fn a_policy_that_is_not_there() {
    let dir = fine();
    insta::assert_snapshot!(refusal(&dir, dir.run().args(["--policy", "missing.wasm"])), @"error: failed to read policy `missing.wasm`: No such file or directory (os error 2)");
}

#[test]
fn a_policy_that_is_something_else() {
    let dir = fine();
    dir.write("empty.wasm", "");
    dir.write("text.wasm", "(component)");
    dir.write("picture.wasm", b"\x89PNG\r\n\x1a\n\0\0\0\r\xff");
    dir.write("core.wasm", b"\0asm\x01\0\0\0");
    let said = ["empty", "text", "picture", "core"]
        .map(|name| refusal(&dir, dir.run().args(["--policy", &format!("{name}.wasm")])))
        .concat();
    insta::assert_snapshot!(said, @"
    error: `empty.wasm` is no policy: it is an empty file, expected a WebAssembly component
    error: `text.wasm` is no policy: it is a text file, expected a WebAssembly component
    error: `picture.wasm` is no policy: it is not WebAssembly, expected a WebAssembly component
    error: `core.wasm` is no policy: it is a core WebAssembly module (make it a component: `wasm-tools component new`), expected a WebAssembly component
    ");
    insta::assert_snapshot!(refusal(&dir, dir.run().args(["--policy", "work"])), @"error: `work` is no policy: it is a folder, expected a WebAssembly component");
}

#[test]
fn a_configured_policy_with_another_checksum() {
    let dir = fine();
    dir.write("tools/policy.wasm", jp_policy_wasm::DEFAULT);
    let zeros = "0".repeat(64);
    dir.write("tools/release.toml", format!("conversation.release.policy = \"mine\"\n[plugins.wasm.mine]\npath = \"policy.wasm\"\nchecksum = \"sha256:{zeros}\"\n"));
    let said = refusal(&dir, dir.run());
    let (before, digest) = said.split_once("it has sha256:").expect("it names the digest");
    let (digest, after) = digest.split_at(64);
    assert!(digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
    insta::assert_snapshot!(format!("{before}it has sha256:[DIGEST]{after}"), @"error: policy `tools/policy.wasm` is not the one that was pinned: it has sha256:[DIGEST], expected sha256:0000000000000000000000000000000000000000000000000000000000000000");
}

#[test]
fn a_configured_policy_that_may_not_run() {
    let dir = fine();
    dir.write("tools/release.toml", "conversation.release.policy = \"mine\"\n[plugins.wasm.mine]\npath = \"policy.wasm\"\nrun = \"deny\"\n");
    insta::assert_snapshot!(refusal(&dir, dir.run()), @r#"error: policy plugin `mine` may not run: `plugins.wasm.mine.run` is "deny""#);
}
