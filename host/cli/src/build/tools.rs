//! The programs that builds need: the versions that are known to work, where a program is looked for, and what installs it.

use std::path::{Path, PathBuf};

use super::{BuildError, Missing, io::probe};

/// One place for all who install them: the messages here, the projects that `new` writes, and CI.
const PINNED: &str = include_str!("../../tools.txt");

/// The version of a package that is known to work.
pub(crate) fn pinned(package: &str) -> &'static str {
    let mut lines = PINNED.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let version = lines.find_map(|words| match words[..] {
        [_, name, version] if name == package => Some(version),
        _ => None,
    });
    version.unwrap_or_default()
}

/// Where npm puts the programs of a project.
pub(super) const NODE_PROGRAMS: &str = "node_modules/.bin";

/// Where a project's own Python has its programs.
pub(super) const PYTHON_PROGRAMS: &str = if cfg!(windows) { ".venv/Scripts" } else { ".venv/bin" };

/// A program of the project (of its folder or one above), else one on `PATH`.
pub(super) fn find(folder: &Path, programs: &str, name: &str) -> Option<PathBuf> {
    let real = folder.canonicalize().ok()?;
    let own = real
        .ancestors()
        .find_map(|folder| which::which_in(name, Some(folder.join(programs)), folder).ok());
    own.or_else(|| on_path(name))
}

/// A program on `PATH`.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    which::which(name).ok()
}

/// A command that installs packages of the system, where it is Debian's or one of its children.
pub(super) fn system(packages: &str, elsewhere: &str) -> String {
    if on_path("apt-get").is_some() {
        format!("apt-get install --no-install-recommends {packages}")
    } else {
        elsewhere.to_owned()
    }
}

/// The command that installs a package of npm into a project's own folder.
pub(super) fn npm_install(folder: &Path, package: &str) -> String {
    let folder = relative(folder);
    let prefix = if folder.as_os_str().is_empty() {
        String::new()
    } else {
        format!("--prefix {} ", quoted(folder))
    };
    format!("npm install {prefix}--save-dev --save-exact {package}@{}", pinned(package))
}

/// The command that installs a package into a project's own Python environment.
pub(super) fn pip_install(folder: &Path, package: &str) -> String {
    let folder = relative(folder);
    let venv = quoted(&folder.join(".venv"));
    let programs = quoted(&folder.join(PYTHON_PROGRAMS));
    format!("python3 -m venv {venv} && {programs}/pip install {package}=={}", pinned(package))
}

/// Says that a Python package is missing, and Python itself if that is.
pub(super) fn missing_python_package(
    folder: &Path,
    package: &str,
    what: impl Into<String>,
) -> BuildError {
    let mut missing = Missing::default();
    if let Some(what) = missing_python() {
        let elsewhere = "install Python 3.10 or later from https://www.python.org";
        missing.add(what, system("python3 python3-venv", elsewhere));
    }
    missing.add(what, pip_install(folder, package));
    BuildError::Missing(missing)
}

/// What of Python itself is missing to install packages.
fn missing_python() -> Option<&'static str> {
    let Some(python) = on_path("python3") else {
        return Some("`python3` is missing");
    };
    let has_venv = probe(&python, &["-c", "import ensurepip, venv"]).is_some();
    (!has_venv).then_some("Python's `venv` is missing")
}

/// The folder without a `.` in front.
fn relative(folder: &Path) -> &Path {
    folder.strip_prefix(".").unwrap_or(folder)
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    shlex::try_quote(&path).map(Into::into).unwrap_or(path)
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
