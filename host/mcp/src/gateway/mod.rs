//! The tools as an MCP server, for any agent: with the limits, the order and the policy of the configuration.
//!
//! A [`Desk`] takes calls from all clients and runs them in one batch at a time, so that they share the limits. A client's calls
//! are handed to it in the order in which they stand on the connection, by [`Ordered`], before any task is spawned for them. A
//! connection is standard input and output, or [`Http`].

mod clients;
mod desk;
mod handler;
mod http;
mod leaving;
mod ordered;
mod sessions;
mod stdio;

pub use clients::Clients;
pub use desk::{Desk, Pending, Place};
pub use handler::Handler;
pub use http::{Http, PATH};
pub use ordered::Ordered;
pub use stdio::{Input, Output, over_stdio, stdio};
