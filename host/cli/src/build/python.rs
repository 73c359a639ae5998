//! Python: componentize-py puts CPython, the standard library and the source into one component.

use std::{ffi::OsStr, fs, path::Path};

use super::{
    Artifact, BuildError, Project,
    componentizer::Componentizer,
    io,
    layout::{BINDINGS, may_hold_source},
    tools::{PYTHON_PROGRAMS, find, missing_python_package},
};

const TOOL: &str = "componentize-py";

pub(super) fn build(project: &Project) -> Result<Artifact, BuildError> {
    let Some(program) = find(&project.folder, PYTHON_PROGRAMS, TOOL) else {
        let what = format!("`{TOOL}` is missing, which makes components of Python");
        return Err(missing_python_package(&project.folder, TOOL, what));
    };
    // From a copy: the interpreter leaves compiled modules beside what it reads.
    let copy = io::temporary_folder()?;
    copy_sources(&project.folder, copy.path())
        .map_err(|error| BuildError::file(&project.folder, error))?;
    let version = io::output(std::process::Command::new(&program).arg("--version"))?;
    let tool = Componentizer {
        version: String::from_utf8_lossy(&version).trim().to_owned(),
        program,
        wit_option: "--wit-path",
        // Without WASI nothing is imported that the host lacks.
        args: &["--quiet", "componentize", "--stub-wasi", "policy"],
        explains: "ReleaseReasons",
    };
    tool.run(project, copy.path())
}

/// Copies all modules, but not those that are installed, compiled or generated for an editor.
fn copy_sources(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let shown = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if may_hold_source(&shown) && shown != BINDINGS {
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
