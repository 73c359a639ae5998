//! A component that is compiled and linked: what its instances are made of.

use jp_policy_core::policy::Identity;
use wasmtime::component::InstancePre;

use super::{budget::Budget, contract::Contract, engine::Engine, state::HostState};

/// A compiled and linked component, with what its instances are held to.
pub(super) struct Loaded {
    pub(super) engine: Engine,
    pub(super) contract: &'static dyn Contract,
    pub(super) linked: InstancePre<HostState>,
    pub(super) identity: Identity,
    pub(super) budget: Budget,
}
