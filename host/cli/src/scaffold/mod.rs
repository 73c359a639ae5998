//! Projects to start from: a policy's source, its scenarios, its tests and what else belongs to it, as files.
//!
//! The files come from `templates`, which holds by links what the rest of the tree has: the SDK, the policies, the bindings. Files
//! that are in the same place in every project of a language are in `common`, and what a project begins as is in `policies`.

mod file;
mod language;
mod name;
mod origin;
mod project;
mod template;
mod write;

pub use file::File;
pub use name::{Name, NameError};
pub use origin::Origin;
pub use project::NewProject;
pub use write::{WriteError, write};
