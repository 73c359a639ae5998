//! A folder that holds a policy: its name, its language, and what is built of it.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{BuildError, BuildRecord, c, javascript, python, rust};

/// What a policy is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A crate on the SDK.
    Rust,
    /// For the QuickJS interpreter.
    JavaScript,
    /// For the CPython interpreter.
    Python,
    /// C, or what else a C compiler takes.
    C,
}

impl Language {
    /// All of them, in the order in which a folder is asked.
    pub const ALL: [Self; 4] = [Self::Rust, Self::JavaScript, Self::Python, Self::C];

    /// The file that a folder is known by.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Rust => "Cargo.toml",
            Self::JavaScript => "policy.js",
            Self::Python => "policy.py",
            Self::C => "policy.c",
        }
    }

    /// Whether the same source and the same tools make the same bytes.
    #[must_use]
    pub fn is_reproducible(self) -> bool {
        matches!(self, Self::Rust | Self::C)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rust => "Rust",
            Self::JavaScript => "JavaScript",
            Self::Python => "Python",
            Self::C => "C",
        })
    }
}

/// Whether a folder within a project may hold source: it is none that tools install into or leave behind.
pub(crate) fn holds_source(folder: &str) -> bool {
    !folder.starts_with('.') && !["__pycache__", "node_modules", "target", "venv"].contains(&folder)
}

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

/// A component that was built.
#[derive(Debug, Clone)]
pub struct Built {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where it belongs.
    pub path: PathBuf,
    /// What it was built with.
    pub record: BuildRecord,
    /// What its source is written in.
    pub language: Language,
    /// The folders that its source is in.
    pub sources: Vec<PathBuf>,
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
        let language = Language::ALL.into_iter().find(|it| real.join(it.file()).is_file());
        let language = language.ok_or_else(|| {
            let files = Language::ALL.map(|it| format!("`{}`", it.file())).join(", ");
            not_a_policy(format!(
                "it has none of {files}\n\nhint: `jp-policy new NAME` writes a policy to start from"
            ))
        })?;
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| not_a_policy("it has no name".to_owned()))?;
        Ok(Self { folder: folder.to_owned(), name, language })
    }

    /// The component inside the folder, where it belongs if that stands alone.
    pub(super) fn inside(&self) -> PathBuf {
        let path = self.folder.join(self.file());
        path.strip_prefix(".").map(Path::to_owned).unwrap_or(path)
    }

    /// The component beside the folder.
    pub(super) fn beside(&self) -> PathBuf {
        match self.folder.file_name() {
            Some(_) => self.folder.with_file_name(self.file()),
            None => self.folder.join("..").join(self.file()),
        }
    }

    fn file(&self) -> String {
        format!("{}.wasm", self.name)
    }

    /// The component that is built of this folder alone.
    pub(super) fn built(&self, bytes: Vec<u8>, compiler: &str, encoder: &str) -> Built {
        Built {
            record: BuildRecord::new(compiler, encoder, &bytes),
            bytes,
            path: self.inside(),
            language: self.language,
            sources: vec![self.folder.clone()],
        }
    }
}

/// How policies are built.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder that components belong into; none: the policy's own, or beside it the one of a workspace's member.
    pub out: Option<PathBuf>,
    /// Cargo says nothing but what is wrong.
    pub quiet: bool,
}

/// Builds policies, in their order. Crates of one workspace are built by one run of cargo, whose messages go to standard error.
///
/// Nothing is written where they belong: see [`Built::write`].
pub fn build(projects: &[Project], options: &Options) -> Result<Vec<Built>, BuildError> {
    let crates: Vec<&Project> =
        projects.iter().filter(|project| project.language == Language::Rust).collect();
    let mut crates =
        if crates.is_empty() { Vec::new() } else { rust::build(&crates, options.quiet)? }
            .into_iter();
    let mut all = Vec::new();
    for project in projects {
        let built = match project.language {
            // One for each.
            Language::Rust => crates.next(),
            Language::JavaScript => Some(javascript::build(project)?),
            Language::Python => Some(python::build(project)?),
            Language::C => Some(c::build(project)?),
        };
        all.extend(built);
    }
    if let Some(out) = &options.out {
        for (built, project) in all.iter_mut().zip(projects) {
            built.path = out.join(project.file());
        }
    }
    Ok(all)
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
