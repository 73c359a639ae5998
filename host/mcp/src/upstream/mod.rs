//! Tools of MCP servers: processes on this machine, or on the net.
//!
//! [`McpServers`] has the configured servers. Each is started when a call needs it ([`server`]), is a [`connection`] then, and
//! is ended with everything it started when the tool server is closed.

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
