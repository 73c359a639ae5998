//! Policies that are WebAssembly components; the only place that knows wasmtime.
//!
//! An [`Engine`] compiles and owns the clock that cuts off what hangs; a [`Component`] is a compiled policy; each batch gets an
//! instance of its own under a [`Budget`]. each version of the contract has a module that converts between its types and the host's own.

mod budget;
mod component;
mod contract;
mod engine;
mod fit;
mod instance;
mod state;
mod v0_1;
mod weigh;

pub use budget::Budget;
#[cfg(feature = "build")]
pub(crate) use component::digest;
pub use component::{Component, LoadError};
pub use engine::{Engine, EngineError};
pub use fit::Misfit;

/// The default policy, as it was built from `policies/default`.
pub const DEFAULT: &[u8] = include_bytes!("../../../../policies/default.wasm");
