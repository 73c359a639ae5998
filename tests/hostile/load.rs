//! What is found when a policy is loaded: before any call runs, and without a fault.

use jp_policy_wasm::LoadError;

use jp_policy_tests::support::{load, quick};

fn refused(policy: &str) -> String {
    match load(policy, quick()) {
        Ok(_) => panic!("{policy} can be loaded"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_start_that_traps_or_loops() {
    assert_eq!(
        refused("start-traps"),
        "policy `start-traps.wasm` can't be used: it trapped: wasm trap: wasm `unreachable` instruction executed"
    );
    assert_eq!(
        refused("start-loops"),
        "policy `start-loops.wasm` can't be used: it used up its budget of 20000000 instructions for one question"
    );
}

#[test]
fn a_name_that_cannot_be_had() {
    assert_eq!(
        refused("name-traps"),
        "policy `name-traps.wasm` can't be used: it trapped: wasm trap: wasm `unreachable` instruction executed"
    );
    assert_eq!(
        refused("name-loops"),
        "policy `name-loops.wasm` can't be used: it used up its budget of 20000000 instructions for one question"
    );
    assert_eq!(
        refused("name-not-utf8"),
        "policy `name-not-utf8.wasm` can't be used: it gave an answer that can't be read: incomplete utf-8 byte sequence from index \
         3"
    );
    assert_eq!(
        refused("name-huge"),
        "policy `name-huge.wasm` can't be used: it gave an answer that can't be read: an answer of 40000000 bytes, over the budget of \
         1048576"
    );
}

/// What a policy could sleep or hoard with is not switched on, so such a policy is not even compiled.
#[test]
fn what_no_budget_counts() {
    for policy in ["wait", "garbage"] {
        assert!(matches!(load(policy, quick()), Err(LoadError::Compile { .. })), "{policy}");
    }
}

/// The reason stands below the engine's first words.
#[test]
fn what_cannot_be_compiled_is_told_with_its_reason() {
    assert_eq!(
        refused("wait"),
        "policy `wait.wasm` can't be compiled: failed to parse WebAssembly module: threads must be enabled for shared memories \
         (at offset 0x6a)"
    );
    assert_eq!(
        refused("garbage"),
        "policy `garbage.wasm` can't be compiled: failed to parse WebAssembly module: cannot define array types when gc types are \
         disabled (at offset 0x16)"
    );
}

#[test]
fn more_than_the_budget_from_the_beginning() {
    assert_eq!(
        refused("memory-large"),
        "policy `memory-large.wasm` can't be used: it wanted more than its 67108864 bytes of memory"
    );
    assert_eq!(
        refused("table-large"),
        "policy `table-large.wasm` can't be used: it wanted tables of more than its 100000 elements"
    );
}

#[test]
fn more_memories_than_a_policy_can_need() {
    assert_eq!(
        refused("memories"),
        "policy `memories.wasm` can't be used: it wanted more than its 64 memories"
    );
}
