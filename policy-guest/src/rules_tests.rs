use super::*;
use crate::{Call, Usage};

const KEY: Option<u32> = Some(0);

fn call(id: u32, key: Option<u32>, state: State) -> Call {
    Call { id, parent: id, tool: 0, key, state, since: 0 }
}

fn usage(key: u32, running: u32) -> Usage {
    Usage { key, running, waiting: 1, ended: 0, failed: 0, last_release: None, last_end: None }
}

fn released(limits: &[u32], keys: Vec<Usage>, calls: Vec<Call>) -> Vec<u32> {
    release(limits, &Batch { now: 0, running: 0, keys, calls })
}

#[test]
fn unkeyed_calls_start_and_do_not_count() {
    let calls = vec![
        call(0, None, State::Parked),
        call(1, KEY, State::Parked),
        call(2, None, State::Parked),
    ];
    assert_eq!(released(&[1], vec![usage(0, 0)], calls), [0, 1, 2]);
}

#[test]
fn a_full_key_holds_its_calls_and_no_others() {
    let calls = vec![call(0, KEY, State::Parked), call(1, Some(1), State::Parked)];
    assert_eq!(released(&[1, 1], vec![usage(0, 1), usage(1, 0)], calls), [1]);
}

#[test]
fn the_limit_counts_what_runs_and_what_is_released_now() {
    let calls = (0..5).map(|id| call(id, KEY, State::Parked)).collect();
    assert_eq!(released(&[4], vec![usage(0, 2)], calls), [0, 1]);
}

#[test]
fn a_pending_call_holds_back_later_ones_of_its_key() {
    let calls = vec![
        call(0, KEY, State::Parked),
        call(1, KEY, State::Pending),
        call(2, KEY, State::Parked),
        call(3, Some(1), State::Parked),
    ];
    assert_eq!(released(&[3, 1], vec![usage(0, 0), usage(1, 0)], calls), [0, 3]);
}

#[test]
fn running_calls_of_the_full_view_are_counted_once_by_usage() {
    let calls = vec![
        call(0, KEY, State::Running),
        call(1, KEY, State::Parked),
        call(2, KEY, State::Parked),
    ];
    assert_eq!(released(&[2], vec![usage(0, 1)], calls), [1]);
}

#[test]
fn more_running_than_the_limit_is_not_an_overflow() {
    let calls = vec![call(9, KEY, State::Parked)];
    assert_eq!(released(&[1], vec![usage(0, 3)], calls), [0_u32; 0]);
}

#[test]
fn every_further_field_and_option_is_refused_by_name() {
    let settings = Settings {
        tools: vec![],
        keys: vec![crate::Key {
            name: "git".into(),
            limit: 1,
            fields: vec![crate::Field {
                name: "dleay".into(),
                value: crate::Value::Text("2s".into()),
            }],
        }],
        options: vec![crate::Field { name: "cap".into(), value: crate::Value::Integer(4) }],
    };
    let problems = Rules::configure(settings).expect_err("nothing is taken");
    assert_eq!(
        problems,
        [
            Problem::new(Some(0), Some("dleay"), "unknown further field; this policy takes none"),
            Problem::new(None, Some("cap"), "unknown option; this policy takes none"),
        ]
    );
}
