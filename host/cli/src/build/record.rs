//! What a component was built with, kept beside it, and whether a component that is there comes from its source.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jp_policy_wasm::digest;
use serde::Deserialize;

use super::{BuildError, project::Built};

/// What a component was built with: kept beside it as `NAME.built.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BuildRecord {
    /// The compiler.
    pub compiler: String,
    /// What made the module a component.
    pub encoder: String,
    /// `sha256:...` of the component.
    pub digest: String,
}

/// What a component that is there is to the one that its source makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// Byte for byte the same.
    Same,
    /// Built with other tools, so the bytes say nothing.
    OtherTools(BuildRecord),
    /// The language's tools make other bytes each time, so there is nothing to compare.
    NeverTheSame,
    /// Not the same.
    Different(String),
}

impl Built {
    /// Writes the component and its record.
    pub fn write(&self) -> Result<(), BuildError> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| BuildError::file(folder, error))?;
        }
        fs::write(&self.path, &self.bytes).map_err(|error| BuildError::file(&self.path, error))?;
        let record = self.record_path();
        fs::write(&record, self.record.to_toml()).map_err(|error| BuildError::file(&record, error))
    }

    /// Holds the component that is there against this one.
    pub fn compare(&self) -> Result<Comparison, BuildError> {
        if !self.language.is_reproducible() {
            return Ok(Comparison::NeverTheSame);
        }
        let record = self.record_path();
        let text = fs::read_to_string(&record).map_err(|error| BuildError::file(&record, error))?;
        let record: BuildRecord = toml::from_str(&text).map_err(|error| {
            BuildError::file(&record, io::Error::new(io::ErrorKind::InvalidData, error))
        })?;
        let found = fs::read(&self.path).map_err(|error| BuildError::file(&self.path, error))?;
        Ok(if digest(&found) != record.digest {
            Comparison::Different(format!(
                "it has {}, and its record says {}",
                digest(&found),
                record.digest
            ))
        } else if (&record.compiler, &record.encoder)
            != (&self.record.compiler, &self.record.encoder)
        {
            Comparison::OtherTools(record)
        } else if found == self.bytes {
            Comparison::Same
        } else {
            Comparison::Different(format!(
                "it has {}, and its source makes {}",
                record.digest, self.record.digest
            ))
        })
    }

    /// Where the record is.
    pub fn record_path(&self) -> PathBuf {
        record_path(&self.path)
    }
}

impl BuildRecord {
    pub(super) fn new(compiler: &str, encoder: &str, bytes: &[u8]) -> Self {
        Self { compiler: compiler.to_owned(), encoder: encoder.to_owned(), digest: digest(bytes) }
    }

    fn to_toml(&self) -> String {
        format!(
            "# What the component beside this was built with. Written by `jp-policy build`.\n\
             compiler = {:?}\nencoder = {:?}\ndigest = {:?}\n",
            self.compiler, self.encoder, self.digest
        )
    }
}

fn record_path(component: &Path) -> PathBuf {
    component.with_extension("built.toml")
}
