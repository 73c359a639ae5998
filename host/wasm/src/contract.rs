//! What a version of the contract is to the host: one module a version, each converting between the contract's types and the host's
//! own at the edge.
//!
//! A released version is never changed, so every old one keeps its module, and components built for it go on working.

use jp_policy_guest::{Batch, CallId, Decision, Problem, Settings, View};
use wasmtime::{
    Engine, Store,
    component::{Component, InstancePre},
};

use super::{fit::Misfit, state::State, v0_1};

/// A version of the contract.
pub(super) trait Contract: Send + Sync {
    /// Its number: `0.1.0`.
    fn version(&self) -> &'static str;

    /// The interfaces that the host offers to it.
    fn imports(&self) -> &'static [&'static str];

    /// Everything that keeps the component from being a policy of this version; none: it is one, ready to be instantiated.
    fn fit(
        &self,
        engine: &Engine,
        component: &Component,
    ) -> Result<InstancePre<State>, Box<Misfit>>;

    /// Finds the functions of an instance.
    fn bind(
        &self,
        store: &mut Store<State>,
        instance: wasmtime::component::Instance,
    ) -> wasmtime::Result<Box<dyn World>>;
}

/// The functions of an instance, in the host's own types.
pub(super) trait World: Send + Sync {
    fn name(&self, store: &mut Store<State>) -> wasmtime::Result<String>;

    fn configure(
        &self,
        store: &mut Store<State>,
        settings: &Settings,
    ) -> wasmtime::Result<Result<View, Vec<Problem>>>;

    fn release(
        &self,
        store: &mut Store<State>,
        batch: &Batch,
    ) -> wasmtime::Result<Result<Decision, String>>;

    /// Whether it has reasons of its own.
    fn explains(&self) -> bool;

    fn explain(
        &self,
        store: &mut Store<State>,
        batch: &Batch,
        call: CallId,
    ) -> wasmtime::Result<String>;
}

/// All versions this host knows, the newest first.
pub(super) const CONTRACTS: &[&dyn Contract] = &[&v0_1::V0_1];

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
