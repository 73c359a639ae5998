//! Policies in virtual time: a [`Scenario`] says what happens, [`simulate`] runs it through the scheduler; checks, benchmarks
//! and replays are built on that. It must never know a real tool, a real clock for what happens, or tokio.

mod analyse_waits;
pub mod bench;
pub mod check;
pub mod diff;
mod fault_scenario;
mod input;
mod junit;
mod mismatch;
mod parameters;
mod recorded;
mod replay;
mod scenario;
mod simulate;
pub mod suite;
mod verdict;
mod write;

pub use analyse_waits::analyse_waits;
pub use fault_scenario::fault_scenario;
pub use input::{Input, InputError};
pub use junit::junit;
pub use mismatch::Mismatch;
pub use parameters::Parameters;
pub use recorded::{Assumed, Assumption, Recorded, recorded_config, recorded_scenario};
pub use replay::{ReplayInput, overlay, replay};
pub use scenario::{
    Behaviour, CallSpec, Earlier, Ending, Expect, PersonEvent, Phase, Scenario, ScenarioEvent,
};
pub use simulate::{
    SimulateError, SimulateOptions, Simulation, SimulationObserver, simulate, simulate_with,
};
pub use verdict::{Verdict, judge, mismatches, verdict};
