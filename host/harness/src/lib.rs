//! Policies in virtual time: a [`Scenario`] says what happens, [`simulate`] lets the scheduler live through it; checks, benchmarks
//! and replays are built on that. It must never know a real tool, a real clock for what happens, or tokio.

pub mod bench;
pub mod check;
pub mod diff;
mod dump;
mod explain;
mod extras;
mod input;
mod junit;
pub mod plot;
mod recorded;
mod replay;
mod scenario;
mod simulate;
pub mod suite;
mod verdict;
mod write;

pub use dump::fault_scenario;
pub use explain::account;
pub use extras::Extras;
pub use input::{Input, InputError};
pub use junit::junit;
pub use recorded::{Assumed, Assumption, Recorded, recorded_config, recorded_scenario};
pub use replay::{Real, laid_over, replay};
pub use scenario::{
    Behaviour, CallSpec, Earlier, Expect, PersonEvent, Phase, Scenario, ScenarioEvent,
};
pub use simulate::{Observer, Setup, SimulateError, Simulation, simulate, simulate_with};
pub use verdict::{Mismatch, Verdict, judge, mismatches, verdict};
