//! The tool server: runs the calls that the Host has released. It knows tools, not limits.

mod arguments;
mod local;
mod outcome;
mod process;
mod spool;
mod template;
mod tools;

pub use arguments::ArgumentError;
pub use local::{Server, Workspace};
pub use outcome::{AnswerType, Outcome, Question};
pub use process::{ProcessWatch, Stop};
pub use spool::Spooled;
pub use tools::{Invocation, Ran, Running, Terms, Tools};
