//! Bounds and orders the tool calls of an assistant's response by a release policy.

pub mod batch;
pub mod config;
#[cfg(feature = "harness")]
pub mod harness;
pub mod policy;
pub mod record;
pub mod scheduler;
