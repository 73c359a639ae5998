//! The folders in which jp keeps configuration files: of the user, the workspace, a folder, and the user in a workspace.

use std::path::{Path, PathBuf};

use super::{format::EXTENSIONS, layer::Layer};

/// Where jp looks for configuration without being asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigDirs {
    /// The folder of the user's configuration, `~/.config/jp` on Linux.
    pub user_config: Option<PathBuf>,
    /// The folder of the user's data, `~/.local/share/jp` on Linux.
    pub user_data: Option<PathBuf>,
    /// Where work is done; the workspace is this folder, or the nearest above it, that has a folder `.jp`.
    pub folder: PathBuf,
    /// Whether paths under `folder` are given relative to it, for it is the current folder.
    pub relative: bool,
}

/// A file that jp reads without being asked to, if it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandardFile {
    /// The layer that it makes.
    pub layer: Layer,
    /// The file; if there is none, the one of the first extension.
    pub path: PathBuf,
    /// Whether it was read.
    pub status: FileStatus,
}

/// Whether a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    /// There is a file, and it was read.
    Read,
    /// There is none.
    Missing,
    /// There is one, and it was not read: an earlier layer says `inherit = false`.
    Closed,
}

impl ConfigDirs {
    /// Those of this process: its current folder, and what its environment says of the user's folders.
    pub fn of_process() -> std::io::Result<Self> {
        let folder = std::env::current_dir()?;
        Ok(Self { relative: true, ..Self::new(folder, &|name| std::env::var(name).ok()) })
    }

    /// Those for a folder, in an environment: `variable` gives the value of a variable by its name.
    pub fn new(folder: impl Into<PathBuf>, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let home = set(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
        let absolute = |name: &str| set(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let under_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let config = || {
            if cfg!(windows) {
                absolute("APPDATA").map(|folder| folder.join("jp").join("config"))
            } else if cfg!(target_os = "macos") {
                under_home("Library/Application Support/jp")
            } else {
                absolute("XDG_CONFIG_HOME").or_else(|| under_home(".config")).map(|f| f.join("jp"))
            }
        };
        let data = || {
            if cfg!(windows) {
                absolute("LOCALAPPDATA").map(|folder| folder.join("jp").join("data"))
            } else if cfg!(target_os = "macos") {
                under_home("Library/Application Support/jp")
            } else {
                under_home(".local/share").map(|folder| folder.join("jp"))
            }
        };
        let expand = |path: String| match (path.strip_prefix('~'), &home) {
            (None, _) => Some(PathBuf::from(path)),
            (Some(rest), Some(home)) => Some(home.join(rest.trim_start_matches('/'))),
            (Some(_), None) => None,
        };
        Self {
            user_config: set("JP_GLOBAL_CONFIG_DIR").and_then(expand).or_else(config),
            user_data: set("JP_USER_DATA_DIR")
                .map(PathBuf::from)
                .or_else(|| absolute("XDG_DATA_HOME").map(|folder| folder.join("jp")))
                .or_else(data),
            folder: folder.into(),
            relative: false,
        }
    }

    /// The workspace.
    pub fn workspace(&self) -> Option<&Path> {
        self.folder.ancestors().find(|folder| folder.join(".jp").is_dir())
    }

    /// All files, in the order of their layers, `Read` where there is one.
    pub(super) fn files(&self) -> Vec<StandardFile> {
        let mut files = Vec::new();
        let mut look = |layer, folder: &Path, stem: &str| {
            let path = |extension: &&str| folder.join(format!("{stem}.{extension}"));
            let found = EXTENSIONS.iter().map(path).find(|path| path.is_file());
            let status = if found.is_some() { FileStatus::Read } else { FileStatus::Missing };
            let path = found.unwrap_or_else(|| folder.join(format!("{stem}.toml")));
            files.push(StandardFile { layer, path: self.shown(path), status });
        };
        if let Some(folder) = &self.user_config {
            look(Layer::UserGlobal, folder, "config");
        }
        let workspace = self.workspace();
        if let Some(root) = workspace {
            look(Layer::Workspace, &root.join(".jp"), "config");
        }
        let up = self.folder.ancestors();
        let mut folders: Vec<&Path> = match workspace {
            Some(root) => up.take_while(|folder| folder.starts_with(root)).collect(),
            None => up.collect(),
        };
        folders.reverse();
        for folder in folders {
            look(Layer::Cwd, folder, ".jp");
        }
        if let (Some(root), Some(data)) = (workspace, &self.user_data)
            && let Some(folder) = user_workspace(root, data)
        {
            look(Layer::UserWorkspace, &folder, "config");
        }
        // Of the folders above, only those that say something are worth a word.
        let own = self.shown(self.folder.join(".jp.toml"));
        files.retain(|file| {
            file.layer != Layer::Cwd || file.status == FileStatus::Read || file.path == own
        });
        files
    }

    fn shown(&self, path: PathBuf) -> PathBuf {
        match path.strip_prefix(&self.folder) {
            Ok(short) if self.relative => short.to_owned(),
            _ => path,
        }
    }
}

/// The user's folder for a workspace: known by the workspace's id, whatever it is called before that.
fn user_workspace(root: &Path, data: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(root.join(".jp").join(".id")).ok()?;
    let id = text.lines().last()?.trim();
    if id.len() != 5 || !id.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()) {
        return None;
    }
    let all = data.join("workspace");
    let ending = format!("-{id}");
    let entries = std::fs::read_dir(&all).into_iter().flatten().flatten();
    let mut known: Vec<PathBuf> = entries
        .filter(|entry| {
            entry.file_name().to_str().is_some_and(|name| name == id || name.ends_with(&ending))
        })
        .map(|entry| entry.path())
        .collect();
    known.sort();
    let unnamed = || {
        let name = root.file_name()?.to_str()?;
        Some(all.join(format!("{name}{ending}")))
    };
    known.into_iter().next().or_else(unnamed)
}

#[cfg(test)]
#[path = "config_dirs_tests.rs"]
mod tests;
