//! Decisions that the batch or the guard does not allow, and odd ones that they do.

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::Carried,
    policy::{Arguments, PolicyFactory as _},
    scheduler::{EventKind, Options, Scheduler, Settlement},
};

use jp_policy_tests::support::{ABC, AT_FIRST, AT_SECOND, Case, load, quick};

/// Case 125: the answer is void as a whole, the valid half too.
#[test]
fn an_unknown_call() {
    Case::at_first("unknown", "0 s: released call 7, which the batch does not have").check();
    Case::at_first(
        "unknown-largest",
        "0 s: released call 4294967295, which the batch does not have",
    )
    .check();
}

/// B arrives late and is approved at 5; it holds C back in the default rules.
#[test]
fn a_call_that_is_not_approved() {
    const LATE: &str = r#"
conversation.tools.t.concurrency = 1
call = [
    { name = "A", tool = "t", does = "3s" },
    { name = "B", tool = "t", arrives = 1, approved = 5 },
    { name = "C", tool = "t", arrives = 1 },
]
"#;
    Case {
        batch: LATE,
        timelines: [
            ["A@0 B@5 C@6", "A!3 B!6 C!7", "A ok@3, B ok@6, C ok@7"],
            ["A@0", "A!3", "A ok@3, B policy-fault@5, C policy-fault@1"],
        ],
        ..Case::at_second("pending", "1 s: released call 1, which is not approved yet")
    }
    .check();
}

/// Case 128, the second run: call 0 in two answers in a row, and it runs already at the second.
#[test]
fn a_call_that_runs() {
    const LATE: &str = r#"
conversation.tools.t.concurrency = 1
call = [
    { name = "A", tool = "t", does = "3s" },
    { name = "B", tool = "t" },
    { name = "C", tool = "t", arrives = 1 },
]
"#;
    for policy in ["running", "again"] {
        Case {
            batch: LATE,
            timelines: [
                ["A@0 B@3 C@4", "A!3 B!4 C!5", "A ok@3, B ok@4, C ok@5"],
                ["A@0", "A!3", "A ok@3, B policy-fault@1, C policy-fault@1"],
            ],
            ..Case::at_second(policy, "1 s: released call 0, which runs already")
        }
        .check();
    }
}

/// Case 127, the first run.
#[test]
fn a_call_that_is_over() {
    const OVER: &str = "3 s: released call 0, which is over";
    Case::at_second("over", OVER).check();
    Case::at_second("again", OVER).check();
}

/// Case 127, the second run.
#[test]
fn a_call_that_was_rejected() {
    const REJECTED: &str = r#"
conversation.tools.t.concurrency = 1
call = [
    { name = "A", tool = "t", does = "3s", rejected = 0 },
    { name = "B", tool = "t" },
    { name = "C", tool = "t" },
]
"#;
    Case {
        batch: REJECTED,
        timelines: [
            ["B@0 C@1", "B!1 C!2", "A not-run@0, B ok@1, C ok@2"],
            ["", "", "A not-run@0, B policy-fault@0, C policy-fault@0"],
        ],
        ..Case::at_second("rejected", "0 s: released call 0, which is over")
    }
    .check();
}

/// Case 127, the third run: after a cancel nothing is parked, so the policy is not asked.
#[test]
fn a_cancelled_batch_asks_no_more() {
    let cancelled = format!("{ABC}event = [{{ at = 1, cancel = true }}]\n");
    let timeline = ["A@0", "A!1", "A cancelled@1, B cancelled@1, C cancelled@1"];
    Case::tame("over", cancelled.leak(), timeline).check();
}

/// And if the cancel comes while the policy thinks, its answer finds the call changed: it starts nothing, and is no fault.
#[test]
fn an_answer_that_a_cancel_has_overtaken_starts_nothing() {
    for policy in ["tame", "all-at-once"] {
        let source = Source::new("hostile.toml", "conversation.tools.t.concurrency = 1");
        let config = Config::from_sources(&[source]).expect("a configuration that holds");
        let (settings, component) =
            (config.settings(), load(policy, quick()).expect("it can be loaded"));
        let instance =
            component.instantiate(&settings, Arguments::default()).expect("it takes the settings");
        let identity = component.identity().clone();
        let mut scheduler =
            Scheduler::new(&settings, identity, instance, Options::default(), Carried::default());
        for call in 0..2 {
            scheduler.submit(0, 0, call);
            scheduler.approve(0, call);
        }
        let question = scheduler.poll_question(0).expect("it is asked");
        scheduler.cancel(1);
        let answer = question.ask();
        let released = answer.result().as_ref().map(|decision| decision.release.len());
        assert_eq!(
            released,
            Ok(if policy == "tame" { 1 } else { 2 }),
            "{policy} releases what it saw"
        );
        scheduler.answer(2, answer);
        assert!(scheduler.poll_question(2).is_none() && scheduler.is_settled());
        let mut settled = Vec::new();
        while let Some(event) = scheduler.poll_event() {
            match event.kind {
                EventKind::Settled(call, how) => settled.push((event.at, call, how)),
                EventKind::Released(..) | EventKind::Fault(_) => panic!("{policy}: {event:?}"),
                _ => {}
            }
        }
        assert_eq!(settled, [(1, 0, Settlement::Cancelled), (1, 1, Settlement::Cancelled)]);
    }
}

