//! What a release policy is to the host.
//!
//! A [`Blueprint`] is a policy that is ready to serve batches (a compiled component, the native rules); it makes one [`Policy`]
//! a batch. Whatever a policy does that the host can't accept is a [`Fault`], and a fault is data.

mod blueprint;
mod fault;
pub mod guard;
mod limits;
mod native;

pub use blueprint::{Arguments, Blueprint, Identity, Policy, Spent};
pub use fault::{Fault, FaultKind, Invalid, OnFault, Refusal};
pub use guard::Guard;
pub use limits::PluginLimits;
pub use native::Native;
