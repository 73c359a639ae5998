//! Policies that are WebAssembly components; the only place that knows wasmtime.
//!
//! An [`Engine`] compiles and owns the clock that cuts off what hangs; a [`Component`] is a compiled policy; each batch gets an
//! instance of its own under a [`Budget`]. `v0_1` converts between the contract's version and the host's types.

mod budget;
mod component;
mod engine;
mod state;
mod v0_1;

pub use budget::Budget;
#[cfg(feature = "build")]
pub(crate) use component::digest;
pub use component::{Component, LoadError};
pub use engine::{Engine, EngineError};

/// The default policy, as it was built from `policies/default`.
pub const DEFAULT: &[u8] = include_bytes!("../../../../policies/default.wasm");
