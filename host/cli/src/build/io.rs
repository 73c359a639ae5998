//! Files and programs, with errors that name them.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use jp_policy_core::text::clean_lines;
use tempfile::TempDir;

use super::BuildError;

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, BuildError> {
    fs::read(path).map_err(|error| BuildError::file(path, error))
}

/// Reads a text file.
pub(super) fn read_text(path: &Path) -> Result<String, BuildError> {
    fs::read_to_string(path).map_err(|error| BuildError::file(path, error))
}

/// A new temporary folder, removed when the value is dropped.
pub(super) fn temporary_folder() -> Result<TempDir, BuildError> {
    tempfile::tempdir().map_err(|error| BuildError::file(&std::env::temp_dir(), error))
}

/// Runs a program to its end and returns its standard output.
///
/// Its messages are captured, and are in the error if it fails: these tools print much when all is well.
pub(super) fn output(command: &mut Command) -> Result<Vec<u8>, BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ran = command.stdin(Stdio::null()).output();
    let Output { status, stdout, stderr } =
        ran.map_err(|error| BuildError::Run { program: program.clone(), error })?;
    if status.success() {
        return Ok(stdout);
    }
    let messages =
        String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    let lines: Vec<String> = clean_lines(messages.trim_end()).collect();
    let messages =
        if lines.is_empty() { String::new() } else { format!("\n  {}", lines.join("\n  ")) };
    Err(BuildError::Failed { program, status, messages })
}

/// What a program prints when it is run with `args`, without the white space around it; `None` if it can't be run or fails.
///
/// Its standard error is discarded.
pub(super) fn probe(program: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
