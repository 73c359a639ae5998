//! Release policies that are WebAssembly components: loaded, bounded, cut off where they hang, and inspected. It is the only place
//! that knows wasmtime, and must never know a configuration, a tool or how a batch is run.
//!
//! An [`Engine`] compiles and owns the clock that cuts off what hangs; a [`Component`] is a compiled policy; each batch gets an
//! instance of its own under a [`Budget`]. Each version of the contract has a module that converts between its types and the host's own.

mod budget;
mod bytes;
mod compat;
mod compile_cost;
mod component;
mod contract;
mod embedded;
mod engine;
mod inspect;
mod instance;
mod load_error;
mod loaded;
mod metadata;
mod policy;
mod probe;
mod state;
mod threads;
mod ticker;
mod v0_1;
mod versions;

pub use budget::Budget;
pub use bytes::digest;
pub use compat::Incompatibility;
pub use component::Component;
pub use embedded::DEFAULT;
pub use engine::{Engine, EngineError};
pub use inspect::{Behaviour, Import, Inspection, Step, inspect};
pub use load_error::LoadError;
pub use metadata::Metadata;
pub use probe::{Accepted, Accepts, Unknown};
