//! `jp-policy build`: a policy from its source, tried out at once, and again whenever the source changes.

mod report;
mod trial;
mod verb;
mod watch;

pub(super) use verb::{Args, run};
