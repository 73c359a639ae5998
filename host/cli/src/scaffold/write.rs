//! From files to a folder that did not hold anything.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::File;

/// Why a project can't be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Something is there already.
    #[error("`{}` {what}: nothing there is overwritten\n\nhint: choose another name, or remove what is there", .path.display())]
    Exists {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The file system does not let it.
    #[error("failed to write `{}`: {error}", .path.display())]
    File {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Writes a project into a folder that is not there yet, or is empty.
pub fn write(folder: &Path, files: &[File]) -> Result<(), WriteError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |error| WriteError::File { path, error }
    };
    let exists = |what| WriteError::Exists { path: folder.to_owned(), what };
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(folder)(error)),
        Ok(_) if folder.is_dir() => {
            if fs::read_dir(folder).map_err(failed(folder))?.next().is_some() {
                return Err(exists("is a folder that is not empty"));
            }
        }
        Ok(_) => return Err(exists("is there, and no folder")),
    }
    for File { path, contents } in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        // Whoever was faster keeps what they wrote.
        fs::File::create_new(&path)
            .and_then(|mut file| io::Write::write_all(&mut file, contents))
            .map_err(failed(&path))?;
    }
    Ok(())
}
