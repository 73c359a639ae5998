//! JavaScript: componentize-qjs puts the QuickJS interpreter and the script into one component.

use std::path::Path;

use serde_json::Value as Json;

use super::{
    Artifact, BuildError, Missing, Project,
    componentizer::Componentizer,
    io,
    tools::{NODE_PROGRAMS, find, npm_install, on_path, system},
};

const TOOL: &str = "componentize-qjs";

pub(super) fn build(project: &Project) -> Result<Artifact, BuildError> {
    let mut missing = Missing::default();
    if on_path("node").is_none() {
        missing.add(
            "`node` is missing, which runs what makes components of JavaScript",
            system("nodejs npm", "install Node.js 18 or later from https://nodejs.org"),
        );
    }
    let program = find(&project.folder, NODE_PROGRAMS, TOOL);
    if program.is_none() {
        missing.add(
            format!("`{TOOL}` is missing, which makes components of JavaScript"),
            npm_install(&project.folder, TOOL),
        );
    }
    let Some(program) = program.filter(|_| missing.is_empty()) else {
        return Err(BuildError::Missing(missing));
    };
    let tool = Componentizer {
        version: format!("{TOOL} {}", version(&program)),
        program,
        wit_option: "--wit",
        // Without WASI nothing is imported that the host lacks; without async it keeps to the ABI that every host has.
        args: &["--js", "policy.js", "--stub-wasi", "--sync", "--opt-size", "--minify"],
        explains: "releaseReasons",
    };
    tool.run(project, &project.folder)
}

/// The version in the tool's package: the tool has no option that prints it.
fn version(tool: &Path) -> String {
    let read = || {
        let package = tool.canonicalize().ok()?.parent()?.parent()?.join("package.json");
        let package: Json = serde_json::from_slice(&io::read(&package).ok()?).ok()?;
        Some(package["version"].as_str()?.to_owned())
    };
    read().unwrap_or_else(|| "of an unknown version".to_owned())
}
