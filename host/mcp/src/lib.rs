//! Tools of MCP servers, and the configured tools as an MCP server. It is the only place that knows rmcp and hyper, and must never
//! know how calls are ordered or what a policy is made of.

mod configured;
pub mod gateway;
mod upstream;

pub use configured::ConfiguredTools;
