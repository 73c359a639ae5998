//! What can go wrong with an MCP server.

use jp_policy_config::nearest;
use jp_policy_core::outcome::Outcome;

/// Why a tool of an MCP server could not be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum McpError {
    /// No such server.
    #[error("MCP server `{server}` is not configured{}", alternatives(server, "configured", known))]
    UnknownServer {
        /// Its name.
        server: String,
        /// Those that are configured.
        known: Vec<String>,
    },
    /// The server has no such tool.
    #[error(
        "MCP server `{server}` offers no tool `{tool}`{}",
        alternatives(tool, "offered", known)
    )]
    UnknownTool {
        /// The server.
        server: String,
        /// The tool's name there.
        tool: String,
        /// What it offers.
        known: Vec<String>,
    },
    /// The server could not be started, or never became ready.
    #[error("failed to start MCP server `{server}` (`{what}`): {why}")]
    Start {
        /// The server.
        server: String,
        /// Its command line, or its address.
        what: String,
        /// What went wrong.
        why: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// The server ended, or closed the connection.
    #[error("MCP server `{server}` {why}")]
    Gone {
        /// The server.
        server: String,
        /// How it ended.
        why: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// The server refused a request, or answered something that is no answer.
    #[error("MCP server `{server}`: {message}")]
    Refused {
        /// The server.
        server: String,
        /// In its own words.
        message: String,
    },
    /// The caller was stopped while it waited for the server.
    #[error("stopped while MCP server `{server}` was being asked")]
    Stopped {
        /// The server.
        server: String,
    },
}

/// Such as "; offered are `a`, `b`; did you mean `b`?".
fn alternatives(name: &str, what: &str, known: &[String]) -> String {
    /// More names than this are no help.
    const SHOWN: usize = 20;
    if known.is_empty() {
        return format!("; none is {what}");
    }
    let shown: Vec<String> =
        known.iter().take(SHOWN).map(|name| format!("`{}`", name.escape_debug())).collect();
    let more = known.len().checked_sub(SHOWN).filter(|more| *more > 0);
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    let meant = nearest(name, known.iter().map(String::as_str))
        .map_or_else(String::new, |meant| format!("; did you mean `{}`?", meant.escape_debug()));
    format!("; {what} are {}{more}{meant}", shown.join(", "))
}

impl McpError {
    /// The outcome of a call of this tool that fails with it.
    pub(super) fn outcome(&self, tool: &str) -> Outcome {
        let trace = match self {
            Self::Start { stderr, .. } | Self::Gone { stderr, .. } if !stderr.is_empty() => {
                vec![format!("its standard error ends:\n{stderr}")]
            }
            _ => Vec::new(),
        };
        let transient = matches!(self, Self::Gone { .. });
        Outcome::Error { message: format!("tool `{tool}`: {self}"), trace, transient }
    }
}
