//! A policy, a batch, and what came of them.

use std::{sync::LazyLock, time::Duration};

use jp_policy_config::Source;
use jp_policy_core::{
    policy::{Arguments, Fault, FaultKind, Identity, Policy, PolicyFactory, Refusal},
    record::Record,
};
use jp_policy_guest::{Batch, CallId, Decision, Settings, View};
use jp_policy_harness::{Scenario, SimulateError, simulate};
use jp_policy_report::{ends, responses, seconds, starts};
use jp_policy_wasm::{Budget, Component, Engine, LoadError};

use crate::sources;

/// Three calls of one key.
pub const ABC: &str = r#"
conversation.tools.t.concurrency = 1
call = [
    { name = "A", tool = "t", does = "3s" },
    { name = "B", tool = "t", does = "1s" },
    { name = "C", tool = "t", does = "1s" },
]
"#;

/// Two short calls of one key.
pub const AB: &str = r#"
conversation.tools.t.concurrency = 1
call = [{ name = "A", tool = "t" }, { name = "B", tool = "t" }]
"#;

/// What comes next, after a batch.
pub const NEXT: &str = r#"
conversation.tools.t.concurrency = 1
call = [{ name = "D", tool = "t" }]
"#;

/// What all of them are loaded by.
pub static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new().expect("an engine can be made"));

/// Little fuel, so that what loops is over soon, and time without end, so that a busy machine is no fault.
pub fn quick() -> Budget {
    Budget {
        fuel: 20_000_000,
        start_fuel: 20_000_000,
        time: Duration::from_hours(1),
        ..Budget::default()
    }
}

/// No lack of fuel, and little time.
pub fn short() -> Budget {
    Budget { fuel: u64::MAX, time: Duration::from_millis(50), ..Budget::default() }
}

/// Loads a policy by its name.
pub fn load(policy: &str, budget: Budget) -> Result<Component, LoadError> {
    Component::from_bytes(&ENGINE, &format!("{policy}.wasm"), &sources::component(policy), budget)
}

