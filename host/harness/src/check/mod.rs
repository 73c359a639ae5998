//! Proves or refutes a policy: searches through all batches up to a bound and all orders of what may happen to them, then tries
//! random ones far larger.
//!
//! Whatever is found was seen to happen with the scheduler that runs live, and comes as a scenario that shows it again. What is
//! left out of the search is time: it passes (a second between two instants, and whatever wake-ups ask for), but two histories that
//! differ in nothing but how long ago things happened count as one, except in the smallest batches.

mod history;
mod invariants;
mod model;
mod plan;
mod progress;
mod purity;
mod random;
mod report;
mod run;
mod shapes;
mod violation;

pub use plan::Plan;
pub use progress::CheckProgress;
pub use report::{CheckError, Refutation, Report};
pub use run::check;
pub use violation::{Impurity, Violation};
