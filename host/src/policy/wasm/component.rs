//! A compiled policy and its instances.

use std::{fmt::Write as _, fs, path::Path};

use jp_policy_guest::{Batch, CallId, Decision, Problem, Settings, View};
use sha2::{Digest, Sha256};
use wasmtime::{
    Store, Trap,
    component::{Linker, TypedFunc},
};

use super::{Budget, Engine, budget::Exceeded, state::State, v0_1};
use crate::{
    policy::{Arguments, Blueprint, FaultKind, Identity, Policy, Refusal},
    text::clean_to,
};

/// Characters of a plugin's name.
const NAME: usize = 64;

/// Characters of a message of a plugin.
const MESSAGE: usize = 1000;

/// The largest component that is read: Python guests have 18 MB.
const FILE: u64 = 128 << 20;

/// Why a component can't be a policy.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file can't be read.
    #[error("failed to read policy `{path}`: {error}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The file is something else.
    #[error("`{path}` is no policy: it is {found}, expected a WebAssembly component")]
    NotAComponent {
        /// The file.
        path: String,
        /// What it is.
        found: &'static str,
    },
    /// It does not compile.
    #[error("policy `{path}` can't be compiled: {error}")]
    Compile {
        /// The file.
        path: String,
        /// Why.
        error: wasmtime::Error,
    },
    /// It does not fit the world of a release policy.
    #[error("policy `{path}` does not fit the host's contract, jp:plugin@0.1.0: {error:#}")]
    Unfit {
        /// The file.
        path: String,
        /// Why.
        error: wasmtime::Error,
    },
    /// Its digest is not the one that was pinned.
    #[error("policy `{path}` is not the one that was pinned: it has {found}, expected {expected}")]
    Checksum {
        /// The file.
        path: String,
        /// What the file has.
        found: String,
        /// What the configuration says.
        expected: String,
    },
    /// It can't say its name.
    #[error("policy `{path}` can't be used: it {fault}")]
    Name {
        /// The file.
        path: String,
        /// What it did instead.
        fault: FaultKind,
    },
}

/// A compiled policy.
pub struct Component {
    engine: Engine,
    world: v0_1::WorldPre<State>,
    identity: Identity,
    budget: Budget,
}

impl Component {
    /// Reads and compiles a policy. `checksum` is what the file must have: `sha256:...`.
    pub fn load(
        engine: &Engine,
        path: &Path,
        checksum: Option<&str>,
        budget: Budget,
    ) -> Result<Self, LoadError> {
        let shown = path.display().to_string();
        let read_error = |error| LoadError::Read { path: shown.clone(), error };
        let length = fs::metadata(path).map_err(read_error)?.len();
        if path.is_dir() {
            return Err(LoadError::NotAComponent { path: shown, found: "a folder" });
        }
        if length > FILE {
            return Err(LoadError::NotAComponent { path: shown, found: "larger than 128 MiB" });
        }
        let bytes = fs::read(path).map_err(read_error)?;
        if let Some(expected) = checksum {
            let found = digest(&bytes);
            if !found.eq_ignore_ascii_case(expected) {
                return Err(LoadError::Checksum {
                    path: shown,
                    found,
                    expected: expected.to_owned(),
                });
            }
        }
        Self::from_bytes(engine, &shown, &bytes, budget)
    }

    /// The default policy, embedded in the host.
    pub fn embedded(engine: &Engine) -> Result<Self, LoadError> {
        Self::from_bytes(engine, "(embedded default)", super::DEFAULT, Budget::default())
    }

    /// Compiles a policy; `path` is what messages call it.
    pub fn from_bytes(
        engine: &Engine,
        path: &str,
        bytes: &[u8],
        budget: Budget,
    ) -> Result<Self, LoadError> {
        let path = path.to_owned();
        if let Some(found) = what_else(bytes) {
            return Err(LoadError::NotAComponent { path, found });
        }
        let component = wasmtime::component::Component::new(engine.inner(), bytes)
            .map_err(|error| LoadError::Compile { path: path.clone(), error })?;
        let unfit = |error| LoadError::Unfit { path: path.clone(), error };
        let mut linker = Linker::new(engine.inner());
        v0_1::link(&mut linker).map_err(unfit)?;
        let world = v0_1::WorldPre::new(linker.instantiate_pre(&component).map_err(unfit)?)
            .map_err(unfit)?;
        let mut loaded = Self {
            engine: engine.clone(),
            world,
            identity: Identity { name: String::new(), digest: Some(digest(bytes)) },
            budget,
        };
        loaded.identity.name = loaded
            .start(Arguments::default())
            .and_then(|mut instance| {
                instance.call(|store, world| world.jp_plugin_plugin().call_name(store))
            })
            .map(|name| clean_to(&name, NAME))
            .map_err(|fault| LoadError::Name { path, fault })?;
        Ok(loaded)
    }

