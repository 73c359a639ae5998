use jp_policy_guest::{Call, Field, Key, KeyIndex, State, Value};
use proptest::prelude::*;

use super::*;

const S: Instant = 1_000_000_000;

fn field(name: &str, value: Value) -> Field {
    Field { name: name.to_owned(), value }
}

fn text(name: &str, text: &str) -> Field {
    field(name, Value::Text(text.to_owned()))
}

fn configured(keys: Vec<(u32, Vec<Field>)>) -> Result<Backoff, Vec<Problem>> {
    let keys = ["api", "git"].into_iter().zip(keys).map(|(name, (limit, fields))| Key {
        name: name.to_owned(),
        limit,
        fields,
    });
    Backoff::configure(Settings { tools: vec![], keys: keys.collect(), options: vec![] })
}

/// Key 0 backs off from 1s to 1m, key 1 does not.
fn policy() -> Backoff {
    configured(vec![(2, vec![text("backoff", "1s")]), (2, vec![])]).expect("all of it is known")
}

fn usage(key: KeyIndex, ended: u32, failed: u32, last_end: Option<Instant>) -> Usage {
    Usage { key, running: 0, waiting: 2, ended, failed, last_release: Some(0), last_end }
}

fn calls(keys: &[Option<KeyIndex>]) -> Vec<Call> {
    let calls = (0..).zip(keys).map(|(id, key)| Call {
        id,
        parent: id,
        tool: 0,
        key: *key,
        state: State::Parked,
        since: 0,
    });
    calls.collect()
}

const API: Option<KeyIndex> = Some(0);
const GIT: Option<KeyIndex> = Some(1);

fn decided(now: Instant, keys: Vec<Usage>, calls: Vec<Call>) -> (Vec<CallId>, Option<Instant>) {
    let decision = policy().release(&Batch { now, running: 0, keys, calls }).expect("it decides");
    (decision.release, decision.wake_at)
}

fn pauses(growth: Growth, ends: &[(u32, u32)]) -> Vec<String> {
    ends.iter().map(|(ended, failed)| seconds(growth.pause(*ended, *failed))).collect()
}

#[test]
fn it_doubles_up_to_the_bound() {
    let growth = Growth { first: S, max: 10 * S, recover: 1 };
    let failures: Vec<_> = (0..7).map(|failed| (failed, failed)).collect();
    assert_eq!(pauses(growth, &failures), ["0s", "1s", "2s", "4s", "8s", "10s", "10s"]);
}

#[test]
fn it_halves_down_to_nothing() {
    let growth = Growth { first: S, max: 10 * S, recover: 1 };
    let successes: Vec<_> = (0..5).map(|succeeded| (4 + succeeded, 4)).collect();
    assert_eq!(pauses(growth, &successes), ["8s", "4s", "2s", "1s", "0s"]);
    let slowly = Growth { recover: 2, ..growth };
    assert_eq!(pauses(slowly, &successes), ["8s", "8s", "4s", "4s", "2s"]);
}

#[test]
fn no_number_is_too_large() {
    let all = u32::MAX;
    let longest = Growth { first: S, max: u64::MAX, recover: 1 };
    let pauses = [30, 35, 36, 65, all].map(|failed| longest.pause(failed, failed));
    assert_eq!(pauses, [S << 29, S << 34, u64::MAX, u64::MAX, u64::MAX]);
    assert_eq!(Growth { first: 1, ..longest }.pause(64, 64), 1 << 63);
    assert_eq!(Growth { first: 1, ..longest }.pause(65, 65), u64::MAX);
    assert_eq!(Growth { first: 0, ..longest }.pause(all, all), 0);
    assert_eq!(Growth { recover: u64::MAX, ..longest }.pause(all, 1), S);
    // More failures than ends is what no host says.
    assert_eq!(longest.pause(0, 1), S);
}

#[test]
fn the_wake_up_is_the_end_of_the_pause() {
    let ended = || vec![usage(0, 2, 2, Some(3 * S)), usage(1, 2, 2, Some(3 * S))];
    let batch = || calls(&[API, GIT, API, None]);
    assert_eq!(decided(3 * S, ended(), batch()), (vec![1, 3], Some(5 * S)));
    assert_eq!(decided(5 * S - 1, ended(), batch()), (vec![1, 3], Some(5 * S)));
    assert_eq!(decided(5 * S, ended(), batch()), (vec![0, 1, 2, 3], None));
}

