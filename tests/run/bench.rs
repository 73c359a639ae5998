//! `bench`: a whole measurement of policies that work, fail or refuse.

use rustix::process::Signal;
use serde_json::{Value as Json, json};

use super::support::{Dir, Ended};

fn bench(dir: &Dir, args: &[&str]) -> Ended {
    dir.program().args(["bench", "--quick"]).args(args).end()
}

/// A field of each row.
fn column(rows: &Json, name: &str) -> Vec<u64> {
    let rows = rows.as_array().expect("rows");
    rows.iter().map(|row| row[name].as_u64().unwrap_or_else(|| panic!("{row}"))).collect()
}

#[test]
fn a_policy_that_works() {
    let dir = Dir::new();
    let file = dir.put("tests/hostile/log-escapes.wasm");
    let ended = bench(&dir, &[&file, "--format", "json"]).code(0);
    assert_eq!(ended.stderr(), "");
    let json = ended.json();
    assert_eq!((&json["format"], &json["version"]), (&json!("jp-policy.bench"), &json!(1)));
    let data = &json["data"];
    assert_eq!((&data["file"], &data["stopped"]), (&json!("log-escapes.wasm"), &json!(false)));
    let policy = &data["policy"];
    assert_eq!((&policy["name"], &policy["view"]), (&json!("log-escapes"), &json!("front")));
    let (calls, keys) = (&policy["by_calls"], &policy["by_keys"]);
    assert_eq!(column(calls, "calls"), [16, 100, 1_000, 10_000, 100_000]);
    assert_eq!(column(calls, "shown"), [16; 5]);
    assert_eq!(column(keys, "keys"), [1, 4, 16, 64, 256]);
    assert_eq!(column(keys, "shown"), [4, 16, 64, 256, 1_000]);
    // Counted, so the same on every machine.
    assert_eq!(column(calls, "instructions"), [867; 5]);
    assert_eq!(column(keys, "instructions"), [351, 867, 2_931, 11_187, 43_179]);
    for measured in [policy, &data["default"]] {
        for number in ["compile", "load_and_keep", "load_kept", "instance"] {
            assert!(measured[number]["nanoseconds"].as_u64() > Some(0), "{number}");
        }
        assert!(column(&measured["by_calls"], "samples").iter().all(|samples| *samples >= 1));
    }
}

#[test]
fn a_policy_that_fails_at_once() {
    let dir = Dir::new();
    let file = dir.put("tests/hostile/error.wasm");
    let ended = bench(&dir, &[&file]).code(1);
    assert_eq!(ended.stderr(), "");
    let shown = ended.stdout();
    let start = shown.find("\na decision").expect("decisions");
    insta::assert_snapshot!(shown[start..].trim_start(), @r"
    a decision, front view, 4 keys of limit 4 with all slots free
     waiting   shown  x inst x time   instructions     time   default inst     time
          16  it answered with an error: no key fits the lock
         100  not asked, because it failed with 16 calls and 4 keys
       1,000  not asked, because it failed with 16 calls and 4 keys
      10,000  not asked, because it failed with 16 calls and 4 keys
     100,000  not asked, because it failed with 16 calls and 4 keys

    a decision, 1,000 waiting calls
        keys   shown  x inst x time   instructions     time   default inst     time
           1  it answered with an error: no key fits the lock
           4  not asked, because it failed with 16 calls and 4 keys
          16  not asked, because it failed with 16 calls and 4 keys
          64  not asked, because it failed with 16 calls and 4 keys
         256  not asked, because it failed with 16 calls and 4 keys
    ");
}

#[test]
fn what_can_t_be_measured() {
    let dir = Dir::new();
    let refused = |args: &[&str]| {
        let ended = bench(&dir, args).code(2);
        assert_eq!(ended.stdout(), "");
        ended.stderr()
    };
    let delay = dir.put("policies/delay.wasm");
    insta::assert_snapshot!(refused(&[&delay, "--fields", "delay = \"soon\"\npace = 1"]), @r#"
    error: policy "delay" refuses field `pace`: unknown further field; this policy takes delay, from
     --> --fields:2:1
      |
    2 | pace = 1
      | ^^^^ refused

    error: policy "delay" refuses field `delay`: expected a duration like "2s" or "250ms" (a whole number and ns, us, ms, s, m or h), or a number of seconds
     --> --fields:1:1
      |
    1 | delay = "soon"
      | ^^^^^ refused

    jp-policy: the configuration has 2 errors
    "#);
    let traps = dir.put("tests/hostile/configure-traps.wasm");
    insta::assert_snapshot!(refused(&[&traps]), @r#"error: release policy "configure-traps" can't be used: it can't be configured: it trapped: wasm trap: wasm `unreachable` instruction executed"#);
    dir.write("text.wasm", "hello");
    insta::assert_snapshot!(refused(&["text.wasm"]), @"error: `text.wasm` is no policy: it is a text file, expected a WebAssembly component");
    insta::assert_snapshot!(refused(&["missing.wasm"]), @"error: failed to read policy `missing.wasm`: No such file or directory (os error 2)");
}

#[test]
fn an_interrupt_shows_what_was_measured() {
    let dir = Dir::new();
    let file = dir.put("tests/hostile/log-escapes.wasm");
    dir.folder("tmp");
    let program = dir.program().args(["bench", &file]).env("TMPDIR", dir.path("tmp"));
    let mut running = program.start();
    // It listens before it loads anything.
    running.until("the policy is loaded", || {
        dir.names("tmp").iter().any(|name| dir.has(&format!("tmp/{name}/policy")))
    });
    running.signal(Signal::INT);
    let ended = running.end().code(130);
    assert_eq!(ended.stderr(), "stopping; Ctrl-C again to stop at once\n");
    let shown = ended.stdout();
    assert!(shown.ends_with("\nstopped before the end\n"), "{shown}");
    assert!(shown.contains("\n     256  stopped\n"), "{shown}");
    assert_eq!(dir.names("tmp"), Vec::<String>::new());
}
