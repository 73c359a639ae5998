//! Release policies that are WebAssembly components: loaded, bounded, cut off where they hang, and inspected. It is the only place
//! that knows wasmtime, and must never know a configuration, a tool or how a batch is run.
//!
//! An [`Engine`] compiles and owns the clock that cuts off what hangs; a [`Component`] is a compiled policy; each batch gets an
//! instance of its own under a [`Budget`]. Each version of the contract has a module that converts between its types and the host's own.

mod anatomy;
mod budget;
mod component;
mod contract;
mod engine;
mod fit;
mod inspect;
mod instance;
mod probe;
mod state;
mod threads;
mod ticker;
mod v0_1;
mod weigh;

pub use anatomy::{Anatomy, Part, Section};
pub use budget::Budget;
pub use component::{Component, LoadError, digest};
pub use engine::{Engine, EngineError};
pub use fit::Misfit;
pub use inspect::{Behaviour, Import, Inspection, Step, inspect};
pub use probe::{Accepted, Accepts, Unknown};

/// The default policy, as it was built from `policies/default`.
pub const DEFAULT: &[u8] = include_bytes!("../default.wasm");
