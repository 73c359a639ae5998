//! What costs too much: time, fuel, memory, tables, the stack.

use jp_policy_core::policy::FaultKind;
use jp_policy_wasm::Budget;

use jp_policy_tests::support::{AB, ABC, AT_FIRST, Case, live, load, quick, short};

/// Case 121: U has no key and is not touched.
const AB_AND_U: &str = r#"
conversation.tools.t.concurrency = 1
conversation.tools.u = {}
call = [
    { name = "A", tool = "t", does = "3s" },
    { name = "B", tool = "t", does = "1s" },
    { name = "U", tool = "u", does = "5s" },
]
"#;

#[test]
fn an_endless_loop_runs_out_of_fuel() {
    const FUEL: &str = "0 s: used up its budget of 20000000 instructions for one question";
    Case::at_first("loop-at-once", FUEL).check();
    Case::at_first("loop-by-tail-calls", FUEL).check();
    Case::at_first("fill", FUEL).check();
    Case::at_first("copy", FUEL).check();
    Case::at_first("realloc-loops", FUEL).check();
    Case::at_first("post-return-loops", FUEL).check();
    Case {
        batch: AB_AND_U,
        timelines: [
            ["A@0 U@0 B@3", "A!3 B!4 U!5", "A ok@3, B ok@4, U ok@5"],
            ["A@0 U@0", "A!3 U!5", "A ok@3, B policy-fault@3, U ok@5"],
        ],
        ..Case::at_second(
            "loop",
            "3 s: used up its budget of 20000000 instructions for one question",
        )
    }
    .check();
}

/// A policy that was quick may take its time later, up to its budget and no further.
#[test]
fn a_loop_after_quick_answers_runs_out_of_fuel() {
    Case {
        timelines: [AT_FIRST[0], ["A@0 B@3", "A!3 B!4", "A ok@3, B ok@4, C policy-fault@4"]],
        ..Case::at_second(
            "loop-at-the-third",
            "4 s: used up its budget of 20000000 instructions for one question",
        )
    }
    .check();
    Case::tame("think-at-the-third", ABC, AT_FIRST[0]).check();
}

/// A host call costs the policy next to nothing, so that there are many of them to a budget.
#[test]
fn endless_host_calls_run_out_of_fuel() {
    const FUEL: &str = "0 s: used up its budget of 20000 instructions for one question";
    let budget = Budget { fuel: 20_000, ..quick() };
    Case { budget, ..Case::at_first("arguments-for-ever", FUEL) }.check();
    Case { budget, ..Case::at_first("log-for-ever", FUEL) }.check();
}

/// The clock cuts off what has fuel without end: nothing but the time can end these. Case 122 with it: no host call waits, and
/// many of them are cut off as well.
#[test]
fn what_has_fuel_without_end_runs_out_of_time() {
    for policy in
        ["loop-at-once", "loop-by-tail-calls", "fill", "copy", "arguments-for-ever", "log-for-ever"]
    {
        Case { budget: short(), ..Case::at_first(policy, "0 s: gave no answer within 50 ms") }
            .check();
    }
}

/// Which of the two comes first depends on the machine.
#[test]
fn the_default_budget_ends_an_endless_loop() {
    let component = load("loop-at-once", Budget::default()).expect("it can be loaded");
    let record = live(&component, ABC, "{}").expect("it serves the batch");
    let [fault] = record.faults.as_slice() else {
        panic!("{:?}", record.faults);
    };
    assert!(
        matches!(
            fault.kind,
            FaultKind::OutOfTime { budget_ms: 2000 } | FaultKind::OutOfFuel { budget: 500_000_000 }
        ),
        "{fault}"
    );
}

/// 153 questions, each with fuel for one: what was used before counts for nothing.
#[test]
fn each_question_has_the_whole_budget() {
    let component =
        load("wake-often", Budget { fuel: 1_000, ..quick() }).expect("it can be loaded");
    let record = live(&component, ABC, "{}").expect("it serves the batch");
    assert_eq!((record.faults.len(), record.decisions), (0, 153));
}

/// Case 124.
#[test]
fn endless_recursion_overflows_the_guests_stack_only() {
    const STACK: &str = "0 s: trapped: wasm trap: call stack exhausted";
    let timelines =
        [["A@0 B@1", "A!1 B!2", "A ok@1, B ok@2"], ["", "", "A policy-fault@0, B policy-fault@0"]];
    for policy in ["recursion", "recursion-over-host"] {
        Case { batch: AB, timelines, ..Case::at_first(policy, STACK) }.check();
    }
}

#[test]
fn memory_is_bounded() {
    const MEMORY: &str = "0 s: wanted more than its 67108864 bytes of memory";
    Case::at_first("grow", MEMORY).check();
    Case::at_first("grow-for-ever", MEMORY).check();
    Case::at_first("grow-at-once", MEMORY).check();
    let timelines = [
        ["A@0 B@3 C@4", "A!3 B!4 C!5", "A ok@3, B ok@4, C ok@5"],
        ["A@0 B@3", "A!3 B!4", "A ok@3, B ok@4, C policy-fault@4"],
    ];
    Case {
        timelines,
        ..Case::at_second("grow-each-time", "4 s: wanted more than its 67108864 bytes of memory")
    }
    .check();
}

/// What a memory's own maximum refuses was never had, so it counts for nothing.
#[test]
fn growth_past_a_memorys_own_limit_is_refused_and_costs_nothing() {
    Case::tame("grow-past-its-own-limit", ABC, AT_FIRST[0]).check();
}

#[test]
fn tables_are_bounded() {
    Case::at_first("table", "0 s: wanted tables of more than its 100000 elements").check();
}
