//! Builds projects, each by the tools of its language.

use std::path::PathBuf;

use super::{Artifact, BuildError, Language, Project, c, javascript, python, rust};

/// How policies are built.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder that components are written to. `None`: into the policy's own folder, or beside it if it is a member of a
    /// workspace.
    pub out: Option<PathBuf>,
    /// Cargo prints only warnings and errors.
    pub quiet: bool,
}

/// Builds policies, in their order. Crates of one workspace are built by one run of cargo, whose messages go to standard error.
///
/// No component is written to its path: see [`Artifact::write`].
pub fn build(projects: &[Project], options: &Options) -> Result<Vec<Artifact>, BuildError> {
    let crates: Vec<&Project> =
        projects.iter().filter(|project| project.language == Language::Rust).collect();
    // One for each crate, in the same order.
    let mut crates = rust::build(&crates, options.quiet)?.into_iter();
    let mut artifacts = Vec::new();
    for project in projects {
        artifacts.extend(match project.language {
            Language::Rust => crates.next(),
            Language::JavaScript => Some(javascript::build(project)?),
            Language::Python => Some(python::build(project)?),
            Language::C => Some(c::build(project)?),
        });
    }
    if let Some(out) = &options.out {
        for (artifact, project) in artifacts.iter_mut().zip(projects) {
            artifact.path = project.within(out);
        }
    }
    Ok(artifacts)
}