#[test]
fn what_has_not_ended_or_not_failed_pauses_nothing() {
    assert_eq!(decided(9, vec![usage(0, 0, 0, None)], calls(&[API])), (vec![0], None));
    assert_eq!(decided(9, vec![usage(0, 3, 0, Some(9))], calls(&[API])), (vec![0], None));
    let running = vec![Usage { running: 2, ..usage(0, 1, 1, Some(9)) }];
    assert_eq!(decided(9, running, calls(&[API])), (vec![], None));
}

#[test]
fn a_pause_past_the_end_of_time_is_no_overflow() {
    let forever = vec![text("backoff", "18446744073709551615ns")];
    let policy = configured(vec![(1, forever)]).expect("it fits");
    let keys = vec![usage(0, 2, 2, Some(S))];
    let batch = Batch { now: S, running: 0, keys, calls: calls(&[API]) };
    let decision = policy.release(&batch).expect("it decides");
    assert_eq!((decision.release, decision.wake_at), (vec![], Some(Instant::MAX)));
}

#[test]
fn it_says_why_a_call_waits_if_the_pause_is_why() {
    let keys = vec![usage(0, 9, 3, Some(7 * S)), usage(1, 9, 3, Some(7 * S))];
    let batch = Batch { now: 8 * S, running: 0, keys, calls: calls(&[API, GIT, API, API, None]) };
    let why = || Some("key api pauses 2s after the last end, until 9s: 3 of 9 failed".to_owned());
    let reasons = [0, 1, 2, 3, 4, 5].map(|call| policy().explain(&batch, call));
    assert_eq!(reasons, [why(), None, why(), None, None, None]);
    let over = Batch { now: 9 * S, ..batch };
    assert_eq!(policy().explain(&over, 0), None);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let api = vec![
        text("backoff", "-1s"),
        text("max", "soon"),
        field("recover", Value::Integer(0)),
        field("step", Value::Integer(2)),
    ];
    let git = vec![text("max", "1m"), field("recover", Value::Integer(2))];
    let problems = configured(vec![(1, api), (1, git)]).expect_err("none of it is taken");
    let problems: Vec<_> =
        problems.iter().map(|it| (it.key, it.field.as_deref(), it.message.as_str())).collect();
    assert_eq!(
        problems,
        [
            (
                Some(0),
                Some("step"),
                "unknown further field; this policy takes backoff, max, recover"
            ),
            (Some(0), Some("backoff"), "a pause can't be negative"),
            (
                Some(0),
                Some("max"),
                "expected a duration like \"2s\" or \"250ms\" (a whole number and ns, us, ms, s, m or h), or a number of seconds"
            ),
            (Some(0), Some("recover"), "expected a whole number of at least 1"),
            (Some(1), Some("max"), "has no effect without `backoff`"),
            (Some(1), Some("recover"), "has no effect without `backoff`"),
        ]
    );
    let short = vec![text("backoff", "2s"), text("max", "1s")];
    let problems = configured(vec![(1, short)]).expect_err("it is not taken");
    assert_eq!(problems, [Problem::new(Some(0), Some("max"), "is shorter than `backoff`")]);
}

#[test]
fn the_bound_is_a_minute_or_the_first_pause() {
    let max = |first| {
        let read = configured(vec![(1, vec![text("backoff", first)])]).expect("it is known");
        read.growths[0].expect("there is one").max
    };
    assert_eq!([max("1s"), max("2m")], [60 * S, 120 * S]);
}

proptest! {
    #[test]
    fn one_more_failure_never_shortens_a_pause_and_one_more_success_never_lengthens_it(
        first in any::<u64>(), max in any::<u64>(), recover in 1..u64::MAX, ended in 0..u32::MAX, failed in any::<u32>(),
    ) {
        let (failed, max) = (failed.min(ended), max.max(first));
        let growth = Growth { first, max, recover };
        let pause = growth.pause(ended, failed);
        prop_assert!(pause <= max);
        let after_failure = growth.pause(ended + 1, failed + 1);
        let doubled = if pause == 0 { first } else { pause.saturating_mul(2) };
        prop_assert!(after_failure == pause || after_failure == doubled.min(max));
        prop_assert!(after_failure >= pause);
        prop_assert!(growth.pause(ended + 1, failed) <= pause);
    }
}
