//! Where a component is made of source that an interpreter runs: the contract goes in, the component comes out.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::{BuildError, contract};

/// A folder that is gone with it.
pub(super) struct Scratch(TempDir);

impl Scratch {
    /// With the contract in it.
    pub(super) fn new() -> Result<Self, BuildError> {
        let folder =
            tempfile::tempdir().map_err(|error| BuildError::file(Path::new("."), error))?;
        let scratch = Self(folder);
        let wit = scratch.wit();
        contract::write(&wit).map_err(|error| BuildError::file(&wit, error))?;
        Ok(scratch)
    }

    /// The folder of the contract.
    pub(super) fn wit(&self) -> PathBuf {
        self.0.path().join("wit")
    }

    /// A folder for a copy of the source, which is not there yet.
    pub(super) fn sources(&self) -> PathBuf {
        self.0.path().join("sources")
    }

    /// The file that a tool is to write.
    pub(super) fn component(&self) -> PathBuf {
        self.0.path().join("component.wasm")
    }

    /// What it has written.
    pub(super) fn read_component(&self) -> Result<Vec<u8>, BuildError> {
        let path = self.component();
        fs::read(&path).map_err(|error| BuildError::file(&path, error))
    }
}
