//! Reads layers of configuration files into one checked [`Config`]. It must never know what is done with it: no policy is loaded
//! here, no tool is run.
//!
//! Files are parsed into trees in which every value knows its place ([`node`]), the trees are merged, and the merged tree is
//! read once into typed values, collecting everything that is wrong ([`ConfigError`]), each with its place.

mod assignment;
mod check;
mod concurrency;
mod diagnostic;
mod embed;
mod explain;
mod extends;
mod fan_out;
mod fields;
mod format;
mod key_path;
mod layers;
mod load;
mod mcp;
mod names;
pub mod node;
mod places;
pub mod reader;
mod refusal;
mod release;
#[cfg(feature = "schema")]
mod schema;
mod source;
mod suggest;
pub mod toml_literal;
mod tool;

pub use jp_policy_core::{
    policy::{Guard, OnFault, PluginLimits},
    terms::{OnError, ResultMode, RunMode},
};

pub use concurrency::Concurrency;
pub use diagnostic::{ConfigError, Diagnostic, Severity};
pub use embed::{
    ConcurrencyConfig, ConcurrencyError, FanOutConfig, PartialConcurrencyConfig,
    PartialFanOutConfig, PartialFanOutTable, PartialSharedConcurrency, SharedConcurrency,
};
pub use explain::{ExplainError, Explanation, Says, Step, Winner};
pub use fan_out::FanOut;
pub use format::{EXTENSIONS, parse, parse_toml};
pub use layers::{Layer, Layers};
pub use load::Config;
pub use mcp::{ChecksumAlgorithm, McpChecksum, McpCommand, McpEndpoint, McpServer, McpTransport};
pub use places::{Looked, Outcome, Places};
pub use release::{Plugin, PluginRun, Release};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use source::{Located, Place, Source};
pub use suggest::nearest;
pub use tool::{Command, Tool, ToolDefaults, ToolSource};
