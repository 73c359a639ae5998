//! `jp:plugin@0.1.0`: the edge between this version of the contract and the host's own types.

use jp_policy_guest as own;
use wasmtime::component::HasSelf;

use super::state::State;

mod generated {
    #![allow(
        clippy::all,
        clippy::pedantic,
        missing_docs,
        unreachable_pub,
        reason = "generated code"
    )]
    wasmtime::component::bindgen!({
        path: "../wit/jp-plugin-0.1.0",
        world: "release-policy-plugin",
    });
}

use generated::exports::jp::plugin::release_policy as wit;
pub(super) use generated::{
    ReleasePolicyPlugin as World, ReleasePolicyPluginPre as WorldPre, jp::host::log,
};

/// The optional interface, looked up by name.
pub(super) const REASONS: &str = "jp:plugin/release-reasons@0.1.0";

pub(super) type Question = wit::Batch;

impl generated::jp::host::calls::Host for State {
    fn arguments(&mut self, call: u32) -> Option<String> {
        State::arguments(self, call)
    }
}

impl log::Host for State {
    fn write(&mut self, level: log::Level, message: String) {
        self.log(level, &message);
    }
}

/// Offers a policy what it may import, and nothing else.
pub(super) fn link(linker: &mut wasmtime::component::Linker<State>) -> wasmtime::Result<()> {
    generated::ReleasePolicyPlugin::add_to_linker::<_, HasSelf<_>>(linker, |state| state)
}

pub(super) fn settings(settings: &own::Settings) -> wit::Settings {
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

pub(super) fn batch(batch: &own::Batch) -> Question {
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

pub(super) fn view(view: wit::View) -> own::View {
    match view {
        wit::View::Front => own::View::Front,
        wit::View::Full => own::View::Full,
    }
}

pub(super) fn decision(decision: wit::Decision) -> own::Decision {
    own::Decision { release: decision.release, wake_at: decision.wake_at }
}

pub(super) fn problem(problem: wit::Problem) -> own::Problem {
    own::Problem { key: problem.key, field: problem.field, message: problem.message }
}
