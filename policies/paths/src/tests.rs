use jp_policy_guest::{Field, Instant, Key, Tool, Value};
use proptest::{collection::vec, prelude::*, sample};

use super::*;

/// Tool 0 is `read`, and only reads; tool 1 is `write`.
pub(crate) fn configured(
    limits: &[u32],
    options: Vec<(&str, Value)>,
) -> Result<Paths, Vec<Problem>> {
    let keys = limits.iter().map(|limit| Key { name: "fs".into(), limit: *limit, fields: vec![] });
    let tool = |name: &str| Tool { name: name.to_owned(), key: Some(0) };
    let options =
        options.into_iter().map(|(name, value)| Field { name: name.to_owned(), value }).collect();
    let tools = vec![tool("read"), tool("write")];
    Paths::configure(Settings { tools, keys: keys.collect(), options })
}

pub(crate) fn json(json: &str) -> Value {
    Value::Json(json.to_owned())
}

fn policy(limit: u32) -> Paths {
    configured(&[limit], vec![("reads", json(r#"["read"]"#))]).expect("all of it is known")
}

const READ: u32 = 0;
const WRITE: u32 = 1;

fn call(id: CallId, tool: u32, state: State) -> Call {
    Call { id, parent: id, tool, key: Some(0), state, since: 0 }
}

fn batch(now: Instant, calls: Vec<Call>) -> Batch {
    let count =
        |states: &[State]| calls.iter().filter(|call| states.contains(&call.state)).count() as u32;
    let (running, waiting) = (count(&[State::Running]), count(&[State::Parked, State::Pending]));
    let (last_release, last_end) = (None, None);
    let usage = Usage { key: 0, running, waiting, ended: 0, failed: 0, last_release, last_end };
    Batch { now, running, keys: vec![usage], calls }
}

/// What is released of parked calls with these tools and paths.
fn released(limit: u32, of: &[(u32, &str)]) -> Vec<CallId> {
    let calls = (0..).zip(of).map(|(id, (tool, _))| call(id, *tool, State::Parked)).collect();
    policy(limit)
        .decide(&batch(0, calls), &|id| Some(format!(r#"{{"path": {:?}}}"#, of[id as usize].1)))
}

#[test]
fn writes_of_one_path_exclude_each_other_and_others_do_not() {
    assert_eq!(released(9, &[(WRITE, "a"), (WRITE, "b"), (WRITE, "a"), (WRITE, "ab")]), [0, 1, 3]);
}

#[test]
fn reads_share_and_wait_for_writes_as_writes_for_reads() {
    let of = [(READ, "a"), (READ, "a"), (WRITE, "a"), (READ, "a"), (READ, "b")];
    assert_eq!(released(9, &of), [0, 1, 4]);
}

#[test]
fn a_folder_is_all_that_is_in_it() {
    assert_eq!(released(9, &[(WRITE, "a/b"), (WRITE, "a"), (WRITE, "a/c"), (WRITE, "d")]), [0, 3]);
    assert_eq!(released(9, &[(READ, "a"), (WRITE, "a/b/c"), (READ, "a/b")]), [0]);
    assert_eq!(released(9, &[(WRITE, "a/b"), (WRITE, "."), (READ, "c")]), [0]);
    assert_eq!(released(9, &[(WRITE, "/"), (WRITE, "/c")]), [0]);
}

#[test]
fn relative_and_absolute_may_be_the_same() {
    assert_eq!(released(9, &[(WRITE, "a"), (WRITE, "d"), (WRITE, "/b"), (READ, "/c")]), [0, 1]);
    assert_eq!(released(9, &[(READ, "a"), (READ, "/b"), (WRITE, "c")]), [0, 1]);
}

#[test]
fn the_limit_bounds_what_paths_allow() {
    assert_eq!(released(2, &[(WRITE, "a"), (WRITE, "b"), (WRITE, "c")]), [0, 1]);
}

#[test]
fn what_runs_holds_its_paths_and_what_is_undecided_its_turn() {
    let paths = [r#"{"path": "a"}"#, r#"{"path": "a"}"#, r#"{"path": "b"}"#, r#"{"path": "b"}"#];
    let states = [State::Parked, State::Running, State::Pending, State::Parked];
    let calls = (0..).zip(states).map(|(id, state)| call(id, WRITE, state)).collect();
    let decided = policy(9).decide(&batch(0, calls), &|id| Some(paths[id as usize].to_owned()));
    assert_eq!(decided, [0; 0]);
}

#[test]
fn nothing_starts_beside_an_execution_that_is_not_shown() {
    let mut batch = batch(0, vec![call(0, READ, State::Parked)]);
    batch.keys[0].running = 1;
    let arguments = |_| Some(r#"{"path": "a"}"#.to_owned());
    assert_eq!(policy(9).decide(&batch, &arguments), [0; 0]);
    let why = Some("an execution of key fs from before is not gone".to_owned());
    assert_eq!(policy(9).reason(&batch, 0, &arguments), why);
}

#[test]
fn a_path_of_a_hundred_thousand_names_is_no_overflow() {
    let long = "a/".repeat(100_000);
    assert_eq!(released(9, &[(WRITE, &long), (WRITE, &format!("{long}b")), (WRITE, "b")]), [0, 2]);
}

#[test]
fn it_says_why_a_call_waits_if_a_path_is_why() {
    let arguments = [
        r#"{"path": "src/a.rs"}"#,
        r#"{"path": ["b", "src/./a.rs"]}"#,
        r#"{"path": "b"}"#,
        r#"{"path": "c"}"#,
        "{}",
        r#"{"path": "d"}"#,
    ];
    let mut calls: Vec<_> = (0..6).map(|id| call(id, WRITE, State::Parked)).collect();
    calls[0].state = State::Running;
    calls[3].state = State::Running;
    calls.push(Call { key: None, ..call(6, WRITE, State::Parked) });
    let batch = batch(0, calls);
    let of = |id: CallId| arguments.get(id as usize).map(|json| (*json).to_owned());
    let reason = |id| policy(9).reason(&batch, id, &of).unwrap_or_default();
    assert_eq!(
        [1, 2, 4, 5, 6, 7].map(reason),
        [
            "src/a.rs is in use",
            "an earlier call waits for b",
            "it names no path, so it waits for earlier calls of key fs",
            "an earlier call of key fs names no path, so this one waits for it",
            "",
            "",
        ]
    );
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let problems = configured(
        &[1],
        vec![
            ("path", Value::Text("a".into())),
            ("paths", json("[]")),
            ("reads", json(r#"["read", "raed"]"#)),
            ("root", Value::Text("home".into())),
        ],
    );
    let problems = problems.expect_err("none of it is taken");
    let problems: Vec<_> = problems.iter().map(|it| it.message.as_str()).collect();
    let paths = "expected a list of names of arguments, as [\"path\", \"edits.path\"]";
    let root = "expected an absolute path, as \"/home/me/project\"";
    assert_eq!(
        problems,
        [
            "unknown option; this policy takes paths, reads, root",
            paths,
            "there is no tool \"raed\"",
            root,
        ]
    );
    let one = |name, value| {
        let problems = configured(&[1], vec![(name, value)]).expect_err("it is not taken");
        problems.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    for value in [json("{}"), json("[1]"), json(r#"["a..b"]"#), json(r#"[""]"#), Value::Flag(true)]
    {
        assert_eq!(one("paths", value), [paths]);
    }
    assert_eq!(one("root", Value::Integer(1)), [root]);
    let reads = "expected a list of names of tools, as [\"fs_read_file\"]";
    assert_eq!(one("reads", json("[[]]")), [reads]);
}

/// The same rule, one pair at a time and on texts.
fn exclude(one: &(bool, String), other: &(bool, String)) -> bool {
    let within = |path: &str, folder: &str| {
        folder == "." || path == folder || path.starts_with(&format!("{folder}/"))
    };
    let ((first, one), (second, other)) = (one, other);
    let mixed = one.starts_with('/') != other.starts_with('/');
    (*first || *second) && (mixed || within(one, other) || within(other, one))
}

proptest! {
    /// One execution ends at each instant, until all have.
    #[test]
    fn in_any_batch_what_excludes_each_other_takes_turns_in_order_and_nothing_else_waits(
        claims in vec((any::<bool>(), sample::select(vec![".", "a", "a/b", "a/b/c", "b", "ab", "/x", "/x/y"])), 1..20),
        limit in 1..9_u32,
        ends in vec(any::<sample::Index>(), 20),
    ) {
        let claims: Vec<_> = claims.into_iter().map(|(writes, path)| (writes, path.to_owned())).collect();
        let arguments = |id: CallId| Some(format!(r#"{{"path": {:?}}}"#, claims[id as usize].1));
        let mut left: Vec<_> = (0..).zip(&claims)
            .map(|(id, (writes, _))| call(id, if *writes { WRITE } else { READ }, State::Parked))
            .collect();
        for end in ends {
            let release = policy(limit).decide(&batch(0, left.clone()), &arguments);
            let mut free = limit as usize - left.iter().filter(|call| call.state == State::Running).count();
            for call in &left {
                let held = |other: &Call| {
                    (other.state == State::Running || other.id < call.id)
                        && exclude(&claims[other.id as usize], &claims[call.id as usize])
                };
                let starts = call.state == State::Parked && free > 0 && !left.iter().any(|other| other.id != call.id && held(other));
                free -= usize::from(starts);
                prop_assert_eq!(release.contains(&call.id), starts, "call {}", call.id);
            }
            for call in left.iter_mut().filter(|call| release.contains(&call.id)) {
                call.state = State::Running;
            }
            let running: Vec<_> = (0..left.len()).filter(|place| left[*place].state == State::Running).collect();
            if running.is_empty() {
                prop_assert!(left.is_empty());
                break;
            }
            left.remove(running[end.index(running.len())]);
        }
    }
}
