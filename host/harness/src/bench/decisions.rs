//! What a decision costs, by how many calls wait and how many keys there are.

use std::time::{Duration, Instant};

use jp_policy_core::{
    batch::{Batch, Carried},
    policy::{Arguments, FaultKind, PolicyFactory, Refusal},
};
use jp_policy_guest::Settings;

use crate::Parameters;

/// Questions of one row: enough for a median that does not move.
const QUESTIONS: usize = 2_000;

/// Decisions with so many calls waiting for so many keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Calls that wait, all of them parked.
    pub calls: u32,
    /// Keys they wait for, in turn.
    pub keys: u32,
    /// Calls that the question shows; 0 where none was asked.
    pub shown: usize,
    /// What it cost, or why that is not known.
    pub cost: Result<Cost, Cut>,
}

/// What a decision cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Instructions of the first question that a fresh instance is asked.
    pub fuel: u64,
    /// The most instructions of any of the questions, which are all the same.
    pub most_fuel: u64,
    /// Time to make the view and to decide, the median.
    pub time: Duration,
    /// How many questions that is the median of.
    pub asked: usize,
    /// Bytes of linear memory afterwards.
    pub memory: usize,
    /// Calls it released.
    pub released: usize,
}

/// Why there is no cost.
#[derive(Debug, Clone, PartialEq)]
pub enum Cut {
    /// It refuses the settings, in these words.
    Refused(String),
    /// It failed.
    Fault(FaultKind),
    /// It was not asked, because it failed with fewer calls or keys: so many of each.
    AfterFault {
        /// Calls.
        calls: u32,
        /// Keys.
        keys: u32,
    },
    /// The measurement was stopped.
    Stopped,
}

/// Asks a fresh instance the same question again and again, for `time` or until it is `stopped`, and at least once.
pub(super) fn ask(
    factory: &dyn PolicyFactory,
    parameters: &Parameters,
    [calls, keys, limit]: [u32; 3],
    time: Duration,
    stopped: &dyn Fn() -> bool,
) -> Row {
    let row = |shown, cost| Row { calls, keys, shown, cost };
    let settings = parameters.settings(&vec![limit; keys as usize]);
    let mut policy = match factory.instantiate(&settings, Arguments::default()) {
        Ok(policy) => policy,
        Err(Refusal::Fault(fault)) => return row(0, Err(Cut::Fault(fault))),
        Err(refusal) => return row(0, Err(Cut::Refused(refusal.to_string()))),
    };
    let batch = waiting(&settings, calls);
    let view = policy.view();
    let shown = batch.view(0, view).calls.len();
    let mut times = Vec::new();
    let mut cost =
        Cost { fuel: 0, most_fuel: 0, time: Duration::ZERO, asked: 0, memory: 0, released: 0 };
    let start = Instant::now();
    while times.is_empty() || (times.len() < QUESTIONS && start.elapsed() < time && !stopped()) {
        let asked = Instant::now();
        let answer = policy.release(&batch.view(0, view));
        times.push(asked.elapsed());
        match answer {
            Ok(decision) => cost.released = decision.release.len(),
            Err(fault) => return row(shown, Err(Cut::Fault(fault))),
        }
        let spent = policy.spent().unwrap_or_default();
        if times.len() == 1 {
            cost.fuel = spent.fuel;
        }
        cost.most_fuel = cost.most_fuel.max(spent.fuel);
        cost.memory = spent.memory;
    }
    cost.asked = times.len();
    cost.time = median(times);
    row(shown, Ok(cost))
}

/// A batch of so many parked calls, for each key in turn.
pub(super) fn waiting(settings: &Settings, calls: u32) -> Batch {
    let keys = u32::try_from(settings.keys.len()).unwrap_or(u32::MAX).max(1);
    let mut batch = Batch::new(settings, Carried::default());
    for n in 0..calls {
        let call = batch.add(0, n % keys, n);
        batch.park(0, call);
    }
    batch
}

/// The middle of some times; the upper one of two.
pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