    fn start(&self, arguments: Arguments) -> Result<Instance, FaultKind> {
        let mut store = Store::new(self.engine.inner(), State::new(self.budget, arguments));
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(self.budget.answer);
        arm(&mut store, self.budget).map_err(|error| fault(&mut store, self.budget, &error))?;
        let made = {
            let _watch = self.engine.watch();
            let raw = self.world.instance_pre().instantiate(&mut store);
            raw.and_then(|raw| Ok((v0_1::World::new(&mut store, &raw)?, raw)))
        };
        let (world, raw) = made.map_err(|error| fault(&mut store, self.budget, &error))?;
        let interface = raw.get_export_index(&mut store, None, v0_1::REASONS);
        let function =
            interface.and_then(|it| raw.get_export_index(&mut store, Some(&it), "explain"));
        // A function of another shape is as good as none: reasons are for people's sake only.
        let explain = function.and_then(|function| raw.get_typed_func(&mut store, function).ok());
        Ok(Instance {
            engine: self.engine.clone(),
            store,
            world,
            budget: self.budget,
            view: View::Front,
            explain,
        })
    }
}

impl Blueprint for Component {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn instantiate(
        &self,
        settings: &Settings,
        arguments: Arguments,
    ) -> Result<Box<dyn Policy>, Refusal> {
        let mut instance = self.start(arguments).map_err(Refusal::Fault)?;
        let settings = v0_1::settings(settings);
        let configured = instance
            .call(|store, world| world.jp_plugin_release_policy().call_configure(store, &settings))
            .map_err(Refusal::Fault)?;
        match configured {
            Ok(view) => instance.view = v0_1::view(view),
            Err(problems) => {
                let cleaned = |problem| {
                    let Problem { key, field, message } = v0_1::problem(problem);
                    Problem { key, field, message: clean_to(&message, MESSAGE) }
                };
                return Err(Refusal::Settings(problems.into_iter().map(cleaned).collect()));
            }
        }
        Ok(Box::new(instance))
    }
}

/// The policy of one batch. After a fault it is never entered again: the scheduler drops it.
struct Instance {
    engine: Engine,
    store: Store<State>,
    world: v0_1::World,
    budget: Budget,
    view: View,
    explain: Option<TypedFunc<(v0_1::Question, u32), (String,)>>,
}

impl Instance {
    /// Calls into the guest under the budget of one question.
    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut Store<State>, &v0_1::World) -> wasmtime::Result<T>,
    ) -> Result<T, FaultKind> {
        self.store.data_mut().refill();
        let result = arm(&mut self.store, self.budget).and_then(|()| {
            let _watch = self.engine.watch();
            call(&mut self.store, &self.world)
        });
        result.map_err(|error| fault(&mut self.store, self.budget, &error))
    }
}

impl Policy for Instance {
    fn view(&self) -> View {
        self.view
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        let question = v0_1::batch(batch);
        let answer = self
            .call(|store, world| world.jp_plugin_release_policy().call_release(store, &question))?;
        match answer {
            Ok(decision) => Ok(v0_1::decision(decision)),
            Err(message) => Err(FaultKind::Error { message: clean_to(&message, MESSAGE) }),
        }
    }

    fn explain(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        // A trap would cost the policy its instance, so the function goes with it: it is asked once more at most.
        let explain = self.explain.take()?;
        let question = v0_1::batch(batch);
        let (reason,) = self.call(|store, _| explain.call(store, (question, call))).ok()?;
        self.explain = Some(explain);
        Some(clean_to(&reason, MESSAGE)).filter(|reason| !reason.is_empty())
    }
}

fn arm(store: &mut Store<State>, budget: Budget) -> wasmtime::Result<()> {
    store.set_epoch_deadline(Engine::ticks(budget.time));
    store.set_fuel(budget.fuel)
}

/// What an error of the engine says about the policy, by its type.
fn fault(store: &mut Store<State>, budget: Budget, error: &wasmtime::Error) -> FaultKind {
    let panic = store.data_mut().take_panic();
    if let Some(exceeded) = error.downcast_ref::<Exceeded>() {
        return match *exceeded {
            Exceeded::Memory(budget) => FaultKind::OutOfMemory { budget: budget as u64 },
            Exceeded::Table(_) => FaultKind::Trap { message: exceeded.to_string() },
        };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => FaultKind::OutOfFuel { budget: budget.fuel },
        Some(Trap::Interrupt) => FaultKind::OutOfTime {
            budget_ms: u64::try_from(budget.time.as_millis()).unwrap_or(u64::MAX),
        },
        Some(trap) => FaultKind::Trap { message: panic.unwrap_or_else(|| trap.to_string()) },
        None => {
            FaultKind::Unreadable { message: clean_to(&error.root_cause().to_string(), MESSAGE) }
        }
    }
}

/// What a file is that is no component; none if it may be one.
fn what_else(bytes: &[u8]) -> Option<&'static str> {
    // The magic number, then version and layer: 1 and 0 for a core module, 13 and 1 for a component.
    match bytes {
        [] => Some("an empty file"),
        [b'\0', b'a', b's', b'm', 1, 0, 0, 0, ..] => {
            Some("a core WebAssembly module (make it a component: `wasm-tools component new`)")
        }
        [b'\0', b'a', b's', b'm', ..] => None,
        _ if std::str::from_utf8(bytes).is_ok() => Some("a text file"),
        _ => Some("not WebAssembly"),
    }
}

/// `sha256:...` of a component.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold("sha256:".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
