//! Shows what a record of a batch tells: timelines, pictures, traces, outcomes side by side, and why calls waited. It must never
//! know how what happened came to happen: live, simulated or read from a file is all the same, and no scheduler is driven here.

mod axis;
mod bars;
mod decisions;
mod notation;
mod record_file;
mod replay_outcome;
pub mod side_by_side;
mod summary;
mod svg;
pub mod text;
pub mod timeline;
mod trace;
mod waits;
mod xml;

pub use decisions::{DecisionEntry, Decisions};
pub use notation::{ends, parked, responses, seconds, starts};
pub use record_file::{FileError, header, read_record};
pub use replay_outcome::{RefusedParameter, ReplayOutcome};
pub use svg::svg;
pub use trace::trace;
pub use waits::{BatchHistory, Holder, WaitAnalysis, WaitCause, WaitInterval, WaitingCall};

#[cfg(test)]
mod hostile_tests;
