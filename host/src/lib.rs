//! Bounds and orders the tool calls of an assistant's response by a release policy.

pub mod batch;
#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
#[cfg(feature = "live")]
pub mod coordinator;
#[cfg(feature = "harness")]
pub mod harness;
pub mod message;
pub mod policy;
pub mod record;
#[cfg(feature = "build")]
pub mod scaffold;
pub mod scheduler;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "live")]
pub mod server;
pub mod text;

/// The snippets of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
