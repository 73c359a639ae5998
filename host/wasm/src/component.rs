//! A compiled policy.

use std::{fmt::Write as _, fs, path::Path, sync::Arc};

use jp_policy_core::{
    policy::{Arguments, FaultKind, Identity, Policy, PolicyFactory, Refusal},
    text::clean_to,
};
use jp_policy_guest::Settings;
use sha2::{Digest, Sha256};
use wasmtime::component::InstancePre;

use super::{
    Budget, Engine,
    contract::{CONTRACTS, Contract},
    fit::Misfit,
    instance::{Configured, Instance, NAME},
    state::State,
    weigh::too_heavy,
};

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
    /// The file is too large.
    #[error(
        "policy `{path}` has {length} bytes, over its budget of {budget}: `limits.file` of the plugin says how many it may have"
    )]
    TooLarge {
        /// The file.
        path: String,
        /// What it has.
        length: u64,
        /// What it may have.
        budget: u64,
    },
    /// Compiling it would take minutes.
    #[error(
        "policy `{path}` has a function that would take minutes to compile: {weight} as the product of its blocks and locals"
    )]
    TooHeavy {
        /// The file.
        path: String,
        /// Blocks times locals.
        weight: u64,
    },
    /// It does not compile.
    #[error("policy `{path}` can't be compiled: {error:#}")]
    Compile {
        /// The file.
        path: String,
        /// Why.
        error: wasmtime::Error,
    },
    /// It does not fit the contract.
    #[error("policy `{path}` does not fit the host{misfit}")]
    Unfit {
        /// The file.
        path: String,
        /// All that keeps it from fitting.
        misfit: Box<Misfit>,
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

/// A compiled policy. Cheap to clone; the clones share all of it.
#[derive(Clone)]
pub struct Component(Arc<Loaded>);

pub(super) struct Loaded {
    pub(super) engine: Engine,
    pub(super) contract: &'static dyn Contract,
    pub(super) linked: InstancePre<State>,
    pub(super) identity: Identity,
    pub(super) budget: Budget,
}

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
        Self::from_bytes(engine, "(embedded default)", super::DEFAULT, Budget::default())
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

    /// The first of these contracts that fits; if none does, what keeps the component from the one it comes nearest.
    pub(super) fn with_contracts(
        engine: &Engine,
        path: String,
        bytes: &[u8],
        budget: Budget,
        contracts: &[&'static dyn Contract],
    ) -> Result<Self, LoadError> {
        let component = compile(engine, &path, bytes)?;
        Self::fitted(engine, path, bytes, &component, budget, contracts)
    }

    /// The same for one that is compiled.
    pub(super) fn fitted(
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
        let mut nearest: Option<Box<Misfit>> = None;
        for &contract in contracts {
            match contract.fit(engine.inner(), component) {
                Ok(linked) => {
                    let identity = Identity { name: String::new(), digest: Some(digest(bytes)) };
                    let loaded =
                        Loaded { engine: engine.clone(), contract, linked, identity, budget };
                    return Self::named(loaded, &path);
                }
                Err(misfit) => {
                    let fewest =
                        nearest.as_ref().map_or(usize::MAX, |misfit| misfit.missing_exports.len());
                    if misfit.missing_exports.len() < fewest {
                        nearest = Some(misfit);
                    }
                }
            }
        }
        let known: Vec<&str> = contracts.iter().map(|contract| contract.version()).collect();
        let misfit = Box::new(nearest.unwrap_or_default().with_hints(bytes, &known));
        Err(LoadError::Unfit { path, misfit })
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
        Ok(Box::new(Configured::new(self.0.clone(), settings, arguments)?))
    }
}

/// Reads a file that may be a policy.
pub(super) fn read(path: &Path, budget: Budget) -> Result<Vec<u8>, LoadError> {
    let shown = path.display().to_string();
    let read_error = |error| LoadError::Read { path: shown.clone(), error };
    let length = fs::metadata(path).map_err(read_error)?.len();
    if path.is_dir() {
        return Err(LoadError::NotAComponent { path: shown, found: "a folder" });
    }
    // Reading a FIFO or a device would wait or never end.
    if !path.is_file() {
        return Err(LoadError::NotAComponent { path: shown, found: "not a regular file" });
    }
    if length > budget.file {
        return Err(LoadError::TooLarge { path: shown, length, budget: budget.file });
    }
    fs::read(path).map_err(read_error)
}

/// Compiles what may be a component.
pub(super) fn compile(
    engine: &Engine,
    path: &str,
    bytes: &[u8],
) -> Result<wasmtime::component::Component, LoadError> {
    let path = path.to_owned();
    if let Some(found) = what_else(bytes) {
        return Err(LoadError::NotAComponent { path, found });
    }
    if let Some(weight) = too_heavy(bytes) {
        return Err(LoadError::TooHeavy { path, weight });
    }
    wasmtime::component::Component::new(engine.inner(), bytes)
        .map_err(|error| LoadError::Compile { path, error })
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
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold("sha256:".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
