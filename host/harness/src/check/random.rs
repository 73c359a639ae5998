//! Random batches far larger than those of the search, made smaller again once one has shown what is wrong.

use std::{
    cell::RefCell,
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
};

use jp_policy_core::{
    batch::Instant,
    policy::{Arguments, Identity, Policy, PolicyFactory, Refusal},
    scheduler::Scheduler,
};
use proptest::{
    collection::vec,
    option::weighted,
    prelude::*,
    test_runner::{Config as Runs, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};

use super::{
    invariants::Invariants,
    plan::Plan,
    progress::CheckProgress,
    purity::SharedPolicy,
    report::{CheckError, Refutation, not_configured},
    shapes,
    violation::Violation,
};
use crate::{
    Behaviour, CallSpec, Ending, Expect, PersonEvent, Phase, Scenario, ScenarioEvent,
    SimulateError, SimulateOptions, SimulationObserver, simulate_with,
};

/// Calls of the largest random batch.
const CALLS: usize = 60;

/// Keys of the largest.
const KEYS: usize = 6;

/// The highest limit.
const LIMIT: u32 = 5;

const MS: Instant = 1_000_000;

/// A random batch, with the freedom that a test has to make it smaller.
#[derive(Debug, Clone)]
struct RandomBatch {
    limits: Vec<u32>,
    calls: Vec<RandomCall>,
    cancel: Option<u64>,
    restart: Option<u64>,
}

/// A call of one; times in milliseconds.
#[derive(Debug, Clone)]
struct RandomCall {
    /// Its key; too large: it has none.
    key: usize,
    /// How long after the call before it.
    arrives: u64,
    /// How long after its arrival it is approved; none: it is rejected then.
    approved: (bool, u64),
    takes: u64,
    /// How long it runs before it asks, and how long after that it has its answer.
    asks: Option<(u64, u64)>,
    fails: bool,
}

fn batches() -> impl Strategy<Value = RandomBatch> {
    // Mostly at once, so that the barrier is not all that happens.
    let late = || prop_oneof![6 => Just(0), 1 => 0..20_000_u64];
    let call = (
        0..=KEYS,
        late(),
        (prop::bool::weighted(0.95), late()),
        prop_oneof![3 => 1..5_000_u64, 1 => 1..60_000_u64, 1 => Just(0)],
        weighted(0.1, (0..5_000_u64, 0..60_000_u64)),
        prop::bool::weighted(0.2),
    );
    let call = call.prop_map(|(key, arrives, approved, takes, asks, fails)| RandomCall {
        key,
        arrives,
        approved,
        takes,
        asks,
        fails,
    });
    (
        vec(1..=LIMIT, 1..=KEYS),
        vec(call, 1..=CALLS),
        weighted(0.1, 0..60_000_u64),
        weighted(0.15, 0..60_000_u64),
    )
        .prop_map(|(limits, calls, cancel, restart)| RandomBatch {
            limits,
            calls,
            cancel,
            restart,
        })
}

impl RandomBatch {
    fn scenario(&self, plan: &Plan, name: &str) -> Result<Scenario, CheckError> {
        let mut arrives = 0;
        let calls = self.calls.iter().enumerate().map(|(place, call)| {
            arrives += call.arrives * MS;
            let key = Some(call.key).filter(|key| *key < self.limits.len());
            let (approved, at) = call.approved;
            let at = arrives + at * MS;
            let asks = call.asks.map(|(takes, _)| Phase { takes: takes * MS, asks: true });
            let last = Phase { takes: call.takes * MS, asks: false };
            CallSpec {
                label: shapes::label(place),
                tool: shapes::tool(key),
                parent: u32::try_from(place).unwrap_or(u32::MAX),
                arguments: "{}".to_owned(),
                arrives,
                decision: if approved {
                    PersonEvent::Approved(vec![at])
                } else {
                    PersonEvent::NotRun(at)
                },
                runs: vec![Behaviour {
                    phases: asks.into_iter().chain([last]).collect(),
                    ending: if call.fails { Ending::Fails } else { Ending::Succeeds },
                }],
                answered: Vec::new(),
                answered_after: call.asks.map(|(_, after)| after * MS).into_iter().collect(),
                reviewed: None,
                gone: Vec::new(),
            }
        });
        let calls = calls.collect();
        let cancel = self.cancel.map(|at| ScenarioEvent::Cancel(at * MS));
        let restart = self.restart.map(|at| ScenarioEvent::Restart(at * MS));
        Ok(Scenario {
            title: String::new(),
            config: Ok(shapes::config(plan, name, &self.limits)?),
            earlier: Vec::new(),
            calls,
            events: cancel.into_iter().chain(restart).collect(),
            complete: None,
            expect: Expect::default(),
        })
    }
}

/// Tries random batches. The refutation is the smallest one that could be made of the first in which something went wrong.
pub(super) fn random(
    factory: &Arc<dyn PolicyFactory>,
    plan: &Plan,
    progress: &Arc<CheckProgress>,
) -> Result<Option<Refutation>, CheckError> {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&plan.seed.to_le_bytes());
    let config = Runs {
        cases: plan.random,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Runs::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let stuck = RefCell::new(None);
    let failed = RefCell::new(false);
    let result = TestRunner::new_with_rng(config, rng).run(&batches(), |batch| {
        if progress.is_over() || stuck.borrow().is_some() {
            return Ok(());
        }
        let tried = try_out(factory, plan, &batch, progress);
        if !*failed.borrow() {
            progress.done.fetch_add(1, Ordering::Relaxed);
        }
        match tried {
            Ok(None) => Ok(()),
            Ok(Some(violation)) => {
                *failed.borrow_mut() = true;
                Err(TestCaseError::fail(violation.to_string()))
            }
            Err(error) => {
                *stuck.borrow_mut() = Some(error);
                Ok(())
            }
        }
    });
    if let Some(error) = stuck.into_inner() {
        return Err(error);
    }
    let Err(TestError::Fail(_, smallest)) = result else {
        return Ok(None);
    };
    let scenario = smallest.scenario(plan, &factory.identity().name)?;
    let violation = try_out(factory, plan, &smallest, progress)?;
    Ok(violation.map(|violation| Refutation { violation, scenario, random: true, shown: false }))
}

/// What goes wrong in a batch.
fn try_out(
    factory: &Arc<dyn PolicyFactory>,
    plan: &Plan,
    batch: &RandomBatch,
    progress: &CheckProgress,
) -> Result<Option<Violation>, CheckError> {
    let scenario = batch.scenario(plan, &factory.identity().name)?;
    let settings = scenario.config.as_ref().map_err(Clone::clone)?.settings();
    let fresh = {
        let factory = factory.clone();
        Box::new(move || factory.instantiate(&settings, Arguments::default()))
    };
    let policy = match SharedPolicy::new(fresh) {
        Ok(policy) => policy,
        Err(refusal) => {
            return not_configured(refusal, plan, &factory.identity().name).map(Some);
        }
    };
    let identity = factory.identity().clone();
    let watched = Watched { identity, policy: policy.clone() };
    let invariants = Invariants { rules: plan.rules, policy: policy.clone() };
    let mut judge = Judge { invariants, wakes: 0, violation: None };
    let setup = SimulateOptions { observer: Some(&mut judge), ..SimulateOptions::default() };
    let simulated = simulate_with(&scenario, &watched, setup);
    progress.decisions.fetch_add(policy.decisions(), Ordering::Relaxed);
    match simulated {
        Ok(simulation) => {
            let fault = simulation.record.faults.into_iter().next();
            let fault = fault.map(|fault| Violation::Fault(Box::new(fault)));
            Ok(fault.or(judge.violation))
        }
        Err(SimulateError::Config(error)) => Err(error.into()),
        Err(error) => Err(CheckError::Unloadable(error.to_string())),
    }
}

/// Holds the policy to its invariants while a batch is lived through.
struct Judge {
    invariants: Invariants,
    /// Answers in a row that released nothing while nothing ran and nobody was asked: each followed a wake-up.
    wakes: u32,
    violation: Option<Violation>,
}

impl SimulationObserver for Judge {
    fn decided(&mut self, now: Instant, scheduler: &Scheduler) -> ControlFlow<()> {
        self.wakes = if Invariants::waits_for_itself(scheduler) { self.wakes + 1 } else { 0 };
        self.violation = self
            .invariants
            .judge(scheduler, now)
            .or_else(|| Invariants::starves(scheduler, now, self.wakes));
        if self.violation.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Hands out the one watched policy.
struct Watched {
    identity: Identity,
    policy: SharedPolicy,
}

impl PolicyFactory for Watched {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn instantiate(
        &self,
        _: &jp_policy_guest::Settings,
        _: Arguments,
    ) -> Result<Box<dyn Policy>, Refusal> {
        Ok(Box::new(self.policy.clone()))
    }
}
