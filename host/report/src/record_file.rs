//! Records as files: read from one, and begun with the header that a configuration makes.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use jp_policy_config::Config;
use jp_policy_core::{
    policy::Identity,
    record::{Header, ReadError, RecordFile},
    scheduler::Options,
};

/// Why a record file can't be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It can't be read at all.
    #[error("failed to read record `{}`", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is in it can't be read as a record.
    #[error(transparent)]
    Content(#[from] ReadError),
}

/// Reads a record file.
pub fn read_record(path: &Path) -> Result<RecordFile, FileError> {
    let text = fs::read(path).map_err(|source| FileError::Io { path: path.to_owned(), source })?;
    Ok(RecordFile::parse(path, &text)?)
}

/// The header of a batch that is handed over at this time, under this configuration and policy. `arguments` says whether the
/// calls' arguments and responses go into the record.
pub fn header(config: &Config, policy: &Identity, time: SystemTime, arguments: bool) -> Header {
    let options = Options { guard: config.release.guard, on_fault: config.release.on_fault };
    let fan_out = |tool: &str| {
        let fan_out = config.tools.get(tool)?.fan_out.as_ref()?;
        fan_out.enabled.then_some(fan_out.on_error)
    };
    Header::new(config.settings(), options, fan_out, policy, time, arguments)
}
