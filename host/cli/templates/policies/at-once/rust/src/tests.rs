//! Asks the policy as plain Rust: `cargo test`. What time does to it stands in `scenarios`.

use jp_policy_guest::{Call, Field, Key, State, Usage, Value};

use super::*;

fn configured(limit: u32, fields: Vec<Field>) -> Result<AtOnce, Vec<Problem>> {
    let keys = vec![Key { name: "git".to_owned(), limit, fields }];
    AtOnce::configure(Settings { tools: vec![], keys, options: vec![] })
}

/// What starts of so many parked calls with this key, or with none, while so many executions run without a key.
fn started(limit: u32, key: Option<u32>, calls: u32, running: u32) -> Vec<CallId> {
    let policy = configured(limit, vec![]).expect("there is nothing to refuse");
    let parked =
        |id| Call { id, parent: id, tool: 0, key, state: State::Parked, since: 0 };
    let usage = Usage {
        key: 0,
        running: 0,
        waiting: calls,
        ended: 0,
        failed: 0,
        last_release: None,
        last_end: None,
    };
    let batch = Batch { now: 0, running, keys: vec![usage], calls: (0..calls).map(parked).collect() };
    policy.release(&batch).expect("it decides").release
}

#[test]
fn no_more_than_so_many_start() {
    assert_eq!(started(1, None, 6, 0), [0, 1, 2, 3]);
    assert_eq!(started(1, None, 6, 3), [0]);
    assert_eq!(started(1, None, 6, 4), []);
}

#[test]
fn a_key_has_its_limit_and_its_order() {
    assert_eq!(started(1, Some(0), 3, 0), [0]);
    assert_eq!(started(2, Some(0), 3, 0), [0, 1]);
}

#[test]
fn what_it_does_not_take_is_refused() {
    let field = Field { name: "delay".to_owned(), value: Value::Integer(2) };
    let problems = configured(1, vec![field]).err().expect("it is refused");
    assert_eq!(problems[0].message, "unknown further field; this policy takes none");
}
