//! A compiled policy.

use std::{path::Path, sync::Arc};

use jp_policy_core::{
    policy::{Arguments, FaultKind, Identity, Policy, PolicyFactory, Refusal},
    text::clean_to,
};
use jp_policy_guest::Settings;

use super::{
    budget::Budget,
    bytes::{compile, digest, read},
    compat::Incompatibility,
    contract::Contract,
    embedded::DEFAULT,
    engine::Engine,
    instance::{Instance, NAME},
    load_error::LoadError,
    loaded::Loaded,
    policy::ComponentPolicy,
    versions::CONTRACTS,
};

/// A compiled policy. Cheap to clone; the clones share all of it.
#[derive(Clone)]
pub struct Component(Arc<Loaded>);

impl Component {
    /// Reads and compiles a policy. `checksum` is what the file must have: `sha256:...`.
    pub fn load(
        engine: &Engine,
        path: &Path,
        checksum: Option<&str>,
        budget: Budget,
    ) -> Result<Self, LoadError> {
        let bytes = read(path, budget)?;
        let shown = path.display().to_string();
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

    /// Reads a file that may be a policy, if it is a file of a size that the budget has.
    pub fn read(path: &Path, budget: Budget) -> Result<Vec<u8>, LoadError> {
        read(path, budget)
    }

    /// The default policy, embedded in the host.
    pub fn embedded(engine: &Engine) -> Result<Self, LoadError> {
        Self::from_bytes(engine, "(embedded default)", DEFAULT, Budget::default())
    }

    /// Compiles a policy; `path` is what messages call it.
    pub fn from_bytes(
        engine: &Engine,
        path: &str,
        bytes: &[u8],
        budget: Budget,
    ) -> Result<Self, LoadError> {
        Self::with_contracts(engine, path.to_owned(), bytes, budget, CONTRACTS)
    }

    /// Links against the first of these contracts that fits. If none does, the error is about the one with the fewest missing exports.
    pub(super) fn with_contracts(
        engine: &Engine,
        path: String,
        bytes: &[u8],
        budget: Budget,
        contracts: &[&'static dyn Contract],
    ) -> Result<Self, LoadError> {
        let component = compile(engine, &path, bytes)?;
        Self::from_compiled(engine, path, bytes, &component, budget, contracts)
    }

    /// Does the same for a component that is compiled.
    pub(super) fn from_compiled(
        engine: &Engine,
        path: String,
        bytes: &[u8],
        component: &wasmtime::component::Component,
        budget: Budget,
        contracts: &[&'static dyn Contract],
    ) -> Result<Self, LoadError> {
        if let Some(resources) = component.resources_required() {
            let counts = [("memories", resources.num_memories), ("tables", resources.num_tables)];
            if let Some((what, _)) =
                counts.into_iter().find(|(_, n)| *n as usize > budget.instances)
            {
                let fault = FaultKind::TooMany { what, budget: budget.instances };
                return Err(LoadError::Name { path, fault });
            }
        }
        let mut nearest: Option<Box<Incompatibility>> = None;
        for &contract in contracts {
            match contract.link(engine.inner(), component) {
                Ok(linked) => {
                    let identity = Identity { name: String::new(), digest: Some(digest(bytes)) };
                    let loaded =
                        Loaded { engine: engine.clone(), contract, linked, identity, budget };
                    return Self::named(loaded, &path);
                }
                Err(found) => {
                    let fewest = nearest
                        .as_ref()
                        .map_or(usize::MAX, |nearest| nearest.missing_exports.len());
                    if found.missing_exports.len() < fewest {
                        nearest = Some(found);
                    }
                }
            }
        }
        let known: Vec<&str> = contracts.iter().map(|contract| contract.version()).collect();
        let incompatibility = Box::new(nearest.unwrap_or_default().with_hints(bytes, &known));
        Err(LoadError::Incompatible { path, incompatibility })
    }

    fn named(mut loaded: Loaded, path: &str) -> Result<Self, LoadError> {
        let name =
            Instance::start(&loaded, Arguments::default()).and_then(|mut instance| instance.name());
        let name = name.map_err(|fault| LoadError::Name { path: path.to_owned(), fault })?;
        let file =
            || Path::new(path).file_name().map(|name| clean_to(&name.to_string_lossy(), NAME));
        // A policy that does not say its name is called by its file.
        loaded.identity.name = if name.is_empty() { file().unwrap_or_default() } else { name };
        Ok(Self(Arc::new(loaded)))
    }

    pub(super) fn loaded(&self) -> &Loaded {
        &self.0
    }

    /// The version of the contract that it was built for.
    pub fn version(&self) -> &'static str {
        self.0.contract.version()
    }
}

impl PolicyFactory for Component {
    fn identity(&self) -> &Identity {
        &self.0.identity
    }

    fn instantiate(
        &self,
        settings: &Settings,
        arguments: Arguments,
    ) -> Result<Box<dyn Policy>, Refusal> {
        Ok(Box::new(ComponentPolicy::new(self.0.clone(), settings, arguments)?))
    }
}
