use jp_policy_config::Source;
use jp_policy_core::{
    batch::{CallId, Instant},
    policy::Native,
};
use jp_policy_harness::Scenario;
use jp_policy_report::{Holder, WaitAnalysis, WaitCause, WaitInterval, WaitingCall};

fn analyse(text: &str) -> WaitAnalysis {
    let scenario = Scenario::parse(&Source::new("a.toml", text)).expect("it can be read");
    jp_policy_harness::analyse_waits(&scenario, &Native::rules()).expect("it comes to an end")
}

/// What a call waits for, without the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Approval,
    Barrier,
    Key,
    Policy,
    Asked,
}

const SECOND: Instant = 1_000_000_000;

const TWO_SLOTS: &str = r#"
    [conversation.tools.edit]
    concurrency = 2
    [conversation.tools.read]

    [[call]]
    name = "A"
    tool = "edit"
    does = "3s"
    [[call]]
    name = "B"
    tool = "edit"
    does = "5s"
    [[call]]
    name = "C"
    tool = "edit"
    [[call]]
    name = "D"
    tool = "edit"
    [[call]]
    name = "E"
    tool = "read"
    approved = 1
"#;

fn holder(call: CallId, since: Instant) -> Holder {
    Holder { call, since, stopping: false }
}

fn key(holders: Vec<Holder>, ahead: Vec<CallId>) -> WaitCause {
    WaitCause::Key { key: 0, limit: 2, holders, earlier: 0, ahead }
}

#[test]
fn an_instant_has_the_barrier_then_key_holders_and_place_in_line() {
    let mut analysis = analyse(TWO_SLOTS);
    let barrier = |call| WaitingCall {
        call,
        since: 0,
        cause: WaitCause::Barrier { undecided: vec![4] },
        reason: None,
    };
    let approval = WaitingCall { call: 4, since: 0, cause: WaitCause::Approval, reason: None };
    // The first two could start but for the barrier; the others wait for their turn, which is for the barrier too.
    assert_eq!(analysis.at(0), [barrier(0), barrier(1), barrier(2), barrier(3), approval]);
    let waits = |call, cause| WaitingCall { call, since: 0, cause, reason: None };
    let held = vec![holder(0, SECOND), holder(1, SECOND)];
    assert_eq!(
        analysis.at(SECOND),
        [waits(2, key(held.clone(), vec![])), waits(3, key(held, vec![2]))]
    );
    let held = vec![holder(1, SECOND), holder(2, 4 * SECOND)];
    assert_eq!(analysis.at(4 * SECOND), [waits(3, key(held, vec![]))]);
    assert_eq!(analysis.at(5 * SECOND), []);
    assert_eq!(analysis.at(Instant::MAX), []);
}

#[test]
fn a_history_has_one_stretch_for_each_thing_that_was_waited_for() {
    let mut analysis = analyse(TWO_SLOTS);
    let history = analysis.history();
    let told: Vec<Vec<(Instant, Option<Instant>, Kind)>> = history
        .iter()
        .map(|stretches| {
            let told = stretches.iter().map(|interval| {
                let kind = match interval.cause {
                    WaitCause::Approval => Kind::Approval,
                    WaitCause::Barrier { .. } => Kind::Barrier,
                    WaitCause::Key { .. } => Kind::Key,
                    WaitCause::Policy { .. } => Kind::Policy,
                    WaitCause::Asked => Kind::Asked,
                };
                (interval.from / SECOND, interval.to.map(|to| to / SECOND), kind)
            });
            told.collect()
        })
        .collect();
    let barrier = (0, Some(1), Kind::Barrier);
    assert_eq!(
        told,
        [
            vec![barrier],
            vec![barrier],
            vec![barrier, (1, Some(4), Kind::Key)],
            vec![barrier, (1, Some(5), Kind::Key)],
            vec![(0, Some(1), Kind::Approval)],
        ]
    );
    assert_eq!(analysis.held(0, &history[2][1]), [0, 1]);
    assert_eq!(analysis.held(0, &history[3][1]), [0, 1, 2]);
}

#[test]
fn after_a_restart_what_is_being_stopped_holds_its_slot() {
    let mut analysis = analyse(
        r#"
        [conversation.tools.edit]
        concurrency = 1
        [[call]]
        name = "A"
        tool = "edit"
        does = "9s"
        gone = 5
        [[event]]
        at = 2
        restart = true
        "#,
    );
    let holders = vec![Holder { call: 0, since: 0, stopping: true }];
    let cause = WaitCause::Key { key: 0, limit: 1, holders, earlier: 0, ahead: vec![] };
    assert_eq!(
        analysis.at(3 * SECOND),
        [WaitingCall { call: 0, since: 2 * SECOND, cause: cause.clone(), reason: None }]
    );
    let history = analysis.history();
    assert_eq!(
        history,
        [[WaitInterval { from: 2 * SECOND, to: Some(5 * SECOND), cause, reason: None }]]
    );
}

#[test]
fn nothing_starts_before_the_last_call_is_written() {
    let mut analysis = analyse(
        r#"
        complete = 2
        [conversation.tools.read]
        [[call]]
        name = "A"
        tool = "read"
        "#,
    );
    let cause = WaitCause::Barrier { undecided: vec![] };
    assert_eq!(
        analysis.at(SECOND),
        [WaitingCall { call: 0, since: 0, cause: cause.clone(), reason: None }]
    );
    assert_eq!(analysis.at(2 * SECOND), []);
    let interval = WaitInterval { from: 0, to: Some(2 * SECOND), cause, reason: None };
    assert_eq!(analysis.history(), [[interval]]);
}
