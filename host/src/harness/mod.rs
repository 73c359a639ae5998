//! Policies in virtual time: a [`Scenario`] says what happens, [`simulate`] lets the scheduler live through it.

#[cfg(feature = "check")]
pub mod check;
mod dump;
mod extras;
mod notation;
mod recorded;
mod scenario;
mod simulate;
pub mod timeline;
mod toml;
mod verdict;
mod write;

pub use dump::fault_scenario;
pub use extras::Extras;
pub use notation::{ends, parked, responses, seconds, starts};
pub use recorded::{Assumed, Recorded, recorded_scenario};
pub use scenario::{Behaviour, CallSpec, Expect, PersonEvent, Phase, Scenario, ScenarioEvent};
pub use simulate::{Observer, Setup, SimulateError, Simulation, simulate, simulate_with};
pub use verdict::{Mismatch, judge, mismatches};
