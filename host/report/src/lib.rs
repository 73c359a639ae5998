//! Shows what a record of a batch tells: timelines, pictures, traces, outcomes side by side, and why calls waited. It must never
//! know how what happened came to happen: live, simulated or read from a file is all the same, and no scheduler is driven here.

mod axis;
mod decisions;
mod explain;
mod file;
mod notation;
mod outcome;
pub mod side_by_side;
mod svg;
pub mod timeline;
mod trace;
pub mod xml;

pub use decisions::{Asked, Decisions};
pub use explain::{Account, Holder, Lived, Stretch, Waits, Why};
pub use file::{FileError, header, read_record};
pub use notation::{ends, parked, responses, seconds, starts};
pub use outcome::{LeftOut, Outcome};
pub use svg::svg;
pub use trace::trace;