/// Starts, ends and responses.
pub type Timeline = [&'static str; 3];

/// The rules take over at the first question, or nothing starts.
pub const AT_FIRST: [Timeline; 2] = [
    ["A@0 B@3 C@4", "A!3 B!4 C!5", "A ok@3, B ok@4, C ok@5"],
    ["", "", "A policy-fault@0, B policy-fault@0, C policy-fault@0"],
];

/// They take over at the second, when A has ended, or nothing more starts.
pub const AT_SECOND: [Timeline; 2] = [
    ["A@0 B@3 C@4", "A!3 B!4 C!5", "A ok@3, B ok@4, C ok@5"],
    ["A@0", "A!3", "A ok@3, B policy-fault@3, C policy-fault@3"],
];

/// A policy, a batch, and what is right to come of them.
pub struct Case {
    /// The policy's name.
    pub policy: &'static str,
    /// What it may cost.
    pub budget: Budget,
    /// The calls, as a scenario has them.
    pub batch: &'static str,
    /// What is checked of its decisions.
    pub guard: &'static str,
    /// With `on_fault` as `default`, and as `settle`.
    pub timelines: [Timeline; 2],
    /// When, and what it did; empty: nothing that is a fault.
    pub fault: &'static str,
    /// What becomes of the next batch, which is one call: how many faults, and when it starts.
    pub next: (usize, &'static str),
}

impl Case {
    /// A, B and C; it fails at the first question of every batch.
    pub fn at_first(policy: &'static str, fault: &'static str) -> Self {
        let (budget, batch, guard) = (quick(), ABC, "limit");
        Self { policy, budget, batch, guard, timelines: AT_FIRST, fault, next: (1, "D@0") }
    }

    /// A, B and C; it fails when it is told that A has ended.
    pub fn at_second(policy: &'static str, fault: &'static str) -> Self {
        Self { timelines: AT_SECOND, next: (0, "D@0"), ..Self::at_first(policy, fault) }
    }

    /// It does nothing that is a fault.
    pub fn tame(policy: &'static str, batch: &'static str, timeline: Timeline) -> Self {
        let timelines = [timeline; 2];
        Self { batch, timelines, next: (0, "D@0"), ..Self::at_first(policy, "") }
    }

    /// Lives through the batch with both answers to a fault, and then through the next, all under one loaded policy.
    pub fn check(&self) {
        let Self { policy, guard, .. } = self;
        let component = load(policy, self.budget).expect("it can be loaded");
        for (on_fault, timeline) in ["default", "settle"].into_iter().zip(self.timelines) {
            let release = format!("{{ on_fault = \"{on_fault}\", guard = \"{guard}\" }}");
            let record = live(&component, self.batch, &release).expect("it serves the batch");
            let [starts, ends, responses] = timeline;
            let faults = [self.fault].into_iter().filter(|fault| !fault.is_empty());
            let right = Life {
                starts: starts.to_owned(),
                ends: ends.to_owned(),
                responses: responses.to_owned(),
                faults: faults.map(|fault| named(policy, fault)).collect(),
            };
            assert_eq!(Life::of(&record), right, "{policy}, on_fault = {on_fault}");
            assert!(words_are_right(policy, &record), "{policy}: not the fault that it says");
        }
        let life = Life::of(&live(&component, NEXT, "{}").expect("it serves the next batch"));
        assert_eq!(
            (life.faults.len(), life.starts.as_str()),
            self.next,
            "{policy}, next batch: {life:?}"
        );
    }
}

/// "3 s: trapped" becomes "3 s: policy "name" trapped".
fn named(policy: &str, fault: &str) -> String {
    let (at, what) = fault.split_once(": ").expect("it says when");
    format!("{at}: policy \"{policy}\" {what}")
}

/// Whether the faults are of the kind that the policy's source says is right.
fn words_are_right(policy: &str, record: &Record) -> bool {
    let right = sources::right_faults(policy);
    record.faults.iter().all(|fault| right.iter().any(|right| right == fault.kind.word()))
}

/// What came of a batch.
#[derive(Debug, PartialEq, Eq)]
pub struct Life {
    /// All starts.
    pub starts: String,
    /// All ends.
    pub ends: String,
    /// All responses.
    pub responses: String,
    /// When and what.
    pub faults: Vec<String>,
}

impl Life {
    /// Of a batch that has this record.
    pub fn of(record: &Record) -> Self {
        let fault = |fault: &Fault| format!("{} s: {fault}", seconds(fault.at));
        Self {
            starts: starts(record),
            ends: ends(record),
            responses: responses(record),
            faults: record.faults.iter().map(fault).collect(),
        }
    }
}

/// Lives through a batch. `release` is the table `conversation.release`.
pub fn live(
    policy: &dyn PolicyFactory,
    batch: &str,
    release: &str,
) -> Result<Record, SimulateError> {
    let text = format!("conversation.release = {release}\n{batch}");
    let scenario = Scenario::parse(&Source::new("hostile.toml", text));
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, &Bounded(policy)).map(|simulation| simulation.record)
}

/// How often a policy is asked in a batch, at most. What needs more does not come to an end.
const QUESTIONS: u32 = 10_000;

/// A policy that is not asked without end, so that a test ends.
struct Bounded<'a>(&'a dyn PolicyFactory);

impl PolicyFactory for Bounded<'_> {
    fn identity(&self) -> &Identity {
        self.0.identity()
    }

    fn instantiate(
        &self,
        settings: &Settings,
        arguments: Arguments,
    ) -> Result<Box<dyn Policy>, Refusal> {
        Ok(Box::new(Counted { policy: self.0.instantiate(settings, arguments)?, questions: 0 }))
    }
}

struct Counted {
    policy: Box<dyn Policy>,
    questions: u32,
}

impl Policy for Counted {
    fn view(&self) -> View {
        self.policy.view()
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        self.questions += 1;
        assert!(self.questions <= QUESTIONS, "asked without end, now at {} ns", batch.now);
        self.policy.release(batch)
    }

    fn explain(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        self.policy.explain(batch, call)
    }
}
