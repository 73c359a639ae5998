//! Tools that put an interpreter and a script into one component, and read the contract while they do.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use include_dir::{Dir, include_dir};

use super::{Artifact, BuildError, Project, io};

static CONTRACT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/wit/jp-plugin-0.1.0");

/// A tool, and how it is told what to do.
pub(super) struct Componentizer {
    pub(super) program: PathBuf,
    /// Its name and version.
    pub(super) version: String,
    /// The option for the folder of the contract.
    pub(super) wit_option: &'static str,
    /// The arguments between the options for the contract and `--output`.
    pub(super) args: &'static [&'static str],
    /// What a script contains if it explains why calls wait.
    pub(super) explains: &'static str,
}

impl Componentizer {
    /// Makes the component. The tool runs in `sources`, which is the project's folder or a copy of it.
    pub(super) fn run(&self, project: &Project, sources: &Path) -> Result<Artifact, BuildError> {
        let script = io::read_text(&sources.join(project.language.marker_file()))?;
        let scratch = io::temporary_folder()?;
        let (contract, component) =
            (scratch.path().join("wit"), scratch.path().join("component.wasm"));
        fs::create_dir(&contract)
            .and_then(|()| CONTRACT.extract(&contract))
            .map_err(|error| BuildError::file(&contract, error))?;
        io::output(
            Command::new(&self.program)
                .current_dir(sources)
                .arg(self.wit_option)
                .arg(contract)
                .args(["--world", self.world(&script)])
                .args(self.args)
                .arg("--output")
                .arg(&component),
        )?;
        Ok(project.artifact(io::read(&component)?, &self.version, &self.version))
    }

    /// The world of the contract that the script implements.
    fn world(&self, script: &str) -> &'static str {
        if script.contains(self.explains) {
            "explaining-release-policy-plugin"
        } else {
            "release-policy-plugin"
        }
    }
}
