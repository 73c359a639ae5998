//! A component that was built: how it is written, and whether a component that was built earlier comes from the same source.

use std::{
    fs,
    io::{Error, ErrorKind},
    path::{Path, PathBuf},
};

use jp_policy_wasm::digest;

use super::{
    BuildError, BuildRecord, Language,
    io::{read, read_text},
};

/// A component that was built.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The component's bytes.
    pub bytes: Vec<u8>,
    /// The file that it is written to.
    pub path: PathBuf,
    /// What it was built with.
    pub record: BuildRecord,
    /// What its source is written in.
    pub language: Language,
    /// The folders that its source is in.
    pub sources: Vec<PathBuf>,
}

/// How the component at an artifact's path compares with the artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// Byte for byte the same.
    Same,
    /// It was built with other tools, so its bytes tell nothing. Carries its record.
    OtherTools(BuildRecord),
    /// The language's tools make other bytes in each build, so there is nothing to compare.
    NotReproducible,
    /// Not the same. Carries the reason.
    Different(String),
}

impl Artifact {
    /// The name of the component's file.
    pub fn file_name(&self) -> &Path {
        Path::new(self.path.file_name().unwrap_or_default())
    }

    /// Writes the component and its record.
    pub fn write(&self) -> Result<(), BuildError> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| BuildError::file(folder, error))?;
        }
        fs::write(&self.path, &self.bytes).map_err(|error| BuildError::file(&self.path, error))?;
        let record = self.record_path();
        fs::write(&record, self.record.to_toml()).map_err(|error| BuildError::file(&record, error))
    }

    /// Compares the component at [`path`](Self::path) with this one.
    pub fn compare(&self) -> Result<Comparison, BuildError> {
        if !self.language.is_reproducible() {
            return Ok(Comparison::NotReproducible);
        }
        let record_path = self.record_path();
        let record: BuildRecord = toml::from_str(&read_text(&record_path)?).map_err(|error| {
            BuildError::file(&record_path, Error::new(ErrorKind::InvalidData, error))
        })?;
        let found = read(&self.path)?;
        let found_digest = digest(&found);
        Ok(if found_digest != record.digest {
            Comparison::Different(format!(
                "it has {found_digest}, and its record says {}",
                record.digest
            ))
        } else if !record.has_tools_of(&self.record) {
            Comparison::OtherTools(record)
        } else if found == self.bytes {
            Comparison::Same
        } else {
            Comparison::Different(format!(
                "it has {found_digest}, and its source makes {}",
                self.record.digest
            ))
        })
    }

    /// The file of the record.
    pub fn record_path(&self) -> PathBuf {
        self.path.with_extension("built.toml")
    }
}
