//! Why a policy can't be built.

use std::{
    fmt, io,
    path::Path,
    process::{Command, ExitStatus, Output, Stdio},
};

use jp_policy_core::text::clean_lines;

/// Why a policy can't be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Tools are not there.
    #[error("{0}")]
    Missing(Missing),
    /// A program could not be run.
    #[error("failed to run `{program}`: {error}")]
    Run {
        /// Which.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// A program failed.
    #[error("`{program}` failed ({status}){said}")]
    Failed {
        /// Which.
        program: String,
        /// How.
        status: ExitStatus,
        /// What it said of it, on lines of its own; nothing if it has told the person itself.
        said: String,
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
        /// Which.
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

/// Tools that are not there, and the one command that installs them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    /// What each is and is for, as a sentence without its end.
    pub tools: Vec<String>,
    /// The commands that install them, in the order in which they have to run.
    pub install: Vec<String>,
}

impl Missing {
    pub(super) fn add(&mut self, tool: impl Into<String>, install: impl Into<String>) {
        self.tools.push(tool.into());
        self.install.push(install.into());
    }

    /// An error if anything is missing.
    pub(super) fn check(self) -> Result<(), BuildError> {
        if self.tools.is_empty() { Ok(()) } else { Err(BuildError::Missing(self)) }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\nhint: ", self.tools.join("; "))?;
        for (n, step) in self.install.iter().enumerate() {
            // What no command does here is said in words.
            let before = n.checked_sub(1).map(|n| self.install[n].starts_with("install "));
            let joint = match before {
                None => "",
                Some(false) => " && ",
                Some(true) => ", then: ",
            };
            write!(f, "{joint}{step}")?;
        }
        Ok(())
    }
}

/// Runs a program to its end; its standard output.
///
/// What it says is kept, and told only if it fails: these tools say much when all is well.
pub(super) fn output(command: &mut Command) -> Result<Vec<u8>, BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ran = command.stdin(Stdio::null()).output();
    let Output { status, stdout, stderr } =
        ran.map_err(|error| BuildError::Run { program: program.clone(), error })?;
    if status.success() {
        return Ok(stdout);
    }
    let said = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    let lines: Vec<String> = clean_lines(said.trim_end()).collect();
    let said = if lines.is_empty() { String::new() } else { format!("\n  {}", lines.join("\n  ")) };
    Err(BuildError::Failed { program, status, said })
}
