//! What takes more than one batch, or a policy that is a closure; single batches are scenarios under `tests/scenarios`.

use jp_policy_guest::{Batch as Shown, Key, Tool};

use super::*;
use crate::policy::{Arguments, Native, PolicyFactory};

const SECOND: Instant = 1_000_000_000;

/// Tools `t` (key `k`, limit 1) and `u` (no key).
fn settings() -> Settings {
    Settings {
        tools: vec![Tool { name: "t".into(), key: Some(0) }, Tool { name: "u".into(), key: None }],
        keys: vec![Key { name: "k".into(), limit: 1, fields: vec![] }],
        options: vec![],
    }
}

fn scheduler(carried: Carried) -> Scheduler {
    let rules = Native::rules();
    let policy =
        rules.instantiate(&settings(), Arguments::default()).expect("the rules take everything");
    Scheduler::new(&settings(), rules.identity().clone(), policy, Options::default(), carried)
}

/// A policy that is a function of the question.
struct Closure<F>(F);

impl<F: FnMut(&Shown) -> Decision + Send + Sync> Policy for Closure<F> {
    fn view(&self) -> View {
        View::Full
    }

    fn release(&mut self, batch: &Shown) -> Result<Decision, FaultKind> {
        Ok((self.0)(batch))
    }

    /// What it sees when it is asked why.
    fn explain(&mut self, batch: &Shown, call: CallId) -> Option<String> {
        let states: Vec<_> = batch.calls.iter().map(|call| (call.id, call.state)).collect();
        let usage = &batch.keys[0];
        Some(format!(
            "{call}: {} {} of {}, {states:?}",
            batch.running, usage.running, usage.waiting
        ))
    }
}

fn with(
    options: Options,
    decide: impl FnMut(&Shown) -> Decision + Send + Sync + 'static,
) -> Scheduler {
    let identity = Identity { name: "closure".into(), digest: None };
    Scheduler::new(&settings(), identity, Box::new(Closure(decide)), options, Carried::default())
}

/// Submits and approves.
fn call(scheduler: &mut Scheduler, now: Instant, tool: ToolIndex) -> CallId {
    let parent = u32::try_from(scheduler.batch().calls().len()).expect("few calls");
    let call = scheduler.submit(now, tool, parent);
    scheduler.approve(now, call);
    call
}

/// Decides, and gives what was released since the last time.
fn released(scheduler: &mut Scheduler, now: Instant) -> Vec<(CallId, ExecutionId)> {
    while let Some(question) = scheduler.poll_question(now) {
        scheduler.answer(now, question.ask());
    }
    let events = std::iter::from_fn(|| scheduler.poll_event());
    events
        .filter_map(|event| match event.kind {
            EventKind::Released(call, execution) => Some((call, execution)),
            _ => None,
        })
        .collect()
}

fn faults(scheduler: &mut Scheduler) -> Vec<String> {
    let events = std::iter::from_fn(|| scheduler.poll_event());
    events
        .filter_map(|event| match event.kind {
            EventKind::Fault(fault) => Some(fault.to_string()),
            _ => None,
        })
        .collect()
}

/// Case 47: a slot belongs to its execution, not to the batch.
#[test]
fn an_execution_of_an_earlier_batch_holds_its_slot_until_it_is_gone() {
    let mut first = scheduler(Carried::default());
    call(&mut first, 0, 0);
    let run = released(&mut first, 0)[0].1;
    first.cancel(2 * SECOND);
    assert!(!first.is_settled(), "it has its response when it is gone");

    let mut second = scheduler(first.into_carried());
    let next = call(&mut second, 0, 0);
    assert_eq!(released(&mut second, 0), []);
    assert_eq!(second.why(next), Some(Waiting::Key { key: 0, ahead: 0 }));
    second.end(SECOND / 2, run, End::Stopped);
    assert_eq!(released(&mut second, SECOND / 2).len(), 1);
}

/// Case 7: the second notice of an end is for nobody.
#[test]
fn a_slot_is_given_back_once() {
    let mut first = scheduler(Carried::default());
    call(&mut first, 0, 0);
    let run = released(&mut first, 0)[0].1;
    first.end(SECOND, run, End::Succeeded);
    first.end(2 * SECOND, run, End::Succeeded);
    assert_eq!(first.batch().running(0), 0);
    assert!(first.respond(2 * SECOND, 0));
    assert!(first.is_settled());

    let mut second = scheduler(first.into_carried());
    call(&mut second, 0, 0);
    call(&mut second, 0, 0);
    assert_eq!(released(&mut second, 0).len(), 1, "still one at a time");
    second.end(SECOND, run, End::Succeeded);
    assert_eq!(released(&mut second, SECOND), [], "a notice from the batch before frees nothing");
}

