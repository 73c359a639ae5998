//! Configuration: from files to one checked [`Config`].
//!
//! Files are parsed into trees in which every value knows its place ([`node`]), the trees are merged, and the merged tree is
//! read once into typed values, collecting everything that is wrong ([`ConfigError`]), each with its place.

mod check;
mod concurrency;
mod diagnostic;
mod fan_out;
mod load;
mod mcp;
pub mod node;
pub(crate) mod reader;
mod refusal;
mod release;
mod source;
mod tool;

pub use concurrency::Concurrency;
pub use diagnostic::{ConfigError, Diagnostic, Severity, nearest};
pub use fan_out::{FanOut, OnError};
pub use load::Config;
pub use mcp::{ChecksumAlgorithm, McpChecksum, McpCommand, McpEndpoint, McpServer, McpTransport};
pub use release::{Guard, OnFault, Plugin, PluginLimits, PluginRun, Release};
pub use source::{Located, Place, Source};
pub use tool::{Command, ResultMode, RunMode, Tool, ToolDefaults, ToolSource};
