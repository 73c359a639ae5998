//! Policies in virtual time: a [`Scenario`] says what happens, [`simulate`] lets the scheduler live through it.

mod dump;
mod explain;
mod input;
mod notation;
mod recorded;
mod replay;
mod scenario;
pub mod side_by_side;
mod simulate;
pub mod timeline;
mod toml;
mod verdict;
mod write;

pub use dump::fault_scenario;
pub use explain::{Account, Holder, Stretch, Waits, Why};
pub use input::{Input, InputError};
pub use notation::{ends, parked, responses, seconds, starts};
pub use recorded::{Assumed, Assumption, Recorded, recorded_config, recorded_scenario};
pub use replay::{LeftOut, Outcome, Real, laid_over, replay};
pub use scenario::{CallSpec, Expect, PersonEvent, Phase, Scenario, ScenarioEvent};
pub use simulate::{Observer, Setup, SimulateError, Simulation, simulate, simulate_with};
pub use verdict::{Mismatch, judge, mismatches};
