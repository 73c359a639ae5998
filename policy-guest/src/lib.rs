//! SDK for authors of release policies.
//!
//! A release policy is a WebAssembly component that a host asks which of a batch's waiting tool calls start now. With this
//! crate it is a type, an implementation of [`Policy`] and one line:
//!
//! ```
//! use jp_policy_guest::{Batch, Decision, Error, Policy, Problem, Settings, State, export_policy};
//!
//! /// Starts one call at a time, whatever its key.
//! struct OneByOne;
//!
//! impl Policy for OneByOne {
//!     const NAME: &'static str = "one-by-one";
//!
//!     fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
//!         settings.refuse_all().map(|()| Self)
//!     }
//!
//!     fn release(&self, batch: &Batch) -> Result<Decision, Error> {
//!         let next = batch.calls.iter().find(|call| call.state == State::Parked);
//!         Ok(match next {
//!             Some(call) if batch.running == 0 => Decision::release([call.id]),
//!             _ => Decision::nothing(),
//!         })
//!     }
//! }
//!
//! export_policy!(OneByOne);
//! # fn main() {}
//! ```
//!
//! The types are those of the contract, `wit/jp-plugin-0.1.0`; what every field means and what the host takes for a fault
//! stands there and in the documentation of the types. [`rules`] has the default rules, for a policy that only adds to them.
//!
//! Without the default feature `component` the crate is the types and the rules alone, as a host uses them natively.

// The generated bindings name this crate by its name, so that they work in the crates of authors too.
extern crate self as jp_policy_guest;

#[doc(hidden)]
#[allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unreachable_pub,
    unsafe_code,
    reason = "generated code"
)]
pub mod bindings;
pub mod duration;
#[cfg(feature = "component")]
#[doc(hidden)]
pub mod export;
mod policy;
pub mod rules;
mod types;

pub use policy::{Error, Policy};
pub use types::{
    Batch, Call, CallId, Decision, Field, Instant, Key, KeyIndex, Problem, Settings, State, Tool,
    ToolIndex, Usage, Value, View,
};
#[doc(hidden)]
pub use wit_bindgen::rt;

#[cfg(feature = "component")]
pub use bindings::jp::host::{
    calls::arguments,
    log::{Level, write as log},
};
