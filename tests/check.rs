//! The checker: what holds is held to hold, what is wrong is refuted for the right reason, by the smallest batch, which shows it again.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use jp_policy_config::Source;
use jp_policy_core::policy::{Native, PolicyFactory};
use jp_policy_guest::{
    Batch, Decision, Error, Policy, Problem, Settings, State, Usage, View, rules::release,
};
use jp_policy_harness::{
    Scenario,
    check::{CheckProgress, Plan, Report, check},
    simulate,
};
use jp_policy_tests::{sources, support};

/// Small, because tests are not built for speed: the program's own default is larger by far.
fn plan(rules: bool) -> Plan {
    Plan { calls: 2, timed: 1, random: 50, rules, ..Plan::default() }
}

/// Three calls of one key, or of none.
fn three(rules: bool) -> Plan {
    Plan { calls: 3, keys: 1, limits: vec![1], ..plan(rules) }
}

fn checked(factory: impl PolicyFactory + 'static, plan: &Plan) -> Report {
    let factory: Arc<dyn PolicyFactory> = Arc::new(factory);
    let progress = Arc::new(CheckProgress::default());
    check(&factory, plan, &progress).unwrap_or_else(|error| panic!("{error}"))
}

/// What refutes the policy: the sentence, and the batch. Lived through again, the batch shows the same fault.
fn refuted<P: Policy>(plan: &Plan) -> String {
    let report = checked(Native::<P>::new(), plan);
    let refutation = report.refutation.expect("it is refuted");
    let text = refutation.scenario.to_toml().expect("its configuration holds");
    let again = Scenario::parse(&Source::new("refuted.toml", text.as_str()));
    let again = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let word = refutation.violation.word();
    let shown = match simulate(&again, &Native::<P>::new()) {
        Ok(simulation) => simulation.record.faults.iter().map(|fault| fault.kind.word()).collect(),
        Err(_) => vec!["endless"],
    };
    let expected = match word {
        "starves" => vec!["endless"],
        "waits-needlessly" | "impure" => vec![],
        fault => vec![fault],
    };
    assert_eq!(shown, expected, "{text}");
    let batch = text.split_once("[[call]]").map_or("", |(_, calls)| calls);
    format!("{}\n[[call]]{batch}", refutation.violation)
}

