//! `build`: what is said of a policy that was built, of one that can't be, and that `--watch` sees changes. The tools are played by
//! scripts; `from_nothing` has the real ones.

use std::{fs, os::unix::fs::PermissionsExt as _};

use rustix::process::Signal;

use super::support::{Dir, Program, Running, path, repository};

/// Plays componentize-qjs: what it makes of any source is `policy.wasm` beside the project, unless the source is broken.
const TOOL: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = --output ] && out=$2
    shift
done
if grep -q broken policy.js; then
    echo "SyntaxError: expected a policy"
    exit 1
fi
cp ../policy.wasm "$out"
"#;

/// A policy in JavaScript in `mine`.
fn project(policy: &str) -> Dir {
    let dir = Dir::new();
    dir.write("mine/policy.js", "// a policy");
    script(&dir, "mine/node_modules/.bin/componentize-qjs", TOOL);
    script(&dir, "bin/node", "#!/bin/sh\n");
    dir.write("mine/node_modules/package.json", r#"{"version": "0.0.1"}"#);
    becomes(&dir, policy);
    dir
}

fn script(dir: &Dir, path: &str, text: &str) {
    dir.write(path, text);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(dir.path(path), executable).expect("it is ours");
}

fn becomes(dir: &Dir, policy: &str) {
    dir.write("policy.wasm", fs::read(repository(policy)).expect("it is checked in"));
}

fn build(dir: &Dir, args: &[&str]) -> Program {
    let mut paths = vec![dir.path("bin")];
    paths.extend(std::env::split_paths(&path()));
    let path = std::env::join_paths(paths).expect("they can be joined");
    dir.program().args(["build", "--no-cache"]).args(args).env("PATH", path)
}

/// Without what differs from run to run.
fn masked(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(" (") {
        Some((before, time)) if time.ends_with("s)") => format!("{before} ([TIME])\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn what_was_built_and_how_it_is_used() {
    let dir = project("tests/hostile/tame.wasm");
    let ended = build(&dir, &["mine", "--no-test"]).end().code(0);
    insta::assert_snapshot!(ended.stdout(), @r#"
    wrote      mine/mine.wasm
    size       5,129 bytes
    imports    none
    digest     sha256:5b24eca02bb1ba8301fbdd8ef3a450cfdee733f85d43a2e600db0a0f1154e190
    built by   componentize-qjs 0.0.1

    to use it, at the top of a configuration file that stands here:

    conversation.release.policy = "mine"
    plugins.wasm.mine.path = "mine/mine.wasm"
    plugins.wasm.mine.checksum = "sha256:5b24eca02bb1ba8301fbdd8ef3a450cfdee733f85d43a2e600db0a0f1154e190"
    "#);
    insta::assert_snapshot!(dir.read("mine/mine.built.toml"), @r#"
    # What the component beside this was built with. Written by `jp-policy build`.
    compiler = "componentize-qjs 0.0.1"
    encoder = "componentize-qjs 0.0.1"
    digest = "sha256:5b24eca02bb1ba8301fbdd8ef3a450cfdee733f85d43a2e600db0a0f1154e190"
    "#);
    assert_eq!(fs::read(dir.path("mine/mine.wasm")).ok(), fs::read(dir.path("policy.wasm")).ok());
    let ended = build(&dir, &["mine", "--no-test", "--out", "there/it is"]).end().code(0);
    assert!(ended.stdout().contains("path = \"there/it is/mine.wasm\"\n"), "{}", ended.stdout());
    let ended = build(&dir, &["mine", "--check"]).end().code(0);
    insta::assert_snapshot!(ended.stdout(), @"mine.wasm: its source builds; not compared, because componentize-qjs 0.0.1 makes other bytes each time");
}

#[test]
fn a_policy_that_goes_wrong_is_said_to() {
    let dir = project("tests/hostile/twice.wasm");
    let scenario = "title = \"It starts\"\n[conversation.tools.t]\n[[call]]\nname = \"A\"\ntool = \"t\"\n[expect]\nfaults = []\n";
    dir.write("mine/scenarios/starts.toml", scenario);
    let ended = build(&dir, &["mine"]).end().code(1);
    insta::assert_snapshot!(ended.stdout(), @r#"
    wrote      mine/mine.wasm
    policy     twice
    size       5,134 bytes
    imports    none
    digest     sha256:b747a4e9d75d232d6490fc6583ca3e9d97dafa1514fe0082bc782db8c6de1bfe
    built by   componentize-qjs 0.0.1
    failed  mine/scenarios/starts.toml  It starts
      faults
        expected  nothing
        actual    invalid-decision

           0s             200ms          400ms          600ms          800ms             waited  ran
      1 A  ████████████████████████████████████████████████████████████████████████████           1s  ok
      fault: policy "twice" released call 0, which stands in the answer twice

    scenarios  0 passed, 1 failed
    check      refuted: at 1s it released call A, which stands in the answer twice
               the smallest batch has 1 call: see it with `jp-policy simulate mine/refuted.toml`
    "#);
    assert!(dir.has("mine/refuted.toml"));
}

#[test]
fn what_can_not_be_built() {
    let dir = project("tests/hostile/garbage.wasm");
    let said = |args: &[&str]| build(&dir, args).end().code(2).stderr();
    insta::assert_snapshot!(said(&["mine"]), @"error: policy `mine.wasm` can't be compiled: failed to parse WebAssembly module: cannot define array types when gc types are disabled (at offset 0x16)");
    dir.write("mine/policy.js", "broken");
    insta::assert_snapshot!(said(&["mine"]), @r#"
    error: `[DIR]/mine/node_modules/.bin/componentize-qjs` failed (exit status: 1)
             SyntaxError: expected a policy
    "#);
    insta::assert_snapshot!(said(&["tools"]), @r#"
    error: `tools` is no policy: it has none of `Cargo.toml`, `policy.js`, `policy.py`, `policy.c`
           
           hint: `jp-policy new NAME` writes a policy to start from
    "#);
    insta::assert_snapshot!(said(&["nowhere"]), @"error: failed to access `nowhere`: No such file or directory (os error 2)");
    insta::assert_snapshot!(said(&["mine", "--options", "a = "]), @r#"
    error: `--options` is not valid TOML: string values must be quoted, expected literal string
     --> --options:1:5
      |
    1 | a = 
      |     ^ here

    jp-policy: the configuration has 1 error
    "#);
}

#[test]
fn what_is_missing_and_the_command_that_installs_it() {
    let dir = Dir::new();
    let said = |folder: &str| {
        let bare = dir.program().args(["build", folder]).env("PATH", dir.path("bin"));
        bare.end().code(2).stderr()
    };
    for (folder, file) in [("js", "policy.js"), ("my python", "policy.py"), ("c", "policy.c")] {
        dir.write(&format!("{folder}/{file}"), "");
    }
    insta::assert_snapshot!(said("js"), @r#"
    error: `node` is missing, which runs what makes components of JavaScript; `componentize-qjs` is missing, which makes components of JavaScript
           
           hint: install Node.js 18 or later from https://nodejs.org, then: npm install --prefix js --save-dev --save-exact componentize-qjs@0.4.5
    "#);
    insta::assert_snapshot!(said("my python"), @r#"
    error: `python3` is missing; `componentize-py` is missing, which makes components of Python
           
           hint: install Python 3.10 or later from https://www.python.org, then: python3 -m venv 'my python/.venv' && 'my python/.venv/bin'/pip install componentize-py==0.25.1
    "#);
    insta::assert_snapshot!(said("c"), @r#"
    error: `python3` is missing; no C compiler here has a C library for WebAssembly: neither `zig`, nor a `clang` with wasi-libc
           
           hint: install Python 3.10 or later from https://www.python.org, then: python3 -m venv c/.venv && c/.venv/bin/pip install ziglang==0.17.1
    "#);
    // With what is there: only what is missing.
    for program in ["node", "python3", "apt-get"] {
        script(&dir, &format!("bin/{program}"), "#!/bin/sh\n");
    }
    insta::assert_snapshot!(said("js"), @r#"
    error: `componentize-qjs` is missing, which makes components of JavaScript
           
           hint: npm install --prefix js --save-dev --save-exact componentize-qjs@0.4.5
    "#);
    insta::assert_snapshot!(said("my python"), @r#"
    error: `componentize-py` is missing, which makes components of Python
           
           hint: python3 -m venv 'my python/.venv' && 'my python/.venv/bin'/pip install componentize-py==0.25.1
    "#);
    insta::assert_snapshot!(said("c"), @r#"
    error: no C compiler here has a C library for WebAssembly: neither `zig`, nor a `clang` with wasi-libc
           
           hint: python3 -m venv c/.venv && c/.venv/bin/pip install ziglang==0.17.1
    "#);
    script(&dir, "bin/python3", "#!/bin/sh\nexit 1\n");
    insta::assert_snapshot!(said("c"), @r#"
    error: Python's `venv` is missing; no C compiler here has a C library for WebAssembly: neither `zig`, nor a `clang` with wasi-libc
           
           hint: apt-get install --no-install-recommends python3 python3-venv && python3 -m venv c/.venv && c/.venv/bin/pip install ziglang==0.17.1
    "#);
}

/// Waits until it has said so often that it waits.
fn until_waiting(dir: &Dir, running: &mut Running, times: usize) {
    running.until(&format!("the end of round {times}"), || {
        dir.read("stderr").matches("waiting for a change").count() >= times
    });
}

/// Writes a file of the project at one stroke: between the two of a plain write a busy machine may see it empty, which is a change too.
fn at_once(dir: &Dir, name: &str, text: &str) {
    dir.write(name, text);
    fs::rename(dir.path(name), dir.path("mine").join(name)).expect("it can be moved");
}

#[test]
fn a_change_is_seen_built_and_tried_out() {
    let dir = project("tests/hostile/twice.wasm");
    let mut running = build(&dir, &["mine", "--watch"]).start();
    until_waiting(&dir, &mut running, 1);
    // A build that fails is no end.
    at_once(&dir, "policy.js", "broken");
    until_waiting(&dir, &mut running, 2);
    // Neither what is written without a change nor what tools install is one.
    at_once(&dir, "policy.js", "broken");
    dir.write("mine/node_modules/other/index.js", "new");
    becomes(&dir, "tests/hostile/forgets.wasm");
    // A file in a folder that was not there is.
    dir.write("lib/more.js", "1");
    fs::rename(dir.path("lib"), dir.path("mine/lib")).expect("it can be moved");
    until_waiting(&dir, &mut running, 3);
    at_once(&dir, "policy.js", "// a policy again");
    until_waiting(&dir, &mut running, 4);
    running.signal(Signal::INT);
    let ended = running.end().code(130);
    insta::assert_snapshot!(masked(&ended.stdout()), @r#"
    built mine/mine.wasm, 5134 bytes; scenarios: none; check: refuted: at 1s it released call A, which stands in the answer twice
               the smallest batch has 1 call: see it with `jp-policy simulate mine/refuted.toml` ([TIME])
    built mine/mine.wasm, 5194 bytes; scenarios: none; check: refuted: at 1s it stalled: call C is parked, nothing runs, nobody is asked and no wake-up is set
               the smallest batch has 3 calls: see it with `jp-policy simulate mine/refuted.toml` ([TIME])
    "#);
    insta::assert_snapshot!(ended.stderr(), @r#"
    waiting for a change (Ctrl-C to end)
    error: `[DIR]/mine/node_modules/.bin/componentize-qjs` failed (exit status: 1)
             SyntaxError: expected a policy
    waiting for a change (Ctrl-C to end)
    error: `[DIR]/mine/node_modules/.bin/componentize-qjs` failed (exit status: 1)
             SyntaxError: expected a policy
    waiting for a change (Ctrl-C to end)
    waiting for a change (Ctrl-C to end)
    "#);
}
