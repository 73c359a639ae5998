//! Random batches, keys, limits and orders of events: what has to hold for all of them.

use std::{collections::BTreeMap, sync::OnceLock};

use jp_policy_core::{
    batch::{CallId, Carried, End, ExecutionId, Instant, Stage},
    policy::{Arguments, FaultKind, Guard, Native, OnFault, Policy, PolicyFactory},
    scheduler::{EventKind, Options, Scheduler, Settlement},
};
use jp_policy_guest::{Batch, Decision, Key, Settings, Tool, View};
use jp_policy_wasm::{Component, Engine};
use proptest::prelude::*;

/// The default policy as a component; each answer is held against the native rules' to the same question.
struct Both {
    component: Box<dyn Policy>,
    native: Box<dyn Policy>,
}

impl Policy for Both {
    fn view(&self) -> View {
        assert_eq!(self.component.view(), self.native.view());
        self.component.view()
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        let (component, native) = (self.component.release(batch), self.native.release(batch));
        assert_eq!(component, native, "asked {batch:?}");
        component
    }
}

fn both(settings: &Settings) -> Box<dyn Policy> {
    static COMPONENT: OnceLock<Component> = OnceLock::new();
    let component = COMPONENT.get_or_init(|| {
        let engine = Engine::new().expect("an engine can be made");
        Component::embedded(&engine).expect("the default component loads")
    });
    let make = |factory: &dyn PolicyFactory| {
        factory.instantiate(settings, Arguments::default()).expect("the settings are taken")
    };
    Box::new(Both { component: make(component), native: make(&Native::rules()) })
}

/// Something that happens; numbers choose among what is there.
#[derive(Debug, Clone)]
enum Step {
    Submit {
        tool: usize,
        approved: bool,
    },
    Approve(usize),
    Reject(usize),
    Ask(usize),
    Answer(usize),
    End(usize, End),
    EndAgain(usize),
    Respond(usize),
    Cancel,
    Restart,
    /// Time passes.
    Wait(u32),
    /// The policy is asked; without it, what happened together is answered together.
    Decide,
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0..1000_usize;
    prop_oneof![
        6 => (number.clone(), any::<bool>()).prop_map(|(tool, approved)| Step::Submit { tool, approved }),
        4 => number.clone().prop_map(Step::Approve),
        1 => number.clone().prop_map(Step::Reject),
        1 => number.clone().prop_map(Step::Ask),
        1 => number.clone().prop_map(Step::Answer),
        6 => (number.clone(), prop_oneof![3 => Just(End::Succeeded), 1 => Just(End::Failed)])
            .prop_map(|(run, end)| Step::End(run, end)),
        1 => number.clone().prop_map(Step::EndAgain),
        4 => number.prop_map(Step::Respond),
        1 => prop_oneof![9 => Just(Step::Restart), 1 => Just(Step::Cancel)],
        2 => (0..2_000_000_000_u32).prop_map(Step::Wait),
        8 => Just(Step::Decide),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let limits = prop::collection::vec(1..=3_u32, 0..=3);
    (limits, prop::collection::vec(0..=3_usize, 1..=5)).prop_map(|(limits, tools)| Settings {
        keys: limits
            .iter()
            .enumerate()
            .map(|(n, limit)| Key { name: format!("k{n}"), limit: *limit, fields: vec![] })
            .collect(),
        tools: tools
            .iter()
            .enumerate()
            .map(|(n, key)| Tool {
                name: format!("t{n}"),
                key: u32::try_from(*key).ok().filter(|key| (*key as usize) < limits.len()),
            })
            .collect(),
        options: vec![],
    })
}

/// Drives a scheduler and checks each event against a plain model of its own.
struct World {
    settings: Settings,
    scheduler: Scheduler,
    now: Instant,
    live: BTreeMap<ExecutionId, (CallId, Option<u32>)>,
    over: Vec<ExecutionId>,
    settled: BTreeMap<CallId, Settlement>,
    released: Vec<CallId>,
}

impl World {
    fn new(settings: Settings, policy: Box<dyn Policy>, options: Options) -> Self {
        let identity = Native::rules().identity().clone();
        let scheduler = Scheduler::new(&settings, identity, policy, options, Carried::default());
        Self {
            settings,
            scheduler,
            now: 0,
            live: BTreeMap::new(),
            over: Vec::new(),
            settled: BTreeMap::new(),
            released: Vec::new(),
        }
    }

    fn stages(&self, of: impl Fn(Stage) -> bool) -> Vec<CallId> {
        let calls = (0..).zip(self.scheduler.batch().calls());
        calls.filter(|(_, call)| of(call.stage)).map(|(id, _)| id).collect()
    }