/// A policy made of the default rules with something wrong about them.
macro_rules! policy {
    ($(#[$doc:meta])* $name:ident, $view:expr, |$this:ident, $batch:ident| $decide:expr) => {
        $(#[$doc])*
        struct $name {
            #[allow(dead_code, reason = "not all of them look")]
            limits: Vec<u32>,
            #[allow(dead_code, reason = "not all of them remember")]
            asked: AtomicU32,
        }

        impl Policy for $name {
            const NAME: &'static str = stringify!($name);
            const VIEW: View = $view;

            fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
                settings.refuse_all()?;
                let limits = settings.keys.iter().map(|key| key.limit).collect();
                Ok(Self { limits, asked: AtomicU32::new(0) })
            }

            fn release(&self, $batch: &Batch) -> Result<Decision, Error> {
                let $this = self;
                $decide
            }
        }
    };
}

policy!(
    /// Takes the limit to be one more.
    OffByOne,
    View::Full,
    |this, batch| {
        let limits: Vec<u32> = this.limits.iter().map(|limit| limit + 1).collect();
        Ok(Decision::release(release(&limits, batch)))
    }
);

policy!(
    /// Forgets the third call.
    StarvesTheThird,
    View::Front,
    |this, batch| Ok(Decision::release(
        release(&this.limits, batch).into_iter().filter(|call| *call != 2)
    ))
);

policy!(
    /// Waits for the third call for ever, a second at a time.
    PutsOffTheThird,
    View::Front,
    |this, batch| {
        let released = release(&this.limits, batch).into_iter().filter(|call| *call != 2);
        Ok(Decision::release(released).wake_at(batch.now + 1_000_000_000))
    }
);

policy!(
    /// When two calls of a key have ended at one instant it lets the last of those in view start, and only that.
    SwapsAtOneInstant,
    View::Front,
    |this, batch| {
        let mut released = release(&this.limits, batch);
        let two = |usage: &Usage| {
            usage.ended == 2 && usage.last_end == Some(batch.now) && usage.waiting > 1
        };
        if batch.keys.iter().any(two) {
            released = released.pop().into_iter().collect();
        }
        Ok(Decision::release(released))
    }
);

policy!(
    /// Lets nothing start at every fourth question.
    Remembers,
    View::Front,
    |this, batch| {
        let asked = this.asked.fetch_add(1, Ordering::Relaxed);
        let released = if asked % 4 == 3 { Vec::new() } else { release(&this.limits, batch) };
        Ok(Decision::release(released).wake_at(batch.now + 1_000_000_000))
    }
);

policy!(
    /// Lets one call run at a time, whatever its key: no fault, but no call waits as short as the rules let it.
    OneByOne,
    View::Front,
    |_this, batch| {
        let first = batch.calls.iter().find(|call| call.state == State::Parked);
        Ok(Decision::release(first.filter(|_| batch.running == 0).map(|call| call.id)))
    }
);

policy!(
    /// Fails once a call has failed.
    FailsAfterFailure,
    View::Front,
    |this, batch| {
        if batch.keys.iter().any(|usage| usage.failed > 0) {
            return Err("one failed".into());
        }
        Ok(Decision::release(release(&this.limits, batch)))
    }
);

#[test]
fn the_default_rules_hold() {
    for rules in [false, true] {
        let report = checked(Native::rules(), &plan(rules));
        assert!(report.refutation.is_none(), "{:?}", report.refutation);
        assert_eq!((report.batches, report.random), (14, 50));
    }
}

#[test]
fn what_waits_longer_than_the_rules_want_keeps_the_contract() {
    assert!(checked(Native::<OneByOne>::new(), &plan(false)).refutation.is_none());
    insta::assert_snapshot!(refuted::<OneByOne>(&plan(true)), @r#"
    at 3s it left call A waiting, though 1 of 2 executions with key "a" run and no earlier call of the key waits
    [[call]]
    name = "A"
    tool = "a"
    approved = ["1s", "3s"]
    does = "12s"
    gone = "13s"

    [[event]]
    at = "2s"
    restart = true
    "#);
}

#[test]
fn a_limit_that_is_one_too_high() {
    insta::assert_snapshot!(refuted::<OffByOne>(&plan(false)), @r#"
    at 3s it released call A with key "a": with 1 running that is over the limit of 1
    [[call]]
    name = "A"
    tool = "a"
    approved = ["1s", "3s"]
    does = "12s"
    gone = "13s"

    [[event]]
    at = "2s"
    restart = true
    "#);
}

#[test]
fn a_call_that_is_forgotten() {
    insta::assert_snapshot!(refuted::<StarvesTheThird>(&three(false)), @r#"
    at 1s it stalled: call C is parked, nothing runs, nobody is asked and no wake-up is set
    [[call]]
    name = "A"
    tool = "a"
    rejected = "1s"
    does = "1s"

    [[call]]
    name = "B"
    tool = "a"
    arrives = "1s"
    rejected = "1s"
    does = "1s"

    [[call]]
    name = "C"
    tool = "a"
    arrives = "1s"
    does = "10s"
    "#);
}

#[test]
fn a_call_that_is_put_off_for_ever() {
    insta::assert_snapshot!(refuted::<PutsOffTheThird>(&three(false)), @r#"
    at 1001s it starved call C: woken 1000 times in a row, it released nothing, though nothing runs and nobody is asked
    [[call]]
    name = "A"
    tool = "a"
    rejected = "1s"
    does = "1s"

    [[call]]
    name = "B"
    tool = "a"
    arrives = "1s"
    rejected = "1s"
    does = "1s"

    [[call]]
    name = "C"
    tool = "a"
    arrives = "1s"
    does = "1s"
    "#);
}

#[test]
fn an_order_that_is_swapped_when_two_end_at_one_instant() {
    let plan = Plan { calls: 4, keys: 1, limits: vec![2], ..plan(true) };
    insta::assert_snapshot!(refuted::<SwapsAtOneInstant>(&plan), @r#"
    at 3s it released call B before call A, which waits for the same key "a"
    [[call]]
    name = "A"
    tool = "a"
    approved = ["1s", "3s"]
    does = ["12s", "10s"]
    gone = "3s"

    [[call]]
    name = "B"
    tool = "a"
    arrives = "1s"
    approved = ["1s", "3s"]
    does = ["12s", "10s"]
    gone = "3s"

    [[event]]
    at = "2s"
    restart = true
    "#);
}

#[test]
fn a_memory_of_past_questions() {
    insta::assert_snapshot!(refuted::<Remembers>(&plan(false)), @r#"
    at 2s it decided in two ways: asked the same question twice, the first time released call A and set a wake-up at 3s, and the second time released nothing and set a wake-up at 3s; a decision may depend on the question only
    [[call]]
    name = "A"
    tool = "a"
    approved = "2s"
    does = "10s"

    [[event]]
    at = "1s"
    restart = true
    "#);
}

#[test]
fn an_error_that_hangs_on_a_failure() {
    insta::assert_snapshot!(refuted::<FailsAfterFailure>(&plan(false)), @r#"
    at 2s it answered with an error: one failed
    [[call]]
    name = "A"
    tool = "a"
    approved = "1s"
    does = "1s fail"

    [[call]]
    name = "B"
    tool = "a"
    arrives = "1s"
    does = "10s"
    "#);
}

/// What the search finds of components whose own source says otherwise: a smaller batch with another fault, or what harms no batch
/// by itself (it is not pure, its memory grows with the questions, its wake-ups lead nowhere).
const OTHERWISE: &[(&str, &str)] = &[
    ("again", "over-limit"),
    ("counts", "impure"),
    ("last-first", "none"),
    ("log-huge", "out-of-memory"),
    ("patient", "impure"),
    ("pending", "over-limit"),
    ("wake-each-millisecond", "starves"),
    ("wake-often", "impure"),
    ("wake-once", "impure"),
];

/// Each hostile component is refuted for the fault that its source says is right, or for none if it says so.
#[test]
fn hostile_components_are_refuted() {
    for name in sources::names() {
        // Writes 100,000 lines a question: nothing that a search could wait for.
        if name == "log-flood" {
            continue;
        }
        let Ok(policy) = support::load(&name, support::quick()) else {
            // Refused before anything could be checked.
            continue;
        };
        let factory: Arc<dyn PolicyFactory> = Arc::new(policy);
        let word = |calls, rules| {
            let plan = Plan { calls, keys: 1, limits: vec![1], timed: 0, random: 2, ..plan(rules) };
            match check(&factory, &plan, &Arc::default()) {
                Ok(Report { refutation: Some(refutation), .. }) => refutation.violation.word(),
                Ok(_) => "none",
                Err(_) => "settings",
            }
        };
        if let Some((_, otherwise)) = OTHERWISE.iter().find(|(policy, _)| *policy == name) {
            assert_eq!(word(1, false), *otherwise, "{name}");
            continue;
        }
        let right = sources::right_faults(&name);
        let right: Vec<&str> = right.iter().filter_map(|right| right.split(',').next()).collect();
        let is_right = |word: &str| right.contains(&word) || (word == "none" && right.is_empty());
        let plans = [(1, false), (2, false), (2, true), (3, false)];
        let found = plans.iter().any(|(calls, rules)| is_right(word(*calls, *rules)));
        assert!(found, "{name}: {}, not {}", word(3, false), right.join(" or "));
    }
}
