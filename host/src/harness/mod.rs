//! Policies in virtual time: a [`Scenario`] says what happens, [`simulate`] lets the scheduler live through it.

mod axis;
#[cfg(feature = "wasm")]
pub mod bench;
#[cfg(feature = "check")]
pub mod check;
mod decisions;
pub mod diff;
mod dump;
mod extras;
mod junit;
mod notation;
#[cfg(feature = "wasm")]
pub mod plot;
mod recorded;
mod scenario;
mod simulate;
pub mod suite;
mod svg;
pub mod timeline;
mod toml;
mod trace;
mod verdict;
mod write;
mod xml;

pub use decisions::{Asked, Decisions};
pub use dump::fault_scenario;
pub use extras::Extras;
pub use junit::junit;
pub use notation::{ends, parked, responses, seconds, starts};
pub use recorded::{Assumed, Recorded, recorded_scenario};
pub use scenario::{Behaviour, CallSpec, Expect, PersonEvent, Phase, Scenario, ScenarioEvent};
pub use simulate::{Observer, Setup, SimulateError, Simulation, simulate, simulate_with};
pub use svg::svg;
pub use trace::trace;
pub use verdict::{Mismatch, Verdict, judge, mismatches, verdict};
