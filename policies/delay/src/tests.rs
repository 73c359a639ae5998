use jp_policy_guest::{Call, Field, Key, State, Usage, Value};

use super::*;

const S: Instant = 1_000_000_000;

fn field(name: &str, value: Value) -> Field {
    Field { name: name.to_owned(), value }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn configured(keys: Vec<(u32, Vec<Field>)>) -> Result<Delay, Vec<Problem>> {
    let keys = ["api", "git"].into_iter().zip(keys).map(|(name, (limit, fields))| Key {
        name: name.to_owned(),
        limit,
        fields,
    });
    Delay::configure(Settings { tools: vec![], keys: keys.collect(), options: vec![] })
}

/// Key 0 with a pause after each start, key 1 with one after each end.
fn policy() -> Delay {
    let start = vec![field("delay", text("2s")), field("from", text("start"))];
    let end = vec![field("delay", text("250ms"))];
    configured(vec![(3, start), (3, end)]).expect("all of it is known")
}

fn usage(key: KeyIndex, last_release: Option<Instant>, last_end: Option<Instant>) -> Usage {
    Usage { key, running: 0, waiting: 2, ended: 0, failed: 0, last_release, last_end }
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

const API: (Option<KeyIndex>, State) = (Some(0), State::Parked);
const GIT: (Option<KeyIndex>, State) = (Some(1), State::Parked);
const FREE: (Option<KeyIndex>, State) = (None, State::Parked);

fn decided(now: Instant, keys: Vec<Usage>, calls: Vec<Call>) -> (Vec<CallId>, Option<Instant>) {
    let decision = policy().release(&Batch { now, running: 0, keys, calls }).expect("it decides");
    (decision.release, decision.wake_at)
}

#[test]
fn after_a_start_one_call_starts_and_the_next_has_its_time() {
    let batch = calls(&[API, API, API]);
    assert_eq!(decided(0, vec![usage(0, None, None)], batch), (vec![0], Some(2 * S)));
}

#[test]
fn after_an_end_all_slots_are_free_at_once() {
    let batch = || calls(&[GIT, GIT, FREE]);
    let ended = || vec![usage(1, Some(0), Some(S))];
    assert_eq!(decided(S, ended(), batch()), (vec![2], Some(S + S / 4)));
    assert_eq!(decided(S + S / 4, ended(), batch()), (vec![0, 1, 2], None));
}

#[test]
fn what_follows_what_is_the_fields_choice() {
    let numbers = |key| vec![usage(key, Some(0), Some(9 * S))];
    assert_eq!(decided(9 * S, numbers(0), calls(&[API])), (vec![0], None));
    assert_eq!(decided(9 * S, numbers(1), calls(&[GIT])), (vec![], Some(9 * S + S / 4)));
}

#[test]
fn the_earliest_of_several_keys_is_the_wake_up() {
    let keys = vec![usage(0, Some(0), None), usage(1, Some(0), Some(S))];
    assert_eq!(decided(S, keys, calls(&[API, GIT])), (vec![], Some(S + S / 4)));
}

#[test]
fn nothing_is_woken_for_a_call_that_waits_for_something_else() {
    let pending = calls(&[(Some(1), State::Pending), GIT]);
    assert_eq!(decided(S, vec![usage(1, Some(0), Some(S))], pending), (vec![], None));
    let full = vec![Usage { running: 3, ..usage(1, Some(0), Some(S)) }];
    assert_eq!(decided(S, full, calls(&[GIT])), (vec![], None));
}

#[test]
fn a_pause_past_the_end_of_time_is_no_overflow() {
    let forever = vec![field("delay", text("18446744073709551615ns"))];
    let policy = configured(vec![(1, forever)]).expect("it fits");
    let batch =
        Batch { now: S, running: 0, keys: vec![usage(0, None, Some(S))], calls: calls(&[API]) };
    let decision = policy.release(&batch).expect("it decides");
    assert_eq!((decision.release, decision.wake_at), (vec![], Some(Instant::MAX)));
}

#[test]
fn it_says_why_a_call_waits_if_the_pause_is_why() {
    let now = 3 * S;
    let keys = vec![usage(0, Some(2 * S), None), usage(1, Some(2 * S), Some(now))];
    let batch = Batch { now, running: 1, keys, calls: calls(&[GIT, API, API, FREE]) };
    let reasons = [0, 1, 2, 3, 4].map(|call| policy().explain(&batch, call));
    assert_eq!(
        reasons,
        [
            Some("key git pauses 0.25s after the last end, until 3.25s".to_owned()),
            Some("key api pauses 2s after the last start, until 4s".to_owned()),
            Some("key api pauses 2s after the last start, until 6s".to_owned()),
            None,
            None,
        ]
    );
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let api = vec![field("delay", text("soon")), field("from", text("middle"))];
    let git = vec![field("dleay", text("2s")), field("from", text("end"))];
    let problems = configured(vec![(1, api), (1, git)]).expect_err("none of it is taken");
    let problems: Vec<_> =
        problems.iter().map(|it| (it.key, it.field.as_deref(), it.message.as_str())).collect();
    assert_eq!(
        problems,
        [
            (Some(1), Some("dleay"), "unknown further field; this policy takes delay, from"),
            (
                Some(0),
                Some("delay"),
                "expected a duration like \"2s\" or \"250ms\" (a whole number and ns, us, ms, s, m or h), or a number of seconds"
            ),
            (Some(0), Some("from"), "expected \"end\" or \"start\""),
            (Some(1), Some("from"), "has no effect without `delay`"),
        ]
    );
}
