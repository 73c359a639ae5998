//! Reads configuration files, and folders of them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jp_policy_core::text::clean_path;

use super::{diagnostic::Diagnostic, format::EXTENSIONS, source::Source};

impl Source {
    /// Reads a file. The error names it and says why it can't be read: it is not there, is no regular file, has more than 64 MiB,
    /// or is not UTF-8.
    pub fn file(path: &Path) -> Result<Self, Diagnostic> {
        match read_text(path) {
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

fn read_text(path: &Path) -> io::Result<String> {
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