/// Between two batches an execution may end, and then the next batch knows nothing of it.
#[test]
fn what_ends_between_two_batches_is_not_carried() {
    let mut first = scheduler(Carried::default());
    call(&mut first, 0, 0);
    let run = released(&mut first, 0)[0].1;
    let mut carried = first.into_carried();
    assert_eq!(carried.len(), 1);
    assert!(carried.end(run));
    assert!(!carried.end(run));
    let mut second = scheduler(carried);
    call(&mut second, 0, 0);
    assert_eq!(released(&mut second, 0).len(), 1);
}

/// Case 53: a cancel after the end changes nothing.
#[test]
fn a_cancel_after_the_end_changes_nothing() {
    let mut scheduler = scheduler(Carried::default());
    call(&mut scheduler, 0, 0);
    let run = released(&mut scheduler, 0)[0].1;
    scheduler.end(SECOND, run, End::Succeeded);
    scheduler.respond(SECOND, 0);
    while scheduler.poll_event().is_some() {}
    scheduler.cancel(SECOND + 1);
    scheduler.cancel(SECOND + 1);
    let told: Vec<Event> = std::iter::from_fn(|| scheduler.poll_event()).collect();
    assert!(
        matches!(told[..], [Event { at: 1_000_000_001, kind: EventKind::Cancelled }]),
        "{told:?}"
    );
    let late = scheduler.submit(SECOND + 2, 0, 1);
    assert_eq!(scheduler.batch().get(late).map(|call| call.stage), Some(Stage::Settled));
}

/// A policy is asked for its reasons right after it has answered, and what it has released runs then.
#[test]
fn reasons_are_about_the_batch_after_the_decision() {
    let mut scheduler = with(Options::default(), |_| Decision::release([0]));
    for _ in 0..3 {
        call(&mut scheduler, 0, 0);
    }
    let mut answer = scheduler.poll_question(0).expect("three are parked").ask();
    let states = "[(0, State::Running), (1, State::Parked), (2, State::Parked)]";
    let reason = |call: CallId| (call, format!("{call}: 1 1 of 2, {states}"));
    assert_eq!(answer.reasons(9), [reason(1), reason(2)]);
    assert_eq!(answer.reasons(1), [reason(1)]);
    assert_eq!(answer.reasons(0), []);
}

/// Things happen while the policy thinks: it is judged by what it was asked, and what has changed is left out.
#[test]
fn a_call_that_is_cancelled_while_the_policy_thinks_does_not_start() {
    let mut scheduler =
        with(Options::default(), |batch| Decision::release(batch.calls.iter().map(|call| call.id)));
    let rejected = call(&mut scheduler, 0, 1);
    let stays = call(&mut scheduler, 0, 1);
    let question = scheduler.poll_question(0).expect("two calls are parked");
    assert!(scheduler.poll_question(0).is_none(), "one question at a time");
    scheduler.settle(1, rejected);
    scheduler.answer(2, question.ask());
    let started: Vec<CallId> =
        released(&mut scheduler, 2).into_iter().map(|(call, _)| call).collect();
    assert_eq!(started, [stays]);
}

#[test]
fn a_restart_while_the_policy_thinks_voids_the_answer() {
    let mut scheduler =
        with(Options::default(), |batch| Decision::release(batch.calls.iter().map(|call| call.id)));
    call(&mut scheduler, 0, 1);
    let question = scheduler.poll_question(0).expect("a call is parked");
    scheduler.restart(1);
    scheduler.answer(2, question.ask());
    assert_eq!(released(&mut scheduler, 2), []);
    scheduler.approve(3, 0);
    assert_eq!(released(&mut scheduler, 3).len(), 1);
}

