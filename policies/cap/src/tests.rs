use std::collections::BTreeMap;

use jp_policy_guest::{Call, Field, Instant, Key, KeyIndex, State, Usage, rules};
use proptest::{collection::vec, prelude::*};

use super::*;

fn configured(limits: &[u32], options: Vec<(&str, Value)>) -> Result<Cap, Vec<Problem>> {
    let keys = limits.iter().map(|limit| Key { name: "key".into(), limit: *limit, fields: vec![] });
    let options =
        options.into_iter().map(|(name, value)| Field { name: name.to_owned(), value }).collect();
    Cap::configure(Settings { tools: vec![], keys: keys.collect(), options })
}

fn policy(limits: &[u32], cap: i64) -> Cap {
    configured(limits, vec![("cap", Value::Integer(cap))]).expect("all of it is known")
}

fn usage(key: KeyIndex, running: u32, last_release: Option<Instant>) -> Usage {
    Usage { key, running, waiting: 9, ended: 0, failed: 0, last_release, last_end: None }
}

fn calls(of: &[(Option<KeyIndex>, State)]) -> Vec<Call> {
    let calls = (0..).zip(of).map(|(id, (key, state))| Call {
        id,
        parent: id,
        tool: 0,
        key: *key,
        state: *state,
        since: 0,
    });
    calls.collect()
}

const A: (Option<KeyIndex>, State) = (Some(0), State::Parked);
const B: (Option<KeyIndex>, State) = (Some(1), State::Parked);
const FREE: (Option<KeyIndex>, State) = (None, State::Parked);

fn released(policy: &Cap, now: Instant, running: u32, keys: Vec<Usage>, of: Vec<Call>) -> Vec<u32> {
    policy.release(&Batch { now, running, keys, calls: of }).expect("it decides").release
}

#[test]
fn the_line_with_the_fewest_executions_goes_first() {
    let keys = || vec![usage(0, 2, Some(1)), usage(1, 1, Some(2))];
    let of = || calls(&[A, A, B, B, B]);
    // B up to two, then they take turns; A was released longer ago.
    assert_eq!(released(&policy(&[9, 9], 4), 3, 3, keys(), of()), [2]);
    assert_eq!(released(&policy(&[9, 9], 6), 3, 3, keys(), of()), [2, 0, 3]);
}

#[test]
fn of_two_the_one_released_longest_ago_goes_first_then_the_one_written_first() {
    let keys = |a, b| vec![usage(0, 0, a), usage(1, 0, b)];
    let one = |keys| released(&policy(&[1, 1], 1), 9, 0, keys, calls(&[A, B]));
    assert_eq!(one(keys(Some(2), Some(1))), [1]);
    assert_eq!(one(keys(Some(1), None)), [1]);
    assert_eq!(one(keys(Some(1), Some(1))), [0]);
    assert_eq!(one(keys(None, None)), [0]);
}

#[test]
fn calls_without_a_key_are_one_line() {
    let running = (None, State::Running);
    let keys = || vec![usage(0, 1, Some(1))];
    let of = || calls(&[running, running, FREE, FREE, A, A]);
    assert_eq!(released(&policy(&[9], 4), 2, 3, keys(), of()), [4]);
    assert_eq!(released(&policy(&[9], 5), 2, 3, keys(), of()), [4, 5]);
}

#[test]
fn calls_without_a_key_follow_an_execution_of_a_key() {
    let ended = |last_end| vec![Usage { last_end: Some(last_end), ..usage(0, 0, Some(1)) }];
    let one = |keys| released(&policy(&[1], 1), 9, 0, keys, calls(&[A, FREE]));
    assert_eq!(one(ended(9)), [1]);
    assert_eq!(one(ended(8)), [0]);
}

#[test]
fn limit_and_order_of_a_key_hold() {
    let keys = || vec![usage(0, 0, None), usage(1, 0, None)];
    let pending = (Some(1), State::Pending);
    let of = || calls(&[A, A, pending, B, FREE]);
    assert_eq!(released(&policy(&[1, 1], 9), 0, 0, keys(), of()), [0, 4]);
}

#[test]
fn over_the_cap_nothing_starts_and_without_one_all_does() {
    let keys = || vec![usage(0, 1, Some(0))];
    assert_eq!(released(&policy(&[9], 1), 1, 3, keys(), calls(&[A, FREE])), [0; 0]);
    let none = configured(&[9], vec![]).expect("an option may be left out");
    assert_eq!(released(&none, 1, u32::MAX, keys(), calls(&[A, FREE])), [1, 0]);
    let large = policy(&[9], i64::MAX);
    assert_eq!(released(&large, 1, u32::MAX, keys(), calls(&[A, FREE])), [1, 0]);
}

