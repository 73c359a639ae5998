//! The tool server: runs the calls that the Host has released. It knows tools, not limits.

mod arguments;
mod definition;
mod fan_out;
mod gate;
mod host;
mod local;
#[cfg(feature = "mcp")]
mod mcp;
mod outcome;
mod process;
mod spool;
mod template;
mod tools;

pub use arguments::ArgumentError;
pub use definition::Definition;
pub use fan_out::{OPERATIONS, Parts, parts, schema};
pub use gate::Gate;
pub use host::{Answering, Host, Progress};
pub use local::{Server, Workspace};
pub use outcome::{AnswerType, Outcome, Question};
pub use process::{ProcessWatch, Stop};
pub use spool::Spooled;
pub use tools::{Defining, Invocation, Ran, Running, Terms, Tools};
