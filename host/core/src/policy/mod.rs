//! What a release policy is to the host.
//!
//! A [`PolicyFactory`] is a policy that is ready to serve batches (a compiled component, the native rules); it makes one [`Policy`]
//! a batch. Whatever a policy does that the host can't accept is a [`Fault`], and a fault is data.

mod arguments;
mod factory;
mod fault;
pub mod guard;
mod identity;
mod limits;
mod native;

pub use arguments::Arguments;
pub use factory::{Policy, PolicyFactory, Spent};
pub use fault::{Fault, FaultKind, Invalid, OnFault, Refusal};
pub use guard::Guard;
pub use identity::Identity;
pub use limits::PluginLimits;
pub use native::Native;
