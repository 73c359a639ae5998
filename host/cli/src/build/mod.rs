//! Builds policies: finds a language's tools, runs them, and makes what they leave a component, with a record of what it was built
//! with.

mod c;
mod contract;
mod encode;
mod error;
mod javascript;
mod project;
mod python;
mod record;
mod rust;
mod scratch;
pub(crate) mod tools;

pub use encode::{componentize, imports};
pub use error::{BuildError, Missing};
pub(crate) use project::holds_source;
pub use project::{Built, Language, Options, Project, build};
pub use record::{BuildRecord, Comparison};
