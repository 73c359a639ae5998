//! Python: componentize-py puts CPython, the standard library and the source into one component.

use std::{ffi::OsStr, fs, io, path::Path, process::Command};

use super::{
    BuildError, Built, Language, Missing, Project, contract,
    error::output,
    holds_source,
    scratch::Scratch,
    tools::{PYTHON_PROGRAMS, find, pip_install, python_itself},
};

const TOOL: &str = "componentize-py";

/// The folder of what componentize-py makes of the contract for an editor.
const BINDINGS: &str = "bindings";

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
    let scratch = Scratch::new()?;
    // From a copy: the interpreter leaves compiled modules beside what it reads.
    let sources = scratch.sources();
    copy_sources(&project.folder, &sources)
        .map_err(|error| BuildError::file(&project.folder, error))?;
    let source = sources.join(Language::Python.file());
    let text = fs::read_to_string(&source).map_err(|error| BuildError::file(&source, error))?;
    // Without WASI nothing is imported that the host lacks.
    output(
        Command::new(&tool)
            .current_dir(&sources)
            .arg("--quiet")
            .arg("--wit-path")
            .arg(scratch.wit())
            .args(["--world", contract::world(&text, "ReleaseReasons")])
            .args(["componentize", "--stub-wasi", "policy", "--output"])
            .arg(scratch.component()),
    )?;
    let version = output(Command::new(&tool).arg("--version"))?;
    let tool = String::from_utf8_lossy(&version).trim().to_owned();
    Ok(project.built(scratch.read_component()?, &tool, &tool))
}

/// All modules, but not those that are installed, compiled or generated for an editor.
fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let shown = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if holds_source(&shown) && shown != BINDINGS {
                copy_sources(&path, &to.join(&name))?;
            }
        } else if path.extension() == Some(OsStr::new("py")) {
            fs::copy(&path, to.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_copied_and_nothing_that_is_installed_compiled_or_generated() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = ["policy.py", "rules/order.py"];
        let left = [
            ".venv/a.py",
            "venv/a.py",
            "__pycache__/a.py",
            "bindings/a.py",
            "node_modules/a.py",
            "target/a.py",
            "rules/notes.txt",
        ];
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for path in kept.iter().chain(&left) {
            let path = from.join(path);
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("it is made");
            fs::write(&path, "").expect("it is written");
        }
        copy_sources(&from, &to).expect("they are copied");
        let is_there = |path: &&str| to.join(path).exists();
        assert!(kept.iter().all(is_there));
        assert_eq!(left.iter().find(|path| is_there(path)), None);
    }
}
