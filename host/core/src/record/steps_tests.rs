use std::path::Path;

use jp_policy_guest::{Key, Settings, Tool};
use proptest::prelude::*;

use super::*;
use crate::{
    batch::{Carried, End, Instant},
    policy::{Arguments, Native, OnFault, PolicyFactory as _},
    record::RecordFile,
    scheduler::{Options, Scheduler},
};

const HEADER: &str = r#"{"format":"jp-policy.record","version":1,"time":"2026-01-01T00:00:00Z","policy":{"name":"p"},"guard":"limit","on_fault":"default","tools":[{"name":"t"}],"keys":[]}"#;

/// Reads a record of two calls with these steps, each `event field=value ...`.
fn read(steps: &[&str]) -> Result<(), String> {
    let mut text = format!("{HEADER}\n");
    for call in 0..2 {
        text += &format!(
            "{{\"at\":0,\"event\":\"submitted\",\"call\":{call},\"id\":\"c{call}\",\"tool\":\"t\",\"parent\":{call}}}\n"
        );
    }
    for step in steps {
        let mut words = step.split(' ');
        let event = words.next().unwrap_or_default();
        let mut line = format!("{{\"at\":0,\"event\":\"{event}\"");
        for (name, value) in words.filter_map(|word| word.split_once('=')) {
            let value = if name == "how" { format!("\"{value}\"") } else { value.to_owned() };
            line += &format!(",\"{name}\":{value}");
        }
        text += &format!("{line}}}\n");
    }
    let file = RecordFile::parse(Path::new("r"), text.as_bytes());
    file.map(drop).map_err(|error| error.to_string())
}

const PARKED: &str = "parked call=0";
const RELEASED: &str = "released call=0 execution=5";
const ASKED: &str = "asked call=0";
const ENDED: &str = "ended call=0 execution=5 how=succeeded";
const RESPONDED: &str = "settled call=0 how=responded";
const NOT_RUN: &str = "settled call=0 how=not-run";
const RESTARTED: &str = "restarted call=0";
const GONE: &str = "ended call=null execution=5 how=stopped";

