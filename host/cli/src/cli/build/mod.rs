//! `jp-policy build`: a policy from its source, tried out at once, and again whenever the source changes.

mod command;
mod print;
mod trial;
mod watch;

pub(super) use command::{Args, run};
