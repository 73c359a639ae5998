//! Why a policy can't be built.

use std::{fmt, io, path::Path, process::ExitStatus};

/// Why a policy can't be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Tools are not there.
    #[error("{0}")]
    Missing(Missing),
    /// A program could not be run.
    #[error("failed to run `{program}`: {error}")]
    Run {
        /// Its name or path.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// A program failed.
    #[error("`{program}` failed ({status}){messages}")]
    Failed {
        /// Its name or path.
        program: String,
        /// How it ended.
        status: ExitStatus,
        /// What it printed, on lines of its own; empty if that went to standard error already.
        messages: String,
    },
    /// The folder holds no policy.
    #[error("`{path}` is no policy: {why}")]
    NotAPolicy {
        /// The folder.
        path: String,
        /// Why.
        why: String,
    },
    /// A file can't be read or written.
    #[error("failed to access `{path}`: {error}")]
    File {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The module does not become a component.
    #[error("the module does not become a component: {0}")]
    Encode(String),
}

impl BuildError {
    pub(super) fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.display().to_string(), error }
    }
}

/// Tools that are missing, and the commands that install them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    /// What each is and is for, as a sentence without its full stop.
    pub tools: Vec<String>,
    /// The commands that install them, in the order in which they have to run.
    pub install: Vec<String>,
}

impl Missing {
    pub(super) fn add(&mut self, tool: impl Into<String>, install: impl Into<String>) {
        self.tools.push(tool.into());
        self.install.push(install.into());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\nhint: ", self.tools.join("; "))?;
        for (n, step) in self.install.iter().enumerate() {
            // A step that no command does here is a sentence, after which a shell's `&&` would be wrong.
            let after_sentence = n.checked_sub(1).map(|n| self.install[n].starts_with("install "));
            let joint = match after_sentence {
                None => "",
                Some(false) => " && ",
                Some(true) => ", then: ",
            };
            write!(f, "{joint}{step}")?;
        }
        Ok(())
    }
}