#[test]
fn each_impossible_step_names_its_line_its_call_and_what_was_expected() {
    let impossible: &[&[&str]] = &[
        &[PARKED, PARKED],
        &[RELEASED],
        &[PARKED, RELEASED, "released call=0 execution=6"],
        &[PARKED, RELEASED, "parked call=1", "released call=1 execution=5"],
        &[PARKED, RELEASED, ENDED, "parked call=1", "released call=1 execution=5"],
        &[PARKED, ASKED],
        &[PARKED, RELEASED, ASKED, ASKED],
        &[PARKED, RELEASED, "answered call=0"],
        &[PARKED, RELEASED, ASKED, ENDED, "answered call=0"],
        &[PARKED, ENDED],
        &[PARKED, RELEASED, ENDED, ENDED],
        &[PARKED, RELEASED, "ended call=0 execution=6 how=failed"],
        &[PARKED, RELEASED, "ended call=1 execution=5 how=failed"],
        &[PARKED, RELEASED, GONE],
        &[PARKED, RELEASED, ENDED, GONE],
        &[PARKED, RELEASED, RESTARTED, GONE, GONE],
        &[PARKED, RELEASED, RESTARTED, ENDED],
        &[PARKED, RELEASED, ENDED, "stop execution=5"],
        &[PARKED, RESPONDED],
        &[PARKED, RELEASED, RESPONDED],
        &[PARKED, RELEASED, NOT_RUN],
        &[PARKED, RELEASED, "settled call=0 how=cancelled"],
        &["settled call=0 how=policy-fault"],
        &[NOT_RUN, NOT_RUN],
        &[PARKED, RELEASED, ENDED, RESPONDED, RESPONDED],
        &[NOT_RUN, PARKED],
        &[NOT_RUN, RESTARTED],
    ];
    let errors = impossible.iter().map(|steps| {
        let error = read(steps).expect_err("it is impossible");
        assert_eq!(read(&steps[..steps.len() - 1]), Ok(()), "only the last step is");
        error.replace("record `r`, ", "")
    });
    insta::assert_snapshot!(errors.collect::<Vec<_>>().join("\n"), @r#"
    line 5: call 0 can't be parked: it is parked, expected pending
    line 4: call 0 can't be released: it is pending, expected parked
    line 6: call 0 can't be released: it runs, as execution 5, expected parked
    line 7: call 1 can't be released as execution 5: there is one of this number, expected another
    line 8: call 1 can't be released as execution 5: there is one of this number, expected another
    line 5: call 0 can't be asked: it is parked, expected running without an open question
    line 7: call 0 can't be asked: it runs and asks, as execution 5, expected running without an open question
    line 6: call 0 can't be answered: it runs, as execution 5, expected running with an open question
    line 8: call 0 can't be answered: it has ended, expected running with an open question
    line 5: call 0 can't be ended: it is parked, expected running as execution 5
    line 7: call 0 can't be ended: it has ended, expected running as execution 5
    line 6: call 0 can't be ended: it runs, as execution 5, expected running as execution 6
    line 6: call 1 can't be ended: it is pending, expected running as execution 5
    line 6: execution 5 can't be ended as that of no call: it is that of call 0, expected "call": 0
    line 7: execution 5 can't be ended: it has ended, expected one in flight
    line 8: execution 5 can't be ended: it has ended, expected one in flight
    line 7: call 0 can't be ended: it is pending, expected running as execution 5
    line 7: execution 5 can't be stopped: it has ended, expected one in flight
    line 5: call 0 can't be settled: it is parked, expected ended or pending
    line 6: call 0 can't be settled: it runs, as execution 5, expected ended or pending
    line 6: call 0 can't be settled: it runs, as execution 5, expected pending or parked
    line 6: call 0 can't be settled: it runs, as execution 5, expected pending or parked
    line 4: call 0 can't be settled: it is pending, expected parked
    line 5: call 0 can't be settled: it is settled, expected pending or parked
    line 8: call 0 can't be settled: it is settled, expected ended or pending
    line 5: call 0 can't be parked: it is settled, expected pending
    line 5: call 0 can't be restarted: it is settled, expected not settled
    "#);
}

#[test]
fn what_can_follow_each_other_is_taken() {
    let possible: &[&[&str]] = &[
        &[PARKED, RELEASED, ASKED, "answered call=0", ASKED, ENDED, RESPONDED],
        // It had its response when the batch was resumed.
        &[RESPONDED, "parked call=1", "settled call=1 how=policy-fault"],
        &[PARKED, NOT_RUN, "settled call=1 how=cancelled"],
        // Restarted at each stage; what was stopped ends later, beside the next run.
        &[RESTARTED, PARKED, RESTARTED, PARKED, RELEASED, "stop execution=5", RESTARTED, PARKED],
        &[PARKED, RELEASED, RESTARTED, PARKED, "released call=0 execution=6", GONE],
        &[PARKED, RELEASED, ENDED, RESTARTED, PARKED, "released call=0 execution=6"],
        // Of an earlier batch.
        &["stop execution=1", "ended call=null execution=1 how=stopped"],
    ];
    for steps in possible {
        assert_eq!(read(steps), Ok(()), "{steps:?}");
    }
}

/// Something that a driver tells a scheduler.
#[derive(Debug, Clone, Copy)]
enum Told {
    Submit { answered: bool },
    Approve(CallId),
    Settle(CallId),
    Ask(u64, bool),
    End(u64, End),
    Respond(CallId),
    Withdraw(CallId),
    Decide,
    Restart,
    Cancel,
}

fn told() -> impl Strategy<Value = Told> {
    let call = 0..6_u32;
    let execution = 0..10_u64;
    let end = prop_oneof![Just(End::Succeeded), Just(End::Failed), Just(End::Stopped)];
    prop_oneof![
        3 => prop::bool::weighted(0.2).prop_map(|answered| Told::Submit { answered }),
        6 => call.clone().prop_map(Told::Approve),
        1 => call.clone().prop_map(Told::Settle),
        2 => (execution.clone(), any::<bool>()).prop_map(|(id, asks)| Told::Ask(id, asks)),
        6 => (execution, end).prop_map(|(id, end)| Told::End(id, end)),
        4 => call.clone().prop_map(Told::Respond),
        1 => call.prop_map(Told::Withdraw),
        6 => Just(Told::Decide),
        2 => Just(Told::Restart),
        1 => Just(Told::Cancel),
    ]
}

proptest! {
    /// Whatever a scheduler is told, each event it tells of can follow those before it.
    #[test]
    fn what_a_scheduler_tells_of_is_possible(all in prop::collection::vec(told(), 0..80)) {
        let settings = Settings {
            tools: vec![Tool { name: "t".into(), key: Some(0) }],
            keys: vec![Key { name: "t".into(), limit: 2, fields: vec![] }],
            options: vec![],
        };
        let rules = Native::rules();
        let policy = rules.instantiate(&settings, Arguments::default()).expect("it takes them");
        let options = Options { on_fault: OnFault::Settle, ..Options::default() };
        let carried = Carried::of([Some("t".to_owned())]);
        let mut scheduler =
            Scheduler::new(&settings, rules.identity().clone(), policy, options, carried);
        let mut steps = Steps::default();
        for (now, told) in (0 as Instant..).zip(all) {
            match told {
                Told::Submit { answered: false } => drop(scheduler.submit(now, 0, 0)),
                Told::Submit { answered: true } => drop(scheduler.submit_answered(now, 0, 0)),
                Told::Approve(call) => drop(scheduler.approve(now, call)),
                Told::Settle(call) => drop(scheduler.settle(now, call)),
                Told::Ask(id, asks) => scheduler.set_asking(now, ExecutionId::numbered(id), asks),
                Told::End(id, end) => scheduler.end(now, ExecutionId::numbered(id), end),
                Told::Respond(call) => drop(scheduler.respond(now, call)),
                Told::Withdraw(call) => scheduler.withdraw(now, call),
                Told::Restart => scheduler.restart(now),
                Told::Cancel => scheduler.cancel(now),
                Told::Decide => {
                    while let Some(question) = scheduler.poll_question(now) {
                        scheduler.answer(now, question.ask());
                    }
                }
            }
            while let Some(event) = scheduler.poll_event() {
                prop_assert_eq!(steps.take(&event.kind), Ok(()), "{:?}", event);
            }
        }
    }
}
