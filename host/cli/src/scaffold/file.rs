//! One file of a project.

use std::path::PathBuf;

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path from the project's folder.
    pub path: PathBuf,
    /// What is in it.
    pub contents: Vec<u8>,
}

impl File {
    pub(super) fn new(path: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), contents: contents.into() }
    }

    /// The file with another text, if it has one.
    pub(super) fn map_text(mut self, change: impl FnOnce(&str) -> String) -> Self {
        if let Ok(text) = std::str::from_utf8(&self.contents) {
            self.contents = change(text).into_bytes();
        }
        self
    }
}
