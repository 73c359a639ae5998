use jp_policy_guest::{Field, Instant, Key, Tool, Usage, Value};
use proptest::{collection::vec, prelude::*, sample};

use super::*;

const S: Instant = 1_000_000_000;

/// Tools `long` and `quick`; key 0 has a limit of 2, key 1 one of 1.
fn configured(options: Vec<(&str, Value)>) -> Result<Shortest, Vec<Problem>> {
    let key = |name: &str, limit| Key { name: name.to_owned(), limit, fields: vec![] };
    let tool = |name: &str| Tool { name: name.to_owned(), key: Some(0) };
    let options =
        options.into_iter().map(|(name, value)| Field { name: name.to_owned(), value }).collect();
    let (tools, keys) = (vec![tool("long"), tool("quick")], vec![key("two", 2), key("one", 1)]);
    Shortest::configure(Settings { tools, keys, options })
}

fn json(json: &str) -> Value {
    Value::Json(json.to_owned())
}

fn policy() -> Shortest {
    let weights = json(r#"{"long": 30, "quick": 2}"#);
    configured(vec![("weights", weights), ("patience", Value::Integer(10))]).expect("it is known")
}

const LONG: u32 = 0;
const QUICK: u32 = 1;
const OTHER: u32 = 2;

/// Parked calls of a tool and key, each since then.
fn calls(of: &[(u32, Option<KeyIndex>, Instant)]) -> Vec<Call> {
    let calls = (0..).zip(of).map(|(id, (tool, key, since))| Call {
        id,
        parent: id,
        tool: *tool,
        key: *key,
        state: State::Parked,
        since: *since,
    });
    calls.collect()
}

fn batch(now: Instant, running: [u32; 2], calls: Vec<Call>) -> Batch {
    let (last_release, last_end) = (None, None);
    let usage = |key, running| Usage {
        key,
        running,
        waiting: 9,
        ended: 0,
        failed: 0,
        last_release,
        last_end,
    };
    let keys = (0..).zip(running).map(|(key, running)| usage(key, running)).collect();
    Batch { now, running: running.iter().sum(), keys, calls }
}

fn released(now: Instant, running: [u32; 2], of: Vec<Call>) -> Vec<CallId> {
    policy().release(&batch(now, running, of)).expect("it decides").release
}

const TWO: Option<KeyIndex> = Some(0);
const ONE: Option<KeyIndex> = Some(1);

#[test]
fn the_lightest_start_first_and_of_those_the_first_written() {
    let of = || calls(&[(LONG, TWO, 0), (QUICK, TWO, 0), (OTHER, TWO, 0), (QUICK, TWO, 0)]);
    assert_eq!(released(1, [0, 0], of()), [2, 1]);
    assert_eq!(released(1, [1, 0], of()), [2]);
    assert_eq!(released(1, [2, 0], of()), [0; 0]);
    assert_eq!(released(1, [9, 0], of()), [0; 0]);
}

#[test]
fn each_key_has_its_own_line_and_calls_without_one_have_none() {
    let of = calls(&[(LONG, TWO, 0), (LONG, ONE, 0), (QUICK, ONE, 0), (LONG, None, 0)]);
    assert_eq!(released(1, [0, 0], of), [3, 0, 2]);
}

#[test]
fn after_its_patience_a_call_starts_before_all_younger_ones() {
    let of = || calls(&[(QUICK, ONE, 5 * S), (LONG, ONE, 0), (LONG, ONE, 0)]);
    assert_eq!(released(10 * S - 1, [0, 0], of()), [0]);
    assert_eq!(released(10 * S, [0, 0], of()), [1]);
    assert_eq!(released(15 * S, [0, 0], of()), [0]);
}

#[test]
fn an_undecided_call_holds_back_nothing() {
    let mut of = calls(&[(QUICK, ONE, 0), (LONG, ONE, 0)]);
    of[0].state = State::Pending;
    assert_eq!(released(1, [0, 0], of), [1]);
}

#[test]
fn no_number_is_too_large() {
    let weights = json(r#"{"long": 18446744073709551615, "quick": 0}"#);
    let forever = Value::Text("18446744073709551615ns".into());
    let policy = configured(vec![("weights", weights), ("patience", forever)]).expect("it fits");
    let of = calls(&[(LONG, ONE, 9), (QUICK, ONE, Instant::MAX), (LONG, ONE, 9)]);
    let batch = batch(Instant::MAX - 1, [0, 0], of);
    assert_eq!(policy.release(&batch).expect("it decides").release, [1]);
    let why = "place 2 in line for key one, by its weight of 18446744073709551615; by age from 18446744073.709551615s on";
    assert_eq!(policy.explain(&batch, 0).as_deref(), Some(why));
}

#[test]
fn it_says_where_a_call_stands() {
    let mut of = calls(&[(LONG, ONE, 0), (LONG, ONE, 5 * S), (QUICK, ONE, 5 * S), (LONG, None, 0)]);
    of.push(Call { state: State::Pending, ..of[0] });
    of[4].id = 4;
    let reasons = |running| {
        let batch = batch(11 * S, [0, running], of.clone());
        [0, 1, 2, 3, 4, 5].map(|call| policy().explain(&batch, call).unwrap_or_default())
    };
    let (second, third) = (
        "place 2 in line for key one, by its weight of 2; by age from 15s on",
        "place 3 in line for key one, by its weight of 30; by age from 15s on",
    );
    let first = "place 1 in line for key one, as it has waited 10s";
    assert_eq!(reasons(1), [first, third, second, "", "", ""]);
    assert_eq!(reasons(0), ["", third, second, "", "", ""]);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let problems = configured(vec![
        ("weight", Value::Integer(1)),
        ("patience", Value::Text("long".into())),
        ("weights", json(r#"{"log": 1, "quick": 2, "quik": 3}"#)),
    ]);
    let problems = problems.expect_err("none of it is taken");
    let problems: Vec<_> = problems.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        problems,
        [
            "unknown option; this policy takes patience, weights",
            "expected a duration like \"2s\" or \"250ms\" (a whole number and ns, us, ms, s, m or h), or a number of seconds",
            "there is no tool \"log\"",
            "there is no tool \"quik\"",
        ]
    );
    let weights = "expected a table of whole numbers by tool, as { lint = 2, build = 30 }";
    for value in [json("[1]"), json(r#"{"long": -1}"#), json(r#"{"long": 0.5}"#), Value::Integer(1)]
    {
        let problems = configured(vec![("weights", value)]).expect_err("it is not taken");
        assert_eq!(problems, [Problem::new(None, Some("weights"), weights)]);
    }
}

proptest! {
    /// One execution ends each second, until all have.
    #[test]
    fn in_any_batch_no_slot_is_left_and_who_has_waited_long_enough_is_passed_by_no_younger_one(
        tools in vec(0..3_u32, 1..40),
        ends in vec(any::<sample::Index>(), 40),
    ) {
        let policy = policy();
        let mut left = calls(&tools.iter().zip(0..).map(|(tool, id)| (*tool, TWO, id * S / 2)).collect::<Vec<_>>());
        for (second, end) in (1..).zip(ends) {
            let now = second * S;
            let come: Vec<_> = left.iter().filter(|call| call.since <= now).copied().collect();
            let running = come.iter().filter(|call| call.state == State::Running).count();
            let parked: Vec<_> = come.iter().filter(|call| call.state == State::Parked).collect();
            let question = batch(now, [running as u32, 0], come.clone());
            let release = policy.release(&question).expect("it decides").release;
            prop_assert_eq!(release.len(), parked.len().min(2 - running));
            for (call, other) in parked.iter().flat_map(|call| parked.iter().map(move |other| (call, other))) {
                let passed = release.contains(&call.id) && !release.contains(&other.id) && call.id > other.id;
                let lighter = policy.options.weight(call.tool) < policy.options.weight(other.tool);
                let aged = |call: &Call| now - call.since >= 10 * S;
                prop_assert!(!passed || !aged(other) && (lighter || aged(call)));
            }
            for call in left.iter_mut().filter(|call| release.contains(&call.id)) {
                call.state = State::Running;
            }
            let running: Vec<_> = (0..left.len()).filter(|place| left[*place].state == State::Running).collect();
            if !running.is_empty() {
                left.remove(running[end.index(running.len())]);
            }
        }
    }
}
