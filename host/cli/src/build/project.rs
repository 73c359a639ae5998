//! A folder that holds a policy: its name, its language, and where its component is written.

use std::path::{Path, PathBuf};

use super::{Artifact, BuildError, BuildRecord, Language, layout::component_file};

/// A folder that holds a policy.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder, as it was given.
    pub folder: PathBuf,
    /// The folder's name, which is the component's.
    pub name: String,
    /// What it is written in.
    pub language: Language,
}

impl Project {
    /// Looks at a folder.
    pub fn open(folder: &Path) -> Result<Self, BuildError> {
        let not_a_policy =
            |why: String| BuildError::NotAPolicy { path: folder.display().to_string(), why };
        let real = folder.canonicalize().map_err(|error| BuildError::file(folder, error))?;
        if !real.is_dir() {
            return Err(not_a_policy("it is a file, expected the folder of the source".to_owned()));
        }
        let language = Language::ALL.into_iter().find(|it| real.join(it.marker_file()).is_file());
        let language = language.ok_or_else(|| {
            let files = Language::ALL.map(|it| format!("`{}`", it.marker_file())).join(", ");
            not_a_policy(format!(
                "it has none of {files}\n\nhint: `jp-policy new NAME` writes a policy to start from"
            ))
        })?;
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| not_a_policy("it has no name".to_owned()))?;
        Ok(Self { folder: folder.to_owned(), name, language })
    }

    /// The component inside the folder, which is where it is written if the project stands alone.
    pub(super) fn inside(&self) -> PathBuf {
        let path = self.within(&self.folder);
        path.strip_prefix(".").map(Path::to_owned).unwrap_or(path)
    }

    /// The component beside the folder.
    pub(super) fn beside(&self) -> PathBuf {
        match self.folder.file_name() {
            Some(_) => self.folder.with_file_name(component_file(&self.name)),
            None => self.within(&self.folder.join("..")),
        }
    }

    /// The component in another folder.
    pub(super) fn within(&self, folder: &Path) -> PathBuf {
        folder.join(component_file(&self.name))
    }

    /// The component that is built of this folder alone.
    pub(super) fn artifact(&self, bytes: Vec<u8>, compiler: &str, encoder: &str) -> Artifact {
        Artifact {
            record: BuildRecord::new(compiler, encoder, &bytes),
            bytes,
            path: self.inside(),
            language: self.language,
            sources: vec![self.folder.clone()],
        }
    }
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
