//! Python: componentize-py puts CPython, the standard library and the source into one component.

use std::{ffi::OsStr, fs, io, path::Path, process::Command};

use super::{
    BuildError, Built, Language, Missing, Project, contract,
    error::output,
    tools::{PYTHON_PROGRAMS, find, pip_install, python_itself},
};

const TOOL: &str = "componentize-py";

pub(super) fn build(project: &Project) -> Result<Built, BuildError> {
    let Some(tool) = find(&project.folder, PYTHON_PROGRAMS, TOOL) else {
        let mut missing = Missing::default();
        if let Some((what, install)) = python_itself() {
            missing.add(what, install);
        }
        missing.add(
            format!("`{TOOL}` is missing, which makes components of Python"),
            pip_install(&project.folder, TOOL),
        );
        return Err(BuildError::Missing(missing));
    };
    let scratch = tempfile::tempdir().map_err(|error| BuildError::file(Path::new("."), error))?;
    let wit = scratch.path().join("wit");
    contract::write(&wit).map_err(|error| BuildError::file(&wit, error))?;
    // From a copy: the interpreter leaves compiled modules beside what it reads.
    let sources = scratch.path().join("sources");
    copy_sources(&project.folder, &sources)
        .map_err(|error| BuildError::file(&project.folder, error))?;
    let source = sources.join(Language::Python.file());
    let text = fs::read_to_string(&source).map_err(|error| BuildError::file(&source, error))?;
    let component = scratch.path().join("component.wasm");
    // Without WASI nothing is imported that the host lacks.
    output(
        Command::new(&tool)
            .current_dir(&sources)
            .arg("--quiet")
            .arg("--wit-path")
            .arg(&wit)
            .args(["--world", contract::world(&text, "ReleaseReasons")])
            .args(["componentize", "--stub-wasi", "policy", "--output"])
            .arg(&component),
    )?;
    let bytes = fs::read(&component).map_err(|error| BuildError::file(&component, error))?;
    let version = output(Command::new(&tool).arg("--version"))?;
    let tool = String::from_utf8_lossy(&version).trim().to_owned();
    Ok(project.built(bytes, &tool, &tool))
}

/// All modules, but not those that are installed, compiled or generated for an editor.
fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let shown = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            let kept = !shown.starts_with('.')
                && !["__pycache__", "bindings", "node_modules", "target"].contains(&&*shown);
            if kept {
                copy_sources(&path, &to.join(&name))?;
            }
        } else if path.extension() == Some(OsStr::new("py")) {
            fs::copy(&path, to.join(&name))?;
        }
    }
    Ok(())
}
