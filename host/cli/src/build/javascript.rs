//! JavaScript: componentize-qjs puts the QuickJS interpreter and the script into one component.

use std::{fs, path::Path, process::Command};

use serde_json::Value as Json;

use super::{
    BuildError, Built, Language, Missing, Project, contract,
    error::output,
    scratch::Scratch,
    tools::{NODE_PROGRAMS, find, on_path, pinned, quoted, system},
};

const TOOL: &str = "componentize-qjs";

pub(super) fn build(project: &Project) -> Result<Built, BuildError> {
    let mut missing = Missing::default();
    if on_path("node").is_none() {
        missing.add(
            "`node` is missing, which runs what makes components of JavaScript",
            system("nodejs npm", "install Node.js 18 or later from https://nodejs.org"),
        );
    }
    let tool = find(&project.folder, NODE_PROGRAMS, TOOL);
    if tool.is_none() {
        missing.add(
            format!("`{TOOL}` is missing, which makes components of JavaScript"),
            install(&project.folder),
        );
    }
    missing.check()?;
    let tool = tool.unwrap_or_default();
    let scratch = Scratch::new()?;
    let source = project.folder.join(Language::JavaScript.file());
    let text = fs::read_to_string(&source).map_err(|error| BuildError::file(&source, error))?;
    // Without WASI nothing is imported that the host lacks; without async it keeps to the ABI that every host has.
    output(
        Command::new(&tool)
            .current_dir(&project.folder)
            .args(["--js", Language::JavaScript.file(), "--stub-wasi", "--sync", "--opt-size"])
            .args(["--minify", "--world", contract::world(&text, "releaseReasons"), "--wit"])
            .arg(scratch.wit())
            .arg("--output")
            .arg(scratch.component()),
    )?;
    let tool = format!("{TOOL} {}", version(&tool));
    Ok(project.built(scratch.read_component()?, &tool, &tool))
}

fn install(folder: &Path) -> String {
    let prefix = match quoted(folder).as_str() {
        "" | "." => String::new(),
        folder => format!("--prefix {folder} "),
    };
    format!("npm install {prefix}--save-dev --save-exact {TOOL}@{}", pinned(TOOL))
}

/// It does not say itself; its package does.
fn version(tool: &Path) -> String {
    let read = || {
        let package = tool.canonicalize().ok()?.parent()?.parent()?.join("package.json");
        let package: Json = serde_json::from_slice(&fs::read(package).ok()?).ok()?;
        Some(package["version"].as_str()?.to_owned())
    };
    read().unwrap_or_else(|| "of an unknown version".to_owned())
}
