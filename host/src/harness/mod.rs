//! Policies in virtual time: a [`Scenario`] says what happens, [`simulate`] lets the scheduler live through it.

#[cfg(feature = "wasm")]
pub mod bench;
mod dump;
mod extras;
mod notation;
#[cfg(feature = "wasm")]
pub mod plot;
mod scenario;
mod simulate;
pub mod timeline;
mod verdict;

pub use dump::fault_scenario;
pub use extras::Extras;
pub use notation::{ends, parked, responses, seconds, starts};
pub use scenario::{CallSpec, Expect, PersonEvent, Phase, Scenario, ScenarioEvent};
pub use simulate::{Observer, Setup, SimulateError, Simulation, simulate, simulate_with};
pub use verdict::{Mismatch, judge, mismatches};
