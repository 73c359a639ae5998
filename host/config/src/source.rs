//! Where configuration text comes from: files, and folders of files.

use std::{
    fmt, fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use jp_policy_core::text::clean_path;

use super::{diagnostic::Diagnostic, format::EXTENSIONS};

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

    /// Whether both are the same file, read once.
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

    /// Reads a file.
    pub fn file(path: &Path) -> Result<Self, Diagnostic> {
        match read_file(path) {
            Ok(text) => Ok(Self::new(path, text)),
            Err(error) => Err(unreadable(path, &error)),
        }
    }

    /// Reads a file, or all files of a folder and the folders in it that have one of the extensions of configuration, sorted by
    /// path.
    ///
    /// What can't be read goes to `problems`, each with its path; the rest is returned.
    pub fn read(path: &Path, problems: &mut Vec<Diagnostic>) -> Vec<Self> {
        let mut files = Vec::new();
        if path.is_dir() {
            collect(path, &mut files, problems);
            if files.is_empty() && problems.is_empty() {
                problems.push(Diagnostic::error(format!(
                    "no configuration in folder `{}`: it has no file that ends in {}",
                    clean_path(path),
                    EXTENSIONS.map(|extension| format!(".{extension}")).join(", ")
                )));
            }
        } else {
            files.push(path.to_owned());
        }
        let mut sources = Vec::new();
        for file in files {
            match Self::file(&file) {
                Ok(source) => sources.push(source),
                Err(problem) => problems.push(problem),
            }
        }
        sources
    }
}

/// A configuration of this size is none: it is another file, given by mistake.
const LARGEST: u64 = 64 << 20;

fn read_file(path: &Path) -> io::Result<String> {
    // Opening a FIFO or a device would wait or never end.
    let about = fs::metadata(path)?;
    if !about.file_type().is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if about.len() > LARGEST {
        let message = format!("it has {} bytes, more than 64 MiB", about.len());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    let mut text = String::from_utf8(fs::read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("not UTF-8 (byte {at})"))
    })?;
    // The mark that some editors put first is no part of the text, in any of the formats.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
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
        } else if is_configuration(&path) {
            files.push(path);
        }
    }
}

/// Whether a file's name says that it is configuration.
pub(super) fn is_configuration(path: &Path) -> bool {
    path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(format!("failed to read configuration `{}`: {error}", clean_path(path)))
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
