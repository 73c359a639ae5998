//! `jp:plugin@0.1.0`: the edge between this version of the contract and the host's own types.

use jp_policy_guest as own;
use wasmtime::{
    Engine, Store,
    component::{Component, HasSelf, Instance, InstancePre, Linker, TypedFunc},
};

use super::{
    compat::{Function, Incompatibility, Interface, link},
    contract::{Contract, Exports},
    state::{HostState, Level},
};

mod generated {
    #![allow(
        clippy::all,
        clippy::pedantic,
        missing_docs,
        unreachable_pub,
        reason = "generated code"
    )]
    wasmtime::component::bindgen!({
        path: "wit/jp-plugin-0.1.0",
        world: "release-policy-plugin",
    });
}

use generated::exports::jp::plugin::release_policy as wit;
use generated::{ReleasePolicyPlugin, jp::host::log};

const PLUGIN: &str = "jp:plugin/plugin@0.1.0";
const RELEASE_POLICY: &str = "jp:plugin/release-policy@0.1.0";

/// Optional, so it is looked up by name.
const REASONS: &str = "jp:plugin/release-reasons@0.1.0";

/// What a component of this version has to export.
const EXPORTS: &[Interface] = &[
    Interface {
        name: PLUGIN,
        functions: &[Function {
            name: "name",
            has_signature: |component, function| {
                function.typecheck::<(), (String,)>(&component.instance_type()).is_ok()
            },
        }],
    },
    Interface {
        name: RELEASE_POLICY,
        functions: &[
            Function {
                name: "configure",
                has_signature: |component, function| {
                    let cx = component.instance_type();
                    function
                        .typecheck::<(wit::Settings,), (Result<wit::View, Vec<wit::Problem>>,)>(&cx)
                        .is_ok()
                },
            },
            Function {
                name: "release",
                has_signature: |component, function| {
                    let cx = component.instance_type();
                    function
                        .typecheck::<(wit::Batch,), (Result<wit::Decision, String>,)>(&cx)
                        .is_ok()
                },
            },
        ],
    },
];

/// What it may import.
const IMPORTS: &[&str] = &["jp:host/calls@0.1.0", "jp:host/log@0.1.0"];

/// `jp:plugin@0.1.0`.
pub(super) struct V0_1;

impl Contract for V0_1 {
    fn version(&self) -> &'static str {
        "0.1.0"
    }

    fn imports(&self) -> &'static [&'static str] {
        IMPORTS
    }

    fn link(
        &self,
        engine: &Engine,
        component: &Component,
    ) -> Result<InstancePre<HostState>, Box<Incompatibility>> {
        let mut linker = Linker::new(engine);
        let offered = ReleasePolicyPlugin::add_to_linker::<HostState, HasSelf<HostState>>(
            &mut linker,
            |state| state,
        );
        link(
            engine,
            component,
            IMPORTS,
            EXPORTS,
            offered.and_then(|()| linker.instantiate_pre(component)),
        )
    }

    fn bind(
        &self,
        store: &mut Store<HostState>,
        instance: Instance,
    ) -> wasmtime::Result<Box<dyn Exports>> {
        let functions = ReleasePolicyPlugin::new(&mut *store, &instance)?;
        let interface = instance.get_export_index(&mut *store, None, REASONS);
        let explain =
            interface.and_then(|it| instance.get_export_index(&mut *store, Some(&it), "explain"));
        // A function of another shape is as good as none: reasons are for people's sake only.
        let explain = explain.and_then(|it| instance.get_typed_func(&mut *store, it).ok());
        Ok(Box::new(ReleasePolicy { functions, explain }))
    }
}

/// The functions of an instance.
struct ReleasePolicy {
    functions: ReleasePolicyPlugin,
    explain: Option<TypedFunc<(wit::Batch, u32), (String,)>>,
}

impl Exports for ReleasePolicy {
    fn name(&self, store: &mut Store<HostState>) -> wasmtime::Result<String> {
        self.functions.jp_plugin_plugin().call_name(store)
    }

