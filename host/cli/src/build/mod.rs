//! Builds policies: finds a language's tools, runs them, and makes a component of what they leave, with a record of what it was
//! built with.
//!
//! [`Project`] and [`Artifact`] know no tools; each language builds the one from the other in a file of its own; [`build`] chooses
//! the language.

mod artifact;
mod builder;
mod c;
mod componentizer;
mod encode;
mod error;
mod io;
mod javascript;
mod language;
pub(crate) mod layout;
mod project;
mod python;
mod record;
mod rust;
pub(crate) mod tools;

pub use artifact::{Artifact, Comparison};
pub use builder::{Options, build};
pub use encode::{componentize, imports};
pub use error::{BuildError, Missing};
pub use language::Language;
pub use project::Project;
pub use record::BuildRecord;
