//! The tool server: runs the calls that the Host has released. It knows tools, not limits.

mod arguments;
mod definition;
mod fan_out;
mod gate;
mod host;
mod interface;
mod local;
mod outcome;
mod process;
mod spool;
mod template;

pub use arguments::ArgumentError;
pub use definition::{Definition, is_demanded, of_parameter};
pub use fan_out::{OPERATIONS, Parts, parts, schema};
pub use gate::Gate;
pub use host::{Answering, Host, Progress};
pub use interface::{Defining, Invocation, Ran, Running, Terms, Tools};
pub use local::{Server, Workspace};
pub use outcome::{AnswerType, Outcome, Question};
pub use process::{DRAIN, GRACE, Group, ProcessWatch, Stop, located};
pub use spool::Spooled;
