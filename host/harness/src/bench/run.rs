//! The whole measurement: what is measured, in which order, and what becomes of a policy that fails or takes its time.

use std::{cell::Cell, path::Path, time::Duration};

use jp_policy_core::policy::{Arguments, Identity, PolicyFactory as _};
use jp_policy_guest::View;
use jp_policy_wasm::{Budget, Component, DEFAULT};

use super::{
    decisions::{Cut, Row, ask},
    error::BenchError,
    loading::{Loading, instances, load, resident},
    subject::Subject,
};
use crate::Parameters;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// How many calls wait, ascending.
    pub calls: Vec<u32>,
    /// How many keys they wait for.
    pub keys: u32,
    /// With `calls_by_keys` calls, how many keys there are otherwise, ascending.
    pub by_keys: Vec<u32>,
    /// How many calls wait then.
    pub calls_by_keys: u32,
    /// The limit of each key, all of whose slots are free.
    pub limit: u32,
    /// How long the samples of one number are taken. One that takes longer is taken once.
    pub time: Duration,
}

impl Plan {
    /// Some ten seconds for a policy that is not slow.
    pub fn full() -> Self {
        Self {
            calls: vec![16, 100, 1_000, 10_000, 100_000],
            keys: 4,
            by_keys: vec![1, 4, 16, 64, 256],
            calls_by_keys: 1_000,
            limit: 4,
            time: Duration::from_millis(300),
        }
    }

    /// The same numbers, each from few samples.
    pub fn quick() -> Self {
        Self { time: Duration::from_millis(20), ..Self::full() }
    }

    /// Calls and keys of each row.
    fn rows(&self) -> impl Iterator<Item = [u32; 2]> {
        let by_calls = self.calls.iter().map(|calls| [*calls, self.keys]);
        by_calls.chain(self.by_keys.iter().map(|keys| [self.calls_by_keys, *keys]))
    }
}

/// How far the measurement has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchProgress {
    /// Steps done.
    pub done: usize,
    /// Steps in all.
    pub steps: usize,
    /// What is measured now.
    pub what: String,
}

/// What was measured.
#[derive(Debug, Clone)]
pub struct Bench {
    /// What was to be measured.
    pub plan: Plan,
    /// The policy.
    pub policy: Measured,
    /// The default policy.
    pub default: Measured,
    /// The measurement was stopped before its end.
    pub stopped: bool,
}

/// What a policy costs.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Who it is.
    pub identity: Identity,
    /// What it wants to see: the only view there is to measure.
    pub view: View,
    /// What it costs to have it.
    pub loading: Loading,
    /// Decisions by how many calls wait.
    pub by_calls: Vec<Row>,
    /// Decisions by how many keys there are.
    pub by_keys: Vec<Row>,
}

/// Measures a policy and the default one in turn. `parameters` are for the policy alone; `folder` is where compiled code is kept
/// meanwhile: empty, and the caller's to remove. `go_on` is told what comes next, and is asked between questions whether to go on:
/// once it says no, the rest is left out.
pub fn bench(
    subject: &Subject<'_>,
    parameters: &Parameters,
    plan: &Plan,
    folder: &Path,
    go_on: &dyn Fn(Option<BenchProgress>) -> bool,
) -> Result<Bench, BenchError> {
    let default = Subject { path: "(embedded default)", bytes: DEFAULT, budget: Budget::default() };
    let none = Parameters::default();
    let steps = 4 + 2 * plan.rows().count();
    let done = Cell::new(0);
    let tell = |what: String| {
        let progress = BenchProgress { done: done.get(), steps, what };
        done.set(done.get() + 1);
        go_on(Some(progress));
    };
    tell(format!("loading {}", subject.path));
    let mut policy = Measuring::begin(subject, parameters, plan, &folder.join("policy"))?;
    tell(format!("loading {}", default.path));
    let mut default = Measuring::begin(&default, &none, plan, &folder.join("default"))?;
    let stopped = || !go_on(None);
    for (place, [calls, keys]) in plan.rows().enumerate() {
        for measuring in [&mut policy, &mut default] {
            tell(format!("{}: {calls} calls, {keys} keys", measuring.measured.identity));
            let row = measuring.row([calls, keys, plan.limit], plan.time, &stopped);
            let measured = &mut measuring.measured;
            let by_calls = place < plan.calls.len();
            if by_calls { &mut measured.by_calls } else { &mut measured.by_keys }.push(row);
        }
    }
    for measuring in [&mut policy, &mut default] {
        tell(format!("{}: memory", measuring.measured.identity));
        if !stopped() {
            measuring.memory(plan);
        }
    }
    let stopped = stopped();
    Ok(Bench { plan: plan.clone(), policy: policy.measured, default: default.measured, stopped })
}

/// A policy that is being measured.
struct Measuring<'a> {
    component: Component,
    parameters: &'a Parameters,
    measured: Measured,
    /// With how many calls and keys it failed.
    failed: Vec<[u32; 2]>,
}

impl<'a> Measuring<'a> {
    fn begin(
        subject: &Subject<'_>,
        parameters: &'a Parameters,
        plan: &Plan,
        folder: &Path,
    ) -> Result<Self, BenchError> {
        let (component, mut loading) = load(subject, folder, plan.time)?;
        let identity = component.identity().clone();
        let settings = parameters.settings(&vec![plan.limit; plan.keys as usize]);
        let view = match component.instantiate(&settings, Arguments::default()) {
            Ok(policy) => policy.view(),
            Err(refusal) => {
                return Err(BenchError::Refused { policy: identity.name, refusal });
            }
        };
        loading.instance = instances(&component, parameters, [plan.keys, plan.limit], plan.time);
        let measured =
            Measured { identity, view, loading, by_calls: Vec::new(), by_keys: Vec::new() };
        Ok(Self { component, parameters, measured, failed: Vec::new() })
    }

    fn row(&mut self, size: [u32; 3], time: Duration, stopped: &dyn Fn() -> bool) -> Row {
        let [calls, keys, _] = size;
        let cut = |cut| Row { calls, keys, shown: 0, cost: Err(cut) };
        if stopped() {
            return cut(Cut::Stopped);
        }
        // What is too much for it with few calls is not tried with more: each try may take as long as the budget allows.
        let smaller = |failed: &&[u32; 2]| failed[0] <= calls && failed[1] <= keys;
        if let Some(&[calls, keys]) = self.failed.iter().find(smaller) {
            return cut(Cut::AfterFault { calls, keys });
        }
        let row = ask(&self.component, self.parameters, size, time, stopped);
        if row.cost.is_err() {
            self.failed.push([calls, keys]);
        }
        row
    }

    fn memory(&mut self, plan: &Plan) {
        let rows = self.measured.by_calls.iter().chain(&self.measured.by_keys);
        let costs = rows.filter_map(|row| row.cost.as_ref().ok());
        let Some(memory) = costs.map(|cost| cost.memory).max() else {
            return;
        };
        let keys = [plan.keys, plan.limit];
        self.measured.loading.resident = resident(&self.component, self.parameters, keys, memory);
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
