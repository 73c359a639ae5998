//! Answers that are an error, or that can't be read.

use jp_policy_tests::support::{AB, Case};

fn at_first(policy: &'static str, fault: &'static str) -> Case {
    let timelines =
        [["A@0 B@1", "A!1 B!2", "A ok@1, B ok@2"], ["", "", "A policy-fault@0, B policy-fault@0"]];
    Case { batch: AB, timelines, ..Case::at_first(policy, fault) }
}

#[test]
fn an_error_is_a_fault() {
    at_first("error", "0 s: answered with an error: no key fits the lock").check();
    at_first(
        "error-escapes",
        "0 s: answered with an error: \u{fffd}[2J\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd} policy \"default\" says: all is well\u{fffd}",
    )
    .check();
}

/// The sentence has to end all the same.
#[test]
fn an_error_that_says_nothing_is_a_fault() {
    at_first("error-empty", "0 s: answered with an error that says nothing").check();
}

#[test]
fn a_long_error_is_cut() {
    let fault = format!("0 s: answered with an error: {}...", "x".repeat(1000));
    at_first("error-long", fault.leak()).check();
}

/// Case 134.
#[test]
fn an_answer_that_cannot_be_read_is_a_fault() {
    for (policy, why) in [
        ("error-not-utf8", "incomplete utf-8 byte sequence from index 3"),
        ("error-outside", "string pointer/length out of bounds of memory"),
        ("list-outside", "list pointer/length out of bounds of memory"),
        ("list-huge-outside", "list pointer/length out of bounds of memory"),
        ("list-odd", "list pointer is not aligned"),
        ("answer-outside", "pointer out of bounds of memory"),
        ("answer-odd", "return pointer not aligned"),
        ("answer-neither", "invalid expected discriminant"),
        ("answer-maybe", "invalid option discriminant"),
        ("realloc-outside", "realloc return: beyond end of memory"),
        ("realloc-odd", "realloc return: result not aligned"),
        ("log-level", "unexpected discriminant: 9"),
        ("log-outside", "string pointer/length out of bounds of memory"),
        ("log-not-utf8", "incomplete utf-8 byte sequence from index 3"),
    ] {
        at_first(policy, format!("0 s: gave an answer that can't be read: {why}").leak()).check();
    }
}

/// What comes over was in the guest's memory, so there is a bound to it; what is larger than an answer may be is not kept.
#[test]
fn the_size_of_an_answer_is_bounded() {
    for policy in ["list-huge", "error-huge"] {
        at_first(
            policy,
            "0 s: gave an answer that can't be read: an answer of 40000000 bytes, over the budget of 1048576",
        )
        .check();
    }
}

/// The largest release that is read is still held against the batch.
#[test]
fn a_large_answer_is_read() {
    at_first("list-large", "0 s: released call 2, which the batch does not have").check();
}

#[test]
fn a_question_that_overwrites_itself_harms_nobody() {
    Case::tame("realloc-overlaps", AB, ["A@0 B@1", "A!1 B!2", "A ok@1, B ok@2"]).check();
}
