//! Where configuration text comes from: files, and folders of files.

use std::{
    fmt, fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::diagnostic::Diagnostic;

/// A configuration file and its text.
#[derive(Debug, Clone)]
pub struct Source(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    text: String,
}

impl Source {
    /// A source that was read from, or is to be shown as, `path`.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self(Arc::new(Inner { path: path.into(), text: text.into() }))
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

    /// Reads a file, or all `*.toml` files of a folder and the folders in it, sorted by path.
    ///
    /// What can't be read goes to `problems`, each with its path; the rest is returned.
    pub fn read(path: &Path, problems: &mut Vec<Diagnostic>) -> Vec<Self> {
        let mut files = Vec::new();
        if path.is_dir() {
            collect(path, &mut files, problems);
            if files.is_empty() && problems.is_empty() {
                problems.push(Diagnostic::error(format!(
                    "no configuration in folder `{}`: it has no `*.toml` file",
                    path.display()
                )));
            }
        } else {
            files.push(path.to_owned());
        }
        let mut sources = Vec::new();
        for file in files {
            match read_file(&file) {
                Ok(text) => sources.push(Self::new(file, text)),
                Err(error) => problems.push(unreadable(&file, &error)),
            }
        }
        sources
    }
}

fn read_file(path: &Path) -> io::Result<String> {
    // Opening a FIFO or a device would wait or never end.
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    String::from_utf8(fs::read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("not UTF-8 (byte {at})"))
    })
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>, problems: &mut Vec<Diagnostic>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return problems.push(unreadable(folder, &error)),
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files, problems);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(format!("failed to read configuration `{}`: {error}", path.display()))
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
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        (line, column)
    }
}

/// `path:line:column`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}", self.source.path().display())
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