    fn configure(
        &self,
        store: &mut Store<HostState>,
        own: &own::Settings,
    ) -> wasmtime::Result<Result<own::View, Vec<own::Problem>>> {
        let answer =
            self.functions.jp_plugin_release_policy().call_configure(store, &settings(own))?;
        Ok(answer.map(view).map_err(|problems| problems.into_iter().map(problem).collect()))
    }

    fn release(
        &self,
        store: &mut Store<HostState>,
        own: &own::Batch,
    ) -> wasmtime::Result<Result<own::Decision, String>> {
        let answer = self.functions.jp_plugin_release_policy().call_release(store, &batch(own))?;
        Ok(answer.map(decision))
    }

    fn explains(&self) -> bool {
        self.explain.is_some()
    }

    fn explain(
        &self,
        store: &mut Store<HostState>,
        own: &own::Batch,
        call: u32,
    ) -> wasmtime::Result<String> {
        match &self.explain {
            Some(explain) => Ok(explain.call(store, (batch(own), call))?.0),
            None => Ok(String::new()),
        }
    }
}

impl generated::jp::host::calls::Host for HostState {
    fn arguments(&mut self, call: u32) -> Option<String> {
        HostState::arguments(self, call)
    }
}

impl log::Host for HostState {
    fn write(&mut self, level: log::Level, message: String) {
        let level = match level {
            log::Level::Debug => Level::Debug,
            log::Level::Info => Level::Info,
            log::Level::Warn => Level::Warn,
            log::Level::Error => Level::Error,
            log::Level::Panic => Level::Panic,
        };
        self.log(level, &message);
    }
}

fn settings(settings: &own::Settings) -> wit::Settings {
    wit::Settings {
        tools: settings
            .tools
            .iter()
            .map(|tool| wit::Tool { name: tool.name.clone(), key: tool.key })
            .collect(),
        keys: settings
            .keys
            .iter()
            .map(|key| wit::Key {
                name: key.name.clone(),
                limit: key.limit,
                fields: fields(&key.fields),
            })
            .collect(),
        options: fields(&settings.options),
    }
}

fn fields(fields: &[own::Field]) -> Vec<wit::Field> {
    let value = |value: &own::Value| match value {
        own::Value::Flag(value) => wit::Value::Flag(*value),
        own::Value::Integer(value) => wit::Value::Integer(*value),
        own::Value::Number(value) => wit::Value::Number(*value),
        own::Value::Text(text) => wit::Value::Text(text.clone()),
        own::Value::Json(text) => wit::Value::Json(text.clone()),
    };
    fields
        .iter()
        .map(|field| wit::Field { name: field.name.clone(), value: value(&field.value) })
        .collect()
}

fn batch(batch: &own::Batch) -> wit::Batch {
    let state = |state| match state {
        own::State::Pending => wit::State::Pending,
        own::State::Parked => wit::State::Parked,
        own::State::Running => wit::State::Running,
    };
    wit::Batch {
        now: batch.now,
        running: batch.running,
        keys: batch
            .keys
            .iter()
            .map(|usage| wit::Usage {
                key: usage.key,
                running: usage.running,
                waiting: usage.waiting,
                ended: usage.ended,
                failed: usage.failed,
                last_release: usage.last_release,
                last_end: usage.last_end,
            })
            .collect(),
        calls: batch
            .calls
            .iter()
            .map(|call| wit::Call {
                id: call.id,
                parent: call.parent,
                tool: call.tool,
                key: call.key,
                state: state(call.state),
                since: call.since,
            })
            .collect(),
    }
}

fn view(view: wit::View) -> own::View {
    match view {
        wit::View::Front => own::View::Front,
        wit::View::Full => own::View::Full,
    }
}

fn decision(decision: wit::Decision) -> own::Decision {
    own::Decision { release: decision.release, wake_at: decision.wake_at }
}

fn problem(problem: wit::Problem) -> own::Problem {
    own::Problem { key: problem.key, field: problem.field, message: problem.message }
}