#[test]
fn it_says_why_a_call_waits_if_the_cap_is_why() {
    let of = || calls(&[A, A, FREE]);
    let explained = |cap, running| {
        let batch = Batch { now: 1, running, keys: vec![usage(0, 0, None)], calls: of() };
        [0, 1, 2, 3].map(|call| policy(&[1], cap).explain(&batch, call))
    };
    let one = || Some("1 execution runs, the cap is 1".to_owned());
    // The second waits for its key, and the fourth is none.
    assert_eq!(explained(1, 1), [one(), None, one(), None]);
    let two = || Some("2 executions run, the cap is 1".to_owned());
    assert_eq!(explained(1, 2), [two(), None, two(), None]);
    assert_eq!(explained(9, 2), [None, None, None, None]);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let problems = configured(&[1], vec![("cap", Value::Integer(0)), ("cpa", Value::Integer(8))]);
    assert_eq!(
        problems.expect_err("none of it is taken"),
        [
            Problem::new(None, Some("cpa"), "unknown option; this policy takes cap"),
            Problem::new(None, Some("cap"), CAP),
        ]
    );
    for value in [Value::Integer(-1), Value::Number(8.0), Value::Text("8".into())] {
        let problems = configured(&[1], vec![("cap", value)]).expect_err("it is not taken");
        assert_eq!(problems, [Problem::new(None, Some("cap"), CAP)]);
    }
}

proptest! {
    /// One call ends at each instant, until all have.
    #[test]
    fn in_any_batch_no_slot_is_left_and_nobody_starves(
        limits in vec(1..4_u32, 1..4),
        lines in vec(0..4_u32, 1..40),
        cap in 1..6_u32,
        ends in vec(any::<prop::sample::Index>(), 40),
    ) {
        let policy = policy(&limits, cap.into());
        let keys = limits.len();
        let line = |line| Some(line).filter(|line| (*line as usize) < keys);
        let mut left = calls(&lines.into_iter().map(|it| (line(it), State::Parked)).collect::<Vec<_>>());
        let mut usages: Vec<Usage> = (0..).zip(&limits).map(|(key, _)| usage(key, 0, None)).collect();
        // How often others went before each line that could start a call and has none running.
        let mut passed = BTreeMap::new();
        for (now, end) in (0..).zip(ends) {
            let running = |left: &[Call]| -> Vec<usize> {
                (0..left.len()).filter(|place| left[*place].state == State::Running).collect()
            };
            let waits = |usage: &&Usage| {
                left.iter().any(|call| call.key == Some(usage.key) && call.state == State::Parked)
            };
            let batch = Batch {
                now,
                running: running(&left).len() as u32,
                keys: usages.iter().filter(waits).copied().collect(),
                calls: left.clone(),
            };
            let startable = rules::release(&limits, &batch);
            let release = policy.release(&batch).expect("it decides").release;
            prop_assert_eq!(release.len(), startable.len().min((cap - batch.running) as usize));
            let of_line = |ids: &[CallId], key| {
                left.iter().filter(|call| call.key == key && ids.contains(&call.id)).count()
            };
            for key in (0..keys as u32).map(Some).chain([None]) {
                // In written order: those of a line that went are the first that could.
                let first: Vec<_> = startable.iter().filter(|id| of_line(&[**id], key) > 0).collect();
                let went = of_line(&release, key);
                prop_assert!(first[..went].iter().all(|id| release.contains(id)));
                let idle = left.iter().all(|call| call.key != key || call.state == State::Parked);
                let passed = passed.entry(key).or_insert(0);
                *passed = if idle && went == 0 && !first.is_empty() { *passed + release.len() } else { 0 };
                prop_assert!(*passed <= 2 * keys + cap as usize, "{:?} starves", key);
            }
            for call in left.iter_mut().filter(|call| release.contains(&call.id)) {
                call.state = State::Running;
                if let Some(key) = call.key {
                    let usage = &mut usages[key as usize];
                    (usage.running, usage.last_release) = (usage.running + 1, Some(now));
                }
            }
            let running = running(&left);
            if running.is_empty() {
                prop_assert!(left.is_empty());
                break;
            }
            if let Some(key) = left.remove(running[end.index(running.len())]).key {
                let usage = &mut usages[key as usize];
                (usage.running, usage.last_end) = (usage.running - 1, Some(now + 1));
            }
        }
    }
}
