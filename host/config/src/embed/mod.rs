//! Settings of a tool as values, for a program that has its own configuration and embeds this library: each with its partial form,
//! which is what a layer says of it, and the rules by which partial forms are merged and told apart.
//!
//! They merge as the loader merges files, and are written as files have them.

mod concurrency;
mod fan_out;

pub use concurrency::{
    ConcurrencyConfig, ConcurrencyError, PartialConcurrencyConfig, PartialSharedConcurrency,
    SharedConcurrency,
};
pub use fan_out::{FanOutConfig, PartialFanOutConfig, PartialFanOutTable};
