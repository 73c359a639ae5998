//! A file that is a record or a scenario.

use std::{fs, path::Path};

use jp_policy_config::ConfigError;
use jp_policy_core::record::{ReadError, RecordFile};

use super::scenario::Scenario;

/// What is in a file.
#[derive(Debug, Clone)]
pub enum Input {
    /// What really happened.
    Record(Box<RecordFile>),
    /// What could happen.
    Scenario(Box<Scenario>),
}

/// Why a file can't be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It is a record, or should be.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// It is a scenario.
    #[error(transparent)]
    Scenario(#[from] ConfigError),
}

impl Input {
    /// Reads a file; a record is told from a scenario by its first character.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        // What is no plain file, or can't be read, is said by who reads scenarios.
        let plain = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        match plain.then(|| fs::read(path)) {
            // An empty file is what is left of a record that was cut off at once.
            Some(Ok(text)) if text.is_empty() || RecordFile::is_record(&text) => {
                Ok(Self::Record(Box::new(RecordFile::parse(path, &text)?)))
            }
            _ => Ok(Self::Scenario(Box::new(Scenario::read(path)?))),
        }
    }
}
