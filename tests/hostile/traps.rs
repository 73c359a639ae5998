//! Traps: at any question, of any kind, also where the policy only takes a question or has given an answer.

use jp_policy_config::Source;
use jp_policy_harness::{Scenario, simulate};
use jp_policy_wasm::{Budget, Component, Engine};

use jp_policy_tests::support::{ABC, Case, live, load, quick};

const UNREACHABLE: &str = "0 s: trapped: wasm trap: wasm `unreachable` instruction executed";

/// Case 119, and the same a question earlier and later.
#[test]
fn a_trap_at_any_question() {
    Case::at_first("trap-at-the-first", UNREACHABLE).check();
    Case::at_second(
        "trap-at-the-second",
        "3 s: trapped: wasm trap: wasm `unreachable` instruction executed",
    )
    .check();
    Case {
        timelines: [
            ["A@0 B@3 C@4", "A!3 B!4 C!5", "A ok@3, B ok@4, C ok@5"],
            ["A@0 B@3", "A!3 B!4", "A ok@3, B ok@4, C policy-fault@4"],
        ],
        ..Case::at_first(
            "trap-at-the-last",
            "4 s: trapped: wasm trap: wasm `unreachable` instruction executed",
        )
    }
    .check();
}

#[test]
fn traps_of_all_kinds() {
    Case::at_first("trap-outside-memory", "0 s: trapped: wasm trap: out of bounds memory access")
        .check();
    Case::at_first("trap-null-call", "0 s: trapped: wasm trap: uninitialized element").check();
    Case::at_first("trap-division", "0 s: trapped: wasm trap: integer divide by zero").check();
}

#[test]
fn traps_beside_the_question() {
    Case::at_first("realloc-traps", UNREACHABLE).check();
    Case::at_first(
        "realloc-calls-the-host",
        "0 s: trapped: wasm trap: cannot leave component instance",
    )
    .check();
    Case::at_first("post-return-traps", UNREACHABLE).check();
}

/// The last words are the message, made fit for a terminal.
#[test]
fn last_words_are_carried_over() {
    Case::at_first("panic", "0 s: trapped: panicked at src/lib.rs:7:5: no\u{fffd}[2Jcall fits")
        .check();
}

/// Words of a question that the policy survived are not the last ones.
#[test]
fn last_words_belong_to_their_question() {
    Case::at_second(
        "panic-long-ago",
        "3 s: trapped: wasm trap: wasm `unreachable` instruction executed",
    )
    .check();
}

/// What a person needs to report a trap to the policy's author is all there.
#[test]
fn a_fault_tells_what_it_was_asked() {
    let component = load("trap-at-the-second", quick()).expect("it can be loaded");
    let record = live(&component, ABC, "{}").expect("it serves the batch");
    let fault = &record.faults[0];
    let digest = fault.policy.digest.as_deref().unwrap_or_default();
    assert!(digest.starts_with("sha256:") && digest.len() == 71, "{digest}");
    assert_eq!(fault.answer, None);
    let shown: Vec<_> =
        fault.question.calls.iter().map(|call| (call.id, call.state, call.since)).collect();
    assert_eq!(shown, [(1, jp_policy_guest::State::Parked, 0)]);
    let key = &fault.question.keys[0];
    assert_eq!(
        (fault.question.now, key.running, key.waiting, key.ended, key.last_end),
        (3_000_000_000, 0, 2, 1, Some(3_000_000_000))
    );
}

/// What a person sees of a policy that is written with the SDK and panics: its message, and the place in its source.
#[test]
fn a_panic_of_a_policy_in_rust_arrives_with_its_message_and_place() {
    let engine = Engine::new().expect("an engine can be made");
    let bytes = include_bytes!("../../policies/panics.wasm");
    let component =
        Component::from_bytes(&engine, "panics.wasm", bytes, Budget::default()).expect("it loads");
    let config = "
        plugins.wasm.panics = { path = \"panics.wasm\", options = { message = \"no such day\" } }
        conversation.release.policy = \"panics\"
        [conversation.tools.t]
        concurrency = 1
        [[call]]
        name = \"c\"
        tool = \"t\"
        copies = 2
    ";
    let scenario = Scenario::parse(&Source::new("panics.toml", config)).expect("a scenario");
    let record = simulate(&scenario, &component).expect("it comes to an end").record;
    let faults: Vec<String> = record.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        ["policy \"panics\" trapped: panicked at policies/panics/src/lib.rs:25:9: no such day"]
    );
    assert_eq!(record.calls.iter().filter(|call| call.succeeded()).count(), 2);
}
