//! Reads layers of configuration files into one checked [`Config`]. It must never know what is done with it: no policy is loaded
//! here, no tool is run.
//!
//! Files are parsed into trees in which every value knows its place ([`node`]), the trees are merged, and the merged tree is
//! read once into typed values, collecting everything that is wrong ([`ConfigError`]), each with its place.
//!
//! ```
//! use jp_policy_config::{Config, ConfigError, Source};
//!
//! let text = "[conversation.tools.git_add]\ncommand = 'git add .'\nconcurrency = { key = 'git' }\n";
//! let config = Config::from_sources(&[Source::new("tools.toml", text)])?;
//! assert_eq!(config.settings().keys[0].name, "git");
//!
//! let wrong = Source::new("wrong.toml", "[conversation.tools.a]\nrun = 'asc'\n");
//! let ConfigError(problems) = Config::from_sources(&[wrong]).unwrap_err();
//! assert_eq!(problems[0].help.as_deref(), Some("did you mean \"ask\"?"));
//! # Ok::<(), ConfigError>(())
//! ```
//!
//! From the bottom up: [`Source`] and [`Place`]; [`Diagnostic`]; [`node`] and the formats; [`reader`] and `spec`, by which tables are
//! declared; what stands in them (`tool`, `mcp`, `release`, ...); `document`, the whole of a file; single values (`assignment`) and
//! files (`extends`, [`ConfigDirs`]); [`Layers`], which collects them and merges; [`Config`], which is loaded from them and checked.

mod assignment;
mod check;
mod concurrency;
mod config;
mod config_dirs;
mod diagnostic;
mod document;
mod embed;
mod explain;
mod extends;
mod fan_out;
mod files;
mod format;
mod key_path;
mod keys;
mod layer;
mod layers;
mod load;
mod mcp;
mod merge;
pub mod node;
pub mod reader;
mod refusal;
mod release;
#[cfg(feature = "schema")]
mod schema;
mod similar_names;
mod source;
mod spec;
mod suggest;
mod terms;
pub mod toml_literal;
mod tool;

pub use concurrency::Concurrency;
pub use config::Config;
pub use config_dirs::{ConfigDirs, FileStatus, StandardFile};
pub use diagnostic::{ConfigError, Diagnostic, Severity};
pub use embed::{
    ConcurrencyConfig, ConcurrencyError, FanOutConfig, PartialConcurrencyConfig,
    PartialFanOutConfig, PartialFanOutTable, PartialSharedConcurrency, SharedConcurrency,
};
pub use explain::{ExplainError, Explanation, Says, Step, Winner};
pub use fan_out::FanOut;
pub use format::{EXTENSIONS, parse, parse_toml};
pub use layer::Layer;
pub use layers::Layers;
pub use mcp::{ChecksumAlgorithm, McpChecksum, McpCommand, McpEndpoint, McpServer, McpTransport};
pub use release::{Plugin, PluginRun, Release};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use source::{Located, Place, Source};
pub use suggest::nearest;
pub use tool::{Command, Tool, ToolDefaults, ToolSource};
