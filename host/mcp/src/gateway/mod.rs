//! The tools as an MCP server, for any agent: with the limits, the order and the policy of the configuration.
//!
//! A [`Dispatcher`] takes calls from all clients and runs them in one batch at a time, so that they share the limits. A client's
//! calls are submitted to it in the order in which they stand on the connection, by [`Ingress`], before any task is spawned for
//! them. A connection is standard input and output ([`serve_stdio`]), or one of an [`HttpServer`].

mod client_prompter;
mod connection_calls;
mod dispatcher;
mod form;
mod handler;
mod http;
mod ingress;
mod progress;
mod sessions;
mod status;
mod stdio;
mod watched;
mod watcher;

pub use client_prompter::ClientPrompter;
pub use dispatcher::{CallHandle, Dispatcher};
pub use handler::Handler;
pub use http::{HttpServer, PATH};
pub use ingress::Ingress;
pub use status::CallStatus;
pub use stdio::{Input, Output, serve_stdio, stdio};
