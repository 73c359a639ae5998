//! Runs the tool calls of a batch on tokio: finds the calls of a message, runs local commands as tools, and joins the scheduler,
//! the tools and the people in one event loop. It must never know how a policy decides, nor MCP or any other protocol.

pub mod coordinator;
pub mod message;
mod stored;
pub mod tools;

pub use stored::whole_text;
