//! Policies in virtual time: a [`Scenario`] says what happens, [`simulate`] lets the scheduler live through it.

mod axis;
#[cfg(feature = "wasm")]
pub mod bench;
#[cfg(feature = "check")]
pub mod check;
mod decisions;
pub mod diff;
mod dump;
mod explain;
mod extras;
mod input;
mod junit;
mod notation;
#[cfg(feature = "wasm")]
pub mod plot;
mod recorded;
mod replay;
mod scenario;
pub mod side_by_side;
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
pub use explain::{Account, Holder, Stretch, Waits, Why};
pub use extras::Extras;
pub use input::{Input, InputError};
pub use junit::junit;
pub use notation::{ends, parked, responses, seconds, starts};
pub use recorded::{Assumed, Assumption, Recorded, recorded_config, recorded_scenario};
pub use replay::{LeftOut, Outcome, Real, laid_over, replay};
pub use scenario::{
    Behaviour, CallSpec, Earlier, Expect, PersonEvent, Phase, Scenario, ScenarioEvent,
};
pub use simulate::{Observer, Setup, SimulateError, Simulation, simulate, simulate_with};
pub use svg::svg;
pub use trace::trace;
pub use verdict::{Mismatch, Verdict, judge, mismatches, verdict};