#[test]
fn wake_ups_are_kept_and_extra_ones_do_nothing() {
    let mut scheduler = with(Options::default(), |batch| {
        let waits = batch.now < 5 * SECOND;
        if waits { Decision::nothing().wake_at(5 * SECOND) } else { Decision::release([0]) }
    });
    call(&mut scheduler, 0, 0);
    assert_eq!(released(&mut scheduler, 0), []);
    assert_eq!(scheduler.poll_timeout(), Some(5 * SECOND));
    assert!(scheduler.poll_question(4 * SECOND).is_none(), "nothing has happened");
    assert_eq!(released(&mut scheduler, 5 * SECOND).len(), 1);
    assert_eq!(scheduler.poll_timeout(), None);
}

#[test]
fn a_spin_is_found_and_a_slow_poll_is_none() {
    let soon = |batch: &Shown| Decision::nothing().wake_at(batch.now);
    let mut spins = with(Options::default(), soon);
    call(&mut spins, 0, 0);
    let mut now = 0;
    for _ in 0..=SPIN_WAKES {
        while let Some(question) = spins.poll_question(now) {
            spins.answer(now, question.ask());
        }
        now = spins.poll_timeout().unwrap_or(now);
    }
    assert_eq!(
        faults(&mut spins),
        [
            "policy \"closure\" spins: woken 100 times in a row without a pause, it released nothing and asked to be woken again"
        ]
    );
    assert_eq!(released(&mut spins, now), [], "the rules have taken over already");
    assert_eq!(spins.batch().running(0), 1);

    let mut polls =
        with(Options::default(), |batch| Decision::nothing().wake_at(batch.now + 10_000_000));
    call(&mut polls, 0, 0);
    let mut now = 0;
    for _ in 0..1000 {
        while let Some(question) = polls.poll_question(now) {
            polls.answer(now, question.ask());
        }
        now = polls.poll_timeout().expect("it asks to be woken");
    }
    assert!(faults(&mut polls).is_empty());
}

#[test]
fn a_stall_is_found_at_once_and_settled_where_that_is_wanted() {
    let options = Options { on_fault: OnFault::Settle, ..Options::default() };
    let mut scheduler = with(options, |_| Decision::nothing());
    call(&mut scheduler, 0, 0);
    call(&mut scheduler, 0, 1);
    assert_eq!(released(&mut scheduler, 0), []);
    assert!(scheduler.is_settled());
    let late = call(&mut scheduler, 1, 0);
    assert_eq!(
        scheduler.batch().get(late).map(|call| call.stage),
        Some(Stage::Settled),
        "nobody decides any more"
    );
}

/// While a person decides, a question is open, or something runs, nothing is a stall.
#[test]
fn waiting_for_people_is_no_stall() {
    let mut scheduler = with(Options::default(), |_| Decision::nothing());
    call(&mut scheduler, 0, 0);
    scheduler.submit(0, 0, 1);
    assert!(scheduler.poll_question(0).is_none(), "the barrier holds");
    assert_eq!(scheduler.why(0), Some(Waiting::Barrier { pending: 1 }));
    assert_eq!(scheduler.why(1), Some(Waiting::Approval));
    assert!(faults(&mut scheduler).is_empty());
    scheduler.settle(1, 1);
    let started: Vec<CallId> =
        released(&mut scheduler, 1).into_iter().map(|(call, _)| call).collect();
    assert_eq!(started, [0], "nobody is asked any more: it stalls, and the rules take over");
}

/// A slot of an earlier batch is found by the name of its key, in whichever order the keys stand.
#[test]
fn a_carried_slot_counts_whatever_the_order_of_the_keys() {
    let key = |name: &str| Key { name: name.into(), limit: 1, fields: vec![] };
    for names in [["a", "k", "z"], ["z", "k", "a"], ["k", "z", "a"]] {
        let place = names.iter().zip(0..).find(|(name, _)| **name == "k").map(|(_, place)| place);
        let settings = Settings {
            tools: vec![Tool { name: "t".into(), key: place }],
            keys: names.map(key).to_vec(),
            options: vec![],
        };
        let rules = Native::rules();
        let policy = rules.instantiate(&settings, Arguments::default()).expect("it takes all");
        let carried = Carried::of([Some("k".to_owned())]);
        let old = carried.executions().next().expect("there is one");
        let identity = rules.identity().clone();
        let mut scheduler =
            Scheduler::new(&settings, identity, policy, Options::default(), carried);
        call(&mut scheduler, 0, 0);
        assert_eq!(released(&mut scheduler, 0), [], "{names:?}");
        scheduler.end(SECOND, old, End::Stopped);
        assert_eq!(released(&mut scheduler, SECOND).len(), 1, "{names:?}");
    }
}
