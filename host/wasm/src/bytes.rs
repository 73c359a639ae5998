//! The bytes of a component: read from a file, checked, compiled.

use std::{fmt::Write as _, fs, path::Path};

use sha2::{Digest as _, Sha256};

use super::{budget::Budget, compile_cost, engine::Engine, load_error::LoadError};

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
    if let Some(found) = other_format(bytes) {
        return Err(LoadError::NotAComponent { path, found });
    }
    if let Some(cost) = compile_cost::excessive(bytes) {
        return Err(LoadError::CompileCost { path, cost });
    }
    wasmtime::component::Component::new(engine.inner(), bytes)
        .map_err(|error| LoadError::Compile { path, error })
}

/// The format of a file that is no component; none if it may be one.
fn other_format(bytes: &[u8]) -> Option<&'static str> {
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
