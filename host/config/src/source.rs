//! The text of a configuration file, and places in it.

use std::{
    fmt,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use jp_policy_core::text::clean_path;

/// A configuration file and its text.
#[derive(Debug, Clone)]
pub struct Source(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    text: String,
    /// Where lines begin, once somebody has asked for one.
    lines: OnceLock<Vec<usize>>,
}

impl Source {
    /// A source that was read from, or is to be shown as, `path`; its extension says which format the text has.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        Self(Arc::new(Inner { path, text, lines: OnceLock::new() }))
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The folder that paths in the text are relative to.
    pub fn folder(&self) -> &Path {
        match self.path().parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether both come from the same reading: two readings of one file are two sources.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Where the lines of the text begin, in bytes.
    pub fn lines(&self) -> &[usize] {
        self.0.lines.get_or_init(|| {
            let breaks = self.text().match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(breaks).collect()
        })
    }
}

/// A place in a source: what a message points at.
#[derive(Debug, Clone)]
pub struct Place {
    /// The file.
    pub source: Source,
    /// Bytes of its text.
    pub span: Range<usize>,
}

impl Place {
    /// Line and column, both from 1; the column counts characters.
    pub fn line_column(&self) -> (usize, usize) {
        let text = self.source.text();
        let start = text.floor_char_boundary(self.span.start);
        let lines = self.source.lines();
        let line = lines.partition_point(|first| *first <= start);
        let first = lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line, text[first..start].chars().count() + 1)
    }
}

/// `path:line:column`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}", clean_path(self.source.path()))
    }
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub place: Place,
}

impl<T> Located<T> {
    /// Another value at the same place.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Located<U> {
        Located { value: f(self.value), place: self.place }
    }
}
