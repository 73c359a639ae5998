//! MCP servers as sources of tools: processes on this machine, or servers over HTTP.
//!
//! [`McpServers`] has the configured servers. Each is started when a call needs it ([`server`]), has a [`connection`] then, and
//! is ended with everything it started when [`McpServers`] is closed.

mod bounded;
mod calls;
mod client;
mod connection;
mod content;
mod elicitation;
mod error;
mod http;
mod in_flight;
mod process;
mod schema;
mod server;
mod servers;

#[cfg(test)]
mod tests;

pub(crate) use servers::McpServers;
