//! Tools: what the Host needs of them, and those that are commands on this machine. Nothing here knows limits.

mod arguments;
mod captured;
mod definition;
mod group;
mod host;
mod interface;
mod local;
mod outcome;
mod process;
mod spool;
mod template;

pub use arguments::ArgumentError;
pub use definition::{Definition, is_demanded, of_parameter};
pub use group::{GRACE, Group, ProcessWatch};
pub use host::{Answering, Host, Progress};
pub use interface::{Defining, Invocation, Ran, Running, Tools};
pub use local::{LocalTools, Workspace};
pub use process::{DRAIN, Stop, located};
pub use spool::Spooled;
