//! Projects to start from: a policy's source, its scenarios, its tests and what else belongs to it, as files.

mod from;
mod name;
mod project;
mod sdk;
mod template;
mod write;

pub use from::Origin;
pub use name::{Name, NameError};
pub use project::{File, Start, files};
pub use write::{WriteError, write};
