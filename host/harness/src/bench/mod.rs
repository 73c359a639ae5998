//! What a policy costs, beside the default policy in the same run: [`bench()`] measures, a [`Bench`] is what was found.
//!
//! Instructions are counted, so they are the same on every machine; times are not, so what they are worth is their ratio to the
//! default policy's.

mod decisions;
mod error;
mod loading;
mod run;
#[doc(hidden)]
pub mod sample;
mod subject;

pub use decisions::{Cost, Cut, Row};
pub use error::BenchError;
pub use loading::{Loading, Timing};
pub use run::{Bench, BenchProgress, Measured, Plan, bench};
pub use subject::Subject;
