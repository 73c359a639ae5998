//! The tool server: runs the calls that the Host has released. It knows tools, not limits.

mod arguments;
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
pub use fan_out::{OPERATIONS, Parts, parts, schema};
pub use gate::Gate;
pub use host::{Answering, Host, Progress};
pub use local::{Server, Workspace};
#[cfg(feature = "mcp")]
pub use mcp::{Definition, McpError};
pub use outcome::{AnswerType, Outcome, Question};
pub use process::{ProcessWatch, Stop};
pub use spool::Spooled;
pub use tools::{Invocation, Ran, Running, Terms, Tools};
