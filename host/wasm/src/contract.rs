//! What a version of the contract is to the host: one module a version, each converting between the contract's types and the host's
//! own at the edge.
//!
//! A released version is never changed, so every old one keeps its module, and components built for it go on working.

use jp_policy_guest::{Batch, CallId, Decision, Problem, Settings, View};
use wasmtime::{
    Engine, Store,
    component::{Component, InstancePre},
};

use super::{compat::Incompatibility, state::HostState};

/// A version of the contract.
pub(super) trait Contract: Send + Sync {
    /// Its number: `0.1.0`.
    fn version(&self) -> &'static str;

    /// The interfaces that the host offers to it.
    fn imports(&self) -> &'static [&'static str];

    /// Links the component, ready to be instantiated. The error lists everything that keeps it from being a policy of this version.
    fn link(
        &self,
        engine: &Engine,
        component: &Component,
    ) -> Result<InstancePre<HostState>, Box<Incompatibility>>;

    /// Looks up the functions of an instance.
    fn bind(
        &self,
        store: &mut Store<HostState>,
        instance: wasmtime::component::Instance,
    ) -> wasmtime::Result<Box<dyn Exports>>;
}

/// What an instance exports, in the host's own types.
pub(super) trait Exports: Send + Sync {
    fn name(&self, store: &mut Store<HostState>) -> wasmtime::Result<String>;

    fn configure(
        &self,
        store: &mut Store<HostState>,
        settings: &Settings,
    ) -> wasmtime::Result<Result<View, Vec<Problem>>>;

    fn release(
        &self,
        store: &mut Store<HostState>,
        batch: &Batch,
    ) -> wasmtime::Result<Result<Decision, String>>;

    /// Whether it exports `release-reasons`.
    fn explains(&self) -> bool;

    fn explain(
        &self,
        store: &mut Store<HostState>,
        batch: &Batch,
        call: CallId,
    ) -> wasmtime::Result<String>;
}
