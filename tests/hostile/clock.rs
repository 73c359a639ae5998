//! Wake-ups: too soon, too often, never, and with every right.

use jp_policy_tests::support::{AB, ABC, Case, Life, live, load, quick};

/// Woken every millisecond without a use for it: the hundredth time it is out.
#[test]
fn wake_ups_without_a_pause_are_a_spin() {
    const SPIN: &str = "0.1 s: spins: woken 100 times in a row without a pause, it released nothing and asked to be woken again";
    for policy in ["wake-in-the-past", "wake-at-once"] {
        Case {
            timelines: [
                ["A@0.1 B@3.1 C@4.1", "A!3.1 B!4.1 C!5.1", "A ok@3.1, B ok@4.1, C ok@5.1"],
                ["", "", "A policy-fault@0.1, B policy-fault@0.1, C policy-fault@0.1"],
            ],
            next: (1, "D@0.1"),
            ..Case::at_first(policy, SPIN)
        }
        .check();
    }
}

/// Also while something runs that would end the wait.
#[test]
fn a_spin_is_one_while_something_runs_too() {
    const SPIN: &str = "0.1 s: spins: woken 100 times in a row without a pause, it released nothing and asked to be woken again";
    Case {
        timelines: [
            ["A@0 B@3 C@4", "A!3 B!4 C!5", "A ok@3, B ok@4, C ok@5"],
            ["A@0", "A!3", "A ok@3, B policy-fault@0.1, C policy-fault@0.1"],
        ],
        ..Case::at_second("wake-while-it-runs", SPIN)
    }
    .check();
}

/// What comes to something in the end is not.
#[test]
fn a_policy_that_releases_in_the_end_may_wake_often() {
    let timeline = ["A@0.05 B@3.1 C@4.15", "A!3.05 B!4.1 C!5.15", "A ok@3.05, B ok@4.1, C ok@5.15"];
    Case { next: (0, "D@0.05"), ..Case::tame("wake-often", ABC, timeline) }.check();
}

#[test]
fn never_to_be_woken_again_is_a_stall() {
    Case {
        timelines: [
            ["A@1 B@4 C@5", "A!4 B!5 C!6", "A ok@4, B ok@5, C ok@6"],
            ["", "", "A policy-fault@1, B policy-fault@1, C policy-fault@1"],
        ],
        next: (1, "D@1"),
        ..Case::at_first(
            "wake-once",
            "1 s: stalls: calls 0, 1, 2 are parked, nothing runs, nobody is asked and no wake-up is set",
        )
    }
    .check();
}

/// There is nothing after the last instant: asked for ever there, in no time at all, the host would hang.
#[test]
fn a_wake_up_at_the_end_of_time_comes_to_an_end() {
    let component = load("wake-at-the-end-of-time", quick()).expect("it can be loaded");
    let record = live(&component, ABC, "{ on_fault = \"settle\" }").expect("it comes to an end");
    let faults: Vec<_> = record.faults.iter().map(|fault| (fault.at, fault.kind.word())).collect();
    assert_eq!(faults, [(u64::MAX, "spin")]);
    assert_eq!(Life::of(&record).starts, "");
}

/// A policy may wait as long as it likes, so it is for people to end the wait: a cancel does, at once.
#[test]
fn an_endless_wait_can_be_cancelled() {
    let cancelled = format!("{ABC}event = [{{ at = 5, cancel = true }}]\n");
    let timeline = ["", "", "A cancelled@5, B cancelled@5, C cancelled@5"];
    for policy in ["wake-each-millisecond", "wake-at-the-end-of-time"] {
        let component = load(policy, quick()).expect("it can be loaded");
        let record = live(&component, &cancelled, "{}").expect("it serves the batch");
        let [starts, ends, responses] = timeline.map(str::to_owned);
        assert_eq!(
            Life::of(&record),
            Life { starts, ends, responses, faults: Vec::new() },
            "{policy}"
        );
    }
}

/// Case 133: four waits that are none of the policy's fault.
#[test]
fn waiting_for_people_or_timers_is_no_stall() {
    const ASKS: &str = r#"
conversation.tools.t.concurrency = 1
call = [
    { name = "A", tool = "t", does = "1s ask 1s", answered = 601 },
    { name = "B", tool = "t" },
]
"#;
    const PROMPT: &str = r#"
conversation.tools.t.concurrency = 1
call = [{ name = "A", tool = "t", approved = 600 }, { name = "B", tool = "t" }]
"#;
    const REVIEW: &str = r#"
conversation.tools.t.concurrency = 1
call = [{ name = "A", tool = "t", reviewed = 601 }, { name = "B", tool = "t" }]
"#;
    Case::tame("tame", ASKS, ["A@0 B@602", "A!602 B!603", "A ok@602, B ok@603"]).check();
    Case::tame("tame", PROMPT, ["A@600 B@601", "A!601 B!602", "A ok@601, B ok@602"]).check();
    Case::tame("tame", REVIEW, ["A@0 B@1", "A!1 B!2", "A ok@601, B ok@2"]).check();
    let timeline = ["A@0 B@601", "A!1 B!602", "A ok@1, B ok@602"];
    Case::tame("patient", AB, timeline).check();
}
