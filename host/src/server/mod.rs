//! The tool server: runs the calls that the Host has released. It knows tools, not limits.

mod arguments;
mod local;
mod outcome;
mod process;
mod template;

pub use arguments::ArgumentError;
pub use local::{Invocation, Ran, Server, Workspace};
pub use outcome::{AnswerType, Outcome, Question};
pub use process::{ProcessWatch, Stop};
