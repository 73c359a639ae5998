//! The host keeps old versions of the contract: proved with an older one that is invented here.

use jp_policy_core::policy::{Arguments, PolicyFactory as _};
use jp_policy_guest::{
    self as own, Batch, CallId, Decision, Key, Problem, Settings, State as CallState, Tool, View,
};
use wasmtime::{
    Engine as Wasmtime, Store,
    component::{Component as Compiled, Instance, InstancePre, Linker, TypedFunc},
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::*;
use crate::{
    Budget, Component, Engine,
    compat::{Function, Incompatibility, Interface, link},
    contract::Exports,
    state::HostState,
    v0_1,
};

/// It knew no keys, no configuration and no clock: which calls wait, in written order, and how many run.
const WIT: &str = "
    package jp:plugin@0.0.1;
    interface release-policy {
        release: func(waiting: list<u32>, running: u32) -> list<u32>;
    }
    world w { export release-policy; }
";

/// Releases the first of the waiting calls, whatever runs.
const FIRST: &str = r#"(module
    (memory (export "memory") 1)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
    (func (export "jp:plugin/release-policy@0.0.1#release") (param i32 i32 i32) (result i32)
        (i32.store (i32.const 8) (local.get 0))
        (i32.store (i32.const 12) (i32.ne (local.get 1) (i32.const 0)))
        i32.const 8))"#;

const EXPORTS: &[Interface] = &[Interface {
    name: "jp:plugin/release-policy@0.0.1",
    functions: &[Function {
        name: "release",
        has_signature: |component, function| {
            function.typecheck::<(Vec<u32>, u32), (Vec<u32>,)>(&component.instance_type()).is_ok()
        },
    }],
}];

struct V0_0_1;

impl Contract for V0_0_1 {
    fn version(&self) -> &'static str {
        "0.0.1"
    }

    fn imports(&self) -> &'static [&'static str] {
        &[]
    }

    fn link(
        &self,
        engine: &Wasmtime,
        component: &Compiled,
    ) -> Result<InstancePre<HostState>, Box<Incompatibility>> {
        link(engine, component, &[], EXPORTS, Linker::new(engine).instantiate_pre(component))
    }

    fn bind(
        &self,
        store: &mut Store<HostState>,
        instance: Instance,
    ) -> wasmtime::Result<Box<dyn Exports>> {
        let interface = instance.get_export_index(&mut *store, None, EXPORTS[0].name);
        let function = instance.get_export_index(&mut *store, interface.as_ref(), "release");
        let function = function.ok_or_else(|| wasmtime::format_err!("checked before"))?;
        Ok(Box::new(Old(instance.get_typed_func(&mut *store, function)?)))
    }
}

struct Old(TypedFunc<(Vec<u32>, u32), (Vec<u32>,)>);

impl Exports for Old {
    fn name(&self, _: &mut Store<HostState>) -> wasmtime::Result<String> {
        Ok("of old".to_owned())
    }

    fn configure(
        &self,
        _: &mut Store<HostState>,
        settings: &Settings,
    ) -> wasmtime::Result<Result<View, Vec<Problem>>> {
        Ok(settings.refuse_all().map(|()| View::Front))
    }

    fn release(
        &self,
        store: &mut Store<HostState>,
        batch: &Batch,
    ) -> wasmtime::Result<Result<Decision, String>> {
        let parked = batch.calls.iter().filter(|call| call.state == CallState::Parked);
        let waiting = parked.map(|call| call.id).collect();
        let (release,) = self.0.call(store, (waiting, batch.running))?;
        Ok(Ok(Decision::release(release)))
    }

    fn explains(&self) -> bool {
        false
    }

    fn explain(&self, _: &mut Store<HostState>, _: &Batch, _: CallId) -> wasmtime::Result<String> {
        Ok(String::new())
    }
}

fn old_component() -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("old.wit", WIT).expect("the WIT parses");
    let world = resolve.select_world(&[package], None).expect("one world");
    let mut module = wat::parse_str(FIRST).expect("the module parses");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .expect("it can be embedded");
    let encoder = ComponentEncoder::default().module(&module).expect("a module");
    encoder.validate(true).encode().expect("it becomes a component")
}

fn load(bytes: &[u8], contracts: &[&'static dyn Contract]) -> Result<Component, String> {
    let engine = Engine::new().expect("an engine");
    let loaded =
        Component::with_contracts(&engine, "p.wasm".into(), bytes, Budget::default(), contracts);
    loaded.map_err(|error| error.to_string())
}

#[test]
fn a_component_of_an_older_version_is_served() {
    let contracts: [&dyn Contract; 2] = [&v0_1::V0_1, &V0_0_1];
    let component = load(&old_component(), &contracts).expect("its version is known");
    assert_eq!((component.version(), component.identity().name.as_str()), ("0.0.1", "of old"));

    let settings = Settings {
        tools: vec![Tool { name: "t".into(), key: Some(0) }],
        keys: vec![Key { name: "t".into(), limit: 1, fields: vec![] }],
        options: vec![],
    };
    let mut policy =
        component.instantiate(&settings, Arguments::default()).expect("it takes the settings");
    let call = |id| own::Call {
        id,
        parent: id,
        tool: 0,
        key: Some(0),
        state: CallState::Parked,
        since: 0,
    };
    let batch = own::Batch { now: 0, running: 0, keys: vec![], calls: vec![call(7), call(9)] };
    assert_eq!(policy.release(&batch), Ok(Decision::release([7])));

    let newest = load(crate::DEFAULT, &contracts).expect("and the newest too");
    assert_eq!(newest.version(), "0.1.0");
}

#[test]
fn without_its_version_it_is_refused_and_both_are_named() {
    insta::assert_snapshot!(load(&old_component(), CONTRACTS).err().expect("unknown"), @r"
    policy `p.wasm` does not fit the host
      it was built for jp:plugin 0.0.1; this host has 0.1.0
      it does not export what the host needs:
        jp:plugin/plugin@0.1.0
        jp:plugin/release-policy@0.1.0

    hint: if you use this policy, get one that was built for this host, or update the host; if you wrote it, build it against this host's SDK
    ");
}
