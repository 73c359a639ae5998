//! `inspect`: what is shown of policies, and of files that are none.

use std::fs;

use super::support::{Dir, Ended};

fn inspect(dir: &Dir, args: &[&str]) -> Ended {
    dir.program().args(["inspect", "--no-cache"]).args(args).end()
}

/// Without what differs from run to run or from machine to machine: times, and the size of compiled code.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        if let Some((start, _)) = line.split_once(", compiled ") {
            line = format!("{start}, compiled [N]");
        }
        if ["start ", "name ", "configure ", "question "].iter().any(|step| line.starts_with(step))
        {
            let end = line.trim_end().rsplit_once(' ').map_or("", |(rest, _)| rest).trim_end();
            let end = end.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            line = format!("{}  [TIME]", end.trim_end());
        }
        out += &line;
        out.push('\n');
    }
    out
}

#[test]
fn a_policy() {
    let dir = Dir::new();
    let file = dir.put("tests/hostile/log-escapes.wasm");
    let ended = inspect(&dir, &[&file]).code(0);
    assert_eq!(ended.stderr(), "");
    insta::assert_snapshot!(masked(&ended.stdout()), @r"
    log-escapes  log-escapes.wasm

    loads    yes
    contract jp:plugin 0.1.0
    digest   sha256:4dee8e0cd2107b2bfc5f72f955995ce4393ff45261b70d755ee0d39ab91847ff
    size     5,948 bytes, compiled [N]
    sections type 1,408, custom component-name 959, export 559, code 535, custom name 528, import 525,
             instance 409, alias 289, custom producers 188, core instance 62, data 60,
             canonical function 43, global 38, function 24, element 7, table 5, memory 3
    made by  wit-component 0.254.2
    exports  jp:plugin/plugin@0.1.0
             jp:plugin/release-policy@0.1.0
    imports  jp:host/log@0.1.0

    asked
    view     front
    reasons  none of its own
    first    releases 2 of 2 calls, one with a key and one without
    fields   any, even a name that it can't know: a typo would be silent
    options  any, even a name that it can't know: a typo would be silent

    cost       instructions        of budget       time
    start                 1    1,000,000,000  [TIME]
    name                  8    1,000,000,000  [TIME]
    configure           237    1,000,000,000  [TIME]
    question            265      500,000,000  [TIME]
    memory          131,072       67,108,864 bytes at most
    tables                1          100,000 elements
    ");
}

#[test]
fn what_a_policy_takes_is_found() {
    let dir = Dir::new();
    let file = dir.put("policies/delay.wasm");
    let json = inspect(&dir, &[&file, "--format", "json"]).code(0).json();
    assert_eq!((&json["format"], &json["version"]), (&"jp-policy.inspect".into(), &1.into()));
    let data = &json["data"];
    assert_eq!(
        serde_json::json!([data["file"], data["loads"], data["serves"], data["refusal"]]),
        serde_json::json!(["delay.wasm", true, true, null])
    );
    let policy = &data["policy"];
    assert_eq!(
        serde_json::json!([policy["name"], policy["contract"], policy["view"], policy["reasons"]]),
        serde_json::json!(["delay", "0.1.0", "front", true])
    );
    assert_eq!(policy["first_question"], serde_json::json!({ "release": [0, 1], "wake_at": null }));
    assert_eq!(
        policy["fields"]["names"],
        serde_json::json!([
            {
                "name": "delay",
                "values": ["text", "integer", "number"],
                "says": "expected a duration like \"2s\" or \"250ms\" (a whole number and ns, us, ms, s, m or h), or a number of seconds",
            },
            { "name": "from", "values": ["\"end\"", "\"start\""], "says": "expected \"end\" or \"start\"" },
        ])
    );
    assert_eq!(
        policy["fields"]["unknown_says"],
        "unknown further field; this policy takes delay, from"
    );
    assert_eq!(policy["options"]["names"], serde_json::json!([]));
    assert_eq!(policy["options"]["unknown_says"], "unknown option; this policy takes none");
    let steps: Vec<_> = policy["cost"].as_array().expect("steps").iter().collect();
    let names: Vec<_> = steps.iter().map(|step| step["step"].as_str()).collect();
    assert_eq!(names, ["start", "name", "configure", "question"].map(Some));
    for step in steps {
        let (spent, budget) = (step["instructions"].as_u64(), step["budget"].as_u64());
        assert!(spent > Some(0) && spent < budget, "{step}");
    }
    let sections = data["sections"].as_array().expect("sections");
    let bytes: u64 = sections.iter().filter_map(|section| section["bytes"].as_u64()).sum();
    assert!(0 < bytes && Some(bytes) < data["bytes"].as_u64(), "{bytes}");
    assert_eq!(sections[0]["name"], "code");
}

#[test]
fn fields_of_its_own_are_given_and_shown_where_they_are_wrong() {
    let dir = Dir::new();
    let file = dir.put("policies/delay.wasm");
    let ended = inspect(&dir, &[&file, "--fields", "dleay = 1", "--format", "json"]).code(0);
    let policy = &ended.json()["data"]["policy"];
    assert_eq!(policy["view"], serde_json::Value::Null);
    assert_eq!(policy["refused"]["problems"][0]["field"], "dleay");
    let ended = inspect(&dir, &[&file, "--fields", "delay = ", "--options", "limit = 1"]).code(2);
    assert_eq!(ended.stdout(), "");
    insta::assert_snapshot!(ended.stderr(), @r"
    error: `--fields` is not valid TOML: string values must be quoted, expected literal string
     --> --fields:1:9
      |
    1 | delay = 
      |         ^ here

    jp-policy: the configuration has 1 error
    ");
}

#[test]
fn a_policy_that_fails_is_shown_as_far_as_it_goes() {
    let dir = Dir::new();
    let file = dir.put("tests/hostile/configure-traps.wasm");
    let ended = inspect(&dir, &[&file]).code(1);
    insta::assert_snapshot!(masked(&ended.stdout()), @r"
    configure-traps  configure-traps.wasm

    loads    yes, but serves no batch
             when it is configured it trapped: wasm trap: wasm `unreachable` instruction executed
    contract jp:plugin 0.1.0
    digest   sha256:9675e2da1a0c481dd95a3d8f1926ea4d22968e1301eba6e8ecb7bc4623e708f8
    size     5,122 bytes, compiled [N]
    sections type 1,312, custom component-name 693, export 543, custom name 506, code 474, import 455,
             instance 409, alias 260, custom producers 94, global 38, canonical function 35, data 22,
             function 22, core instance 4, memory 3
    made by  wit-component 0.254.2
    exports  jp:plugin/plugin@0.1.0
             jp:plugin/release-policy@0.1.0
    imports  none

    asked
    reasons  none of its own
    fields   not known: given a name that it can't know it trapped: wasm trap: wasm `unreachable`
             instruction executed
    options  not known: given a name that it can't know it trapped: wasm trap: wasm `unreachable`
             instruction executed

    cost       instructions        of budget       time
    start                 0    1,000,000,000  [TIME]
    name                  8    1,000,000,000  [TIME]
    configure           225    1,000,000,000  [TIME]
    memory          131,072       67,108,864 bytes at most
    tables                0          100,000 elements
    ");
    let file = dir.put("tests/hostile/error.wasm");
    let ended = inspect(&dir, &[&file, "--format", "json"]).code(0);
    let policy = &ended.json()["data"]["policy"];
    assert_eq!(policy["first_question"]["fault"], "error");
    assert_eq!(policy["fields"]["unknown"], "taken");
}

#[test]
fn nothing_that_a_policy_says_drives_the_terminal() {
    let dir = Dir::new();
    for name in ["name-escapes", "configure-refuses", "error-escapes"] {
        let file = dir.put(&format!("tests/hostile/{name}.wasm"));
        let shown = inspect(&dir, &[&file]).code(0).stdout();
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    }
}

#[test]
fn what_does_not_load_is_shown_as_far_as_it_can_be_read() {
    let dir = Dir::new();
    dir.put("tests/hostile/forgets.wasm");
    let whole = fs::read(dir.path("forgets.wasm")).expect("it was written");
    dir.write("cut.wasm", &whole[..300]);
    insta::assert_snapshot!(inspect(&dir, &["cut.wasm"]).code(1).stdout(), @r"
    cut.wasm

    loads    no
      policy `cut.wasm` can't be compiled: failed to parse WebAssembly module: wasm component contains
        an invalid module section: section range 11..1523 is out of bounds (bound = 300)

    digest   sha256:5d6fea9e40798f950de3990840ac7ba0a2e6c821d6538c1bb753abee84985050
    size     300 bytes
    sections type 56, global 38, function 22, memory 3
             can't be read further: unexpected end-of-file (at byte 149)
    exports  none
    imports  none
    ");
    dir.write("text.wasm", "hello\n");
    insta::assert_snapshot!(inspect(&dir, &["text.wasm"]).code(1).stdout(), @r"
    text.wasm

    loads    no
      `text.wasm` is no policy: it is a text file, expected a WebAssembly component

    digest   sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
    size     6 bytes
    ");
    dir.folder("folder");
    insta::assert_snapshot!(inspect(&dir, &["folder"]).code(1).stdout(), @r"
    folder

    loads    no
      `folder` is no policy: it is a folder, expected a WebAssembly component
    ");
    insta::assert_snapshot!(inspect(&dir, &["missing.wasm"]).code(1).stdout(), @r"
    missing.wasm

    loads    no
      failed to read policy `missing.wasm`: No such file or directory (os error 2)
    ");
}

#[test]
fn a_module_that_wants_wasi_is_told_its_cure() {
    let dir = Dir::new();
    let module =
        r#"(module $m (import "wasi_snapshot_preview1" "fd_write" (func)) (@custom "x" "TinyGo"))"#;
    dir.write("go.wasm", wat::parse_str(module).expect("it parses"));
    insta::assert_snapshot!(inspect(&dir, &["go.wasm"]).code(1).stdout(), @r"
    go.wasm

    loads    no
      `go.wasm` is no policy: it is a core WebAssembly module (make it a component: `wasm-tools
        component new`), expected a WebAssembly component

      hint: a policy has no file, network, clock, environment or random number, so WASI is not there

      hint: Go: make the component with a stub adapter: `wasm-tools component new --adapt
        wasi_snapshot_preview1=stub.wasm`

    digest   sha256:19bb6a3499a38c74d5a50ef039dfcd1536f6b61ccedcf3a958d85112e5f2c103
    size     72 bytes
    sections import 35, custom name 9, custom x 8, type 4
    exports  none
    imports  wasi_snapshot_preview1  (WASI, which the host does not have)
    ");
    let json = inspect(&dir, &["go.wasm", "--format", "json"]).code(1).json();
    let imports =
        serde_json::json!([{ "name": "wasi_snapshot_preview1", "wasi": true, "offered": false }]);
    assert_eq!(json["data"]["imports"], imports);
}

#[test]
fn a_component_that_wants_wasi_is_told_its_cure() {
    let dir = Dir::new();
    let component = r#"(component
        (import "wasi:clocks/wall-clock@0.2.6" (instance (export "now" (func (result u64)))))
        (import "other:thing/it" (instance)))"#;
    dir.write("wasi.wasm", wat::parse_str(component).expect("it parses"));
    let shown = inspect(&dir, &["wasi.wasm"]).code(1).stdout();
    insta::assert_snapshot!(masked(&shown), @r"
    wasi.wasm

    loads    no
      policy `wasi.wasm` does not fit the host
        it imports what the host does not have:
          wasi:clocks/wall-clock@0.2.6
          other:thing/it
        it does not export what the host needs:
          jp:plugin/plugin@0.1.0
          jp:plugin/release-policy@0.1.0

      hint: a policy has no file, network, clock, environment or random number, so WASI is not there

      hint: Python: build with `componentize-py ... componentize --stub-wasi`
        JavaScript: build with `componentize-qjs --stub-wasi`
        JavaScript: build with `componentize-js -d stdio random clocks http fetch-event`, or with
          componentize-qjs and `--stub-wasi`
        Rust: build for wasm32-unknown-unknown instead of a WASI target; `jp-policy build` does
        Go: make the component with a stub adapter: `wasm-tools component new --adapt
          wasi_snapshot_preview1=stub.wasm`
        C: build for wasm32-unknown-unknown without a libc, or with `zig cc`, so that nothing of WASI is
          linked

      hint: a release policy exports the interfaces of `wit/jp-plugin-0.1.0`, world
        `release-policy-plugin`

    digest   sha256:721af58a9bd23f4e54244378a09e74e93c545a7be3dc7dfbcc95ddd1ec2e5c15
    size     87 bytes, compiled [N]
    sections import 52, type 19
    exports  none
    imports  wasi:clocks/wall-clock@0.2.6  (WASI, which the host does not have)
             other:thing/it  (which the host does not have)
    ");
}