    fn step(&mut self, step: &Step) {
        let (scheduler, now) = (&mut self.scheduler, self.now);
        match step {
            Step::Submit { tool, approved } => {
                let tool = u32::try_from(tool % self.settings.tools.len()).expect("few tools");
                let parent = u32::try_from(scheduler.batch().calls().len()).expect("few calls");
                let call = scheduler.submit(now, tool, parent);
                if *approved {
                    scheduler.approve(now, call);
                }
            }
            Step::Approve(n) => {
                if let Some(call) = pick(&self.stages(|stage| stage == Stage::Pending), *n) {
                    assert!(self.scheduler.approve(now, call) || self.scheduler.is_cancelled());
                }
            }
            Step::Reject(n) => {
                if let Some(call) =
                    pick(&self.stages(|stage| matches!(stage, Stage::Pending | Stage::Parked)), *n)
                {
                    assert!(self.scheduler.settle(now, call));
                }
            }
            Step::Ask(n) | Step::Answer(n) => {
                if let Some(run) = pick(&self.live.keys().copied().collect::<Vec<_>>(), *n) {
                    scheduler.set_asking(now, run, matches!(step, Step::Ask(_)));
                }
            }
            Step::End(n, end) => {
                if let Some(run) = pick(&self.live.keys().copied().collect::<Vec<_>>(), *n) {
                    scheduler.end(now, run, *end);
                }
            }
            Step::EndAgain(n) => {
                if let Some(run) = pick(&self.over, *n) {
                    scheduler.end(now, run, End::Succeeded);
                }
            }
            Step::Respond(n) => {
                if let Some(call) =
                    pick(&self.stages(|stage| matches!(stage, Stage::Ended { .. })), *n)
                {
                    assert!(self.scheduler.respond(now, call));
                }
            }
            Step::Cancel => scheduler.cancel(now),
            Step::Restart => {
                scheduler.restart(now);
                self.released.clear();
            }
            Step::Wait(nanos) => self.now += u64::from(*nanos),
            Step::Decide => self.decide(),
        }
        self.drain();
    }

    fn decide(&mut self) {
        self.drain();
        while let Some(question) = self.scheduler.poll_question(self.now) {
            let barrier = self.scheduler.batch().pending();
            let first = self.released.is_empty();
            assert!(!first || barrier == 0, "the barrier holds");
            self.scheduler.answer(self.now, question.ask());
            self.drain();
        }
    }

    fn drain(&mut self) {
        while let Some(event) = self.scheduler.poll_event() {
            match event.kind {
                EventKind::Released(call, execution) => self.check_release(call, execution),
                EventKind::Ended(_, execution, _) => {
                    assert!(self.live.remove(&execution).is_some(), "an execution ends once");
                    self.over.push(execution);
                }
                EventKind::Settled(call, how) => {
                    assert_eq!(self.settled.insert(call, how), None, "call {call} is settled once");
                }
                EventKind::Restarted(call) => {
                    assert!(
                        !self.settled.contains_key(&call),
                        "what has a response is not run again"
                    );
                }
                EventKind::Fault(fault) => panic!("{fault}"),
                _ => {}
            }
        }
    }

    fn check_release(&mut self, call: CallId, execution: ExecutionId) {
        let batch = self.scheduler.batch();
        let key = batch.get(call).expect("a call of the batch").key;
        assert!(!self.settled.contains_key(&call), "what has a response does not start");
        self.live.insert(execution, (call, key));
        if let Some(key) = key {
            let running = self.live.values().filter(|(_, other)| *other == Some(key)).count();
            assert!(running <= batch.limit(key) as usize, "key {key} is over its limit");
            // Events come in order, so what is still waiting of this key now, and is earlier, was passed over.
            let waits = |id: CallId| batch.waiting(key).any(|waiting| waiting == id);
            assert!(
                (0..call).all(|earlier| !waits(earlier)),
                "call {call} overtakes an earlier one of its key"
            );
        }
        self.released.push(call);
    }

    /// Lets everything come to its end.
    fn finish(&mut self) {
        for _ in 0..10_000 {
            for call in self.stages(|stage| stage == Stage::Pending) {
                self.scheduler.approve(self.now, call);
            }
            self.decide();
            for run in self.live.keys().copied().collect::<Vec<_>>() {
                self.scheduler.end(self.now, run, End::Succeeded);
            }
            self.drain();
            for call in self.stages(|stage| matches!(stage, Stage::Ended { .. })) {
                self.scheduler.respond(self.now, call);
            }
            self.drain();
            if self.scheduler.is_settled() && self.live.is_empty() {
                return;
            }
        }
        panic!("the batch does not come to an end");
    }

    fn check_end(&self) {
        let calls = self.scheduler.batch().calls().len();
        assert_eq!(self.settled.len(), calls, "every call has its response");
        assert_eq!(self.scheduler.batch().in_flight(), 0);
        for key in (0..).take(self.settings.keys.len()) {
            assert_eq!(self.scheduler.batch().running(key), 0, "all slots of key {key} are free");
        }
    }
}

fn pick<T: Copy>(among: &[T], n: usize) -> Option<T> {
    (!among.is_empty()).then(|| among[n % among.len()])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// The component and the native rules always decide alike; a limit is never exceeded, order within a key never broken,
    /// nothing starts before the barrier is down, and everything settles exactly once.
    #[test]
    fn the_rules_hold_whatever_happens(settings in settings(), steps in prop::collection::vec(step(), 0..120)) {
        let policy = both(&settings);
        let mut world = World::new(settings, policy, Options { guard: Guard::Order, on_fault: OnFault::Default });
        for step in &steps {
            world.step(step);
        }
        world.finish();
        world.check_end();
    }

    /// A call that may start does: after a decision nothing is left parked that its key, its order and the barrier allow.
    #[test]
    fn nothing_waits_needlessly(settings in settings(), steps in prop::collection::vec(step(), 0..120)) {
        let policy = both(&settings);
        let mut world = World::new(settings, policy, Options::default());
        for step in &steps {
            world.step(step);
            if matches!(step, Step::Decide) {
                let batch = world.scheduler.batch();
                if batch.pending() > 0 && world.released.is_empty() {
                    continue;
                }
                for call in world.stages(|stage| stage == Stage::Parked) {
                    let Some(key) = batch.get(call).and_then(|call| call.key) else {
                        panic!("call {call} has no key and waits");
                    };
                    let first = batch.waiting(key).next() == Some(call);
                    let free = batch.running(key) < batch.limit(key) as usize;
                    prop_assert!(!(first && free), "call {} may start and does not", call);
                }
            }
        }
    }
}