/// Case 128, the first run.
#[test]
fn a_call_that_stands_in_the_answer_twice() {
    Case::at_first("twice", "0 s: released call 0, which stands in the answer twice").check();
}

/// Case 130.
#[test]
fn more_than_the_limit() {
    const OVER_LIMIT: &str =
        "0 s: released calls 0, 1, 2 with key \"t\": with 0 running that is over the limit of 1";
    Case { next: (0, "D@0"), ..Case::at_first("all-at-once", OVER_LIMIT) }.check();
    Case {
        guard: "off",
        ..Case::tame("all-at-once", ABC, ["A@0 B@0 C@0", "B!1 C!1 A!3", "A ok@3, B ok@1, C ok@1"])
    }
    .check();
}

/// Case 140.
#[test]
fn last_in_first_out_is_a_choice() {
    const SHORT: &str = r#"
conversation.tools.t.concurrency = 1
call = [{ name = "A", tool = "t" }, { name = "B", tool = "t" }, { name = "C", tool = "t" }]
"#;
    let timeline = ["C@0 B@1 A@2", "C!1 B!2 A!3", "A ok@3, B ok@2, C ok@1"];
    Case::tame("last-first", SHORT, timeline).check();
    Case {
        batch: SHORT,
        guard: "order",
        timelines: [
            ["A@0 B@1 C@2", "A!1 B!2 C!3", "A ok@1, B ok@2, C ok@3"],
            ["", "", "A policy-fault@0, B policy-fault@0, C policy-fault@0"],
        ],
        next: (0, "D@0"),
        ..Case::at_first(
            "last-first",
            "0 s: released call 2 before call 0, which waits for the same key \"t\"",
        )
    }
    .check();
}

/// The limit leaves room for C, but B was written before it. That is the guard's business if it is set to `order`.
#[test]
fn past_a_call_that_is_not_approved() {
    const LATE: &str = r#"
conversation.tools.t.concurrency = 2
call = [
    { name = "A", tool = "t", does = "3s" },
    { name = "B", tool = "t", arrives = 1, approved = 5 },
    { name = "C", tool = "t", arrives = 1 },
]
"#;
    let timeline = ["A@0 C@1 B@5", "C!2 A!3 B!6", "A ok@3, B ok@6, C ok@2"];
    Case::tame("all-at-once", LATE, timeline).check();
    Case {
        batch: LATE,
        guard: "order",
        timelines: [
            ["A@0 B@5 C@5", "A!3 B!6 C!6", "A ok@3, B ok@6, C ok@6"],
            ["A@0", "A!3", "A ok@3, B policy-fault@5, C policy-fault@1"],
        ],
        ..Case::at_second(
            "all-at-once",
            "1 s: released call 2 before call 1, which waits for the same key \"t\"",
        )
    }
    .check();
}

/// Case 131.
#[test]
fn nothing_ever() {
    Case::at_first(
        "nothing",
        "0 s: stalls: calls 0, 1, 2 are parked, nothing runs, nobody is asked and no wake-up is set",
    )
    .check();
}

#[test]
fn one_call_forgotten() {
    Case {
        timelines: [AT_SECOND[0], ["A@0 B@3", "A!3 B!4", "A ok@3, B ok@4, C policy-fault@4"]],
        ..Case::at_second(
            "forgets",
            "4 s: stalls: call 2 is parked, nothing runs, nobody is asked and no wake-up is set",
        )
    }
    .check();
}

/// It is found when nothing runs any more, and not before: what runs could change the policy's mind.
#[test]
fn one_call_forgotten_beside_a_long_one() {
    const WITH_U: &str = r#"
conversation.tools.t.concurrency = 1
conversation.tools.u = {}
call = [
    { name = "A", tool = "t" },
    { name = "U", tool = "u", does = "1s ask 1s", answered = 601 },
    { name = "C", tool = "t" },
]
"#;
    Case {
        batch: WITH_U,
        timelines: [
            ["A@0 U@0 C@602", "A!1 U!602 C!603", "A ok@1, U ok@602, C ok@603"],
            ["A@0 U@0", "A!1 U!602", "A ok@1, U ok@602, C policy-fault@602"],
        ],
        ..Case::at_second(
            "forgets",
            "602 s: stalls: call 2 is parked, nothing runs, nobody is asked and no wake-up is set",
        )
    }
    .check();
}

/// Not pure, which nobody can tell from a single batch; and harmless.
#[test]
fn a_decision_that_depends_on_how_often_it_was_asked() {
    let timeline = ["A@1 B@5 C@7", "A!4 B!6 C!8", "A ok@4, B ok@6, C ok@8"];
    Case { next: (0, "D@1"), ..Case::tame("counts", ABC, timeline) }.check();
}

/// The control: what is hostile about the others is not in what they share.
#[test]
fn the_prelude_is_tame() {
    Case::tame("tame", ABC, AT_FIRST[0]).check();
}
