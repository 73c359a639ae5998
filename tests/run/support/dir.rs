//! The folder of a test.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;
use tempfile::TempDir;

use super::Program;

/// What every tool's script can use: `await FILE` waits until there is one, and gives up in the end; `gone PID` succeeds if
/// that process runs no more.
const PRELUDE: &str = r#"
await() {
    patience=1200
    until [ -e "$1" ]; do
        patience=$((patience - 1))
        [ $patience -gt 0 ] || { echo "waited in vain for $1" >&2; exit 99; }
        sleep 0.05
    done
}
gone() {
    kill -0 "$1" 2>/dev/null || return 0
    case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
    [ZX]*) return 0 ;;
    esac
    return 1
}
"#;

/// A folder with a workspace in `work`, tools in `tools` and a batch in `batch.json`.
pub(crate) struct Dir {
    root: PathBuf,
    _temp: TempDir,
}

impl Dir {
    pub(crate) fn new() -> Self {
        let temp = TempDir::new().expect("a temporary folder can be made");
        // Temporary folders are behind a symbolic link on some systems, and the program shows real paths.
        let root = temp.path().canonicalize().expect("the folder is there");
        let dir = Self { root, _temp: temp };
        dir.folder("work");
        dir.folder("tools");
        dir
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn folder(&self, path: &str) {
        fs::create_dir_all(self.path(path)).expect("a folder can be made");
    }

    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("it can be made");
        fs::write(path, contents).expect("a file can be written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        let read = fs::read_to_string(self.path(path));
        read.unwrap_or_else(|error| panic!("failed to read `{path}`: {error}"))
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// What is in a folder.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).expect("a folder can be read");
        let names = entries.map(|entry| entry.expect("its entries can be read").file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into()).collect();
        names.sort();
        names
    }

    /// Puts a file of this repository into the folder, under its own name, which is returned.
    pub(crate) fn put(&self, path: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or_default();
        self.write(name, fs::read(repository(path)).expect("it is checked in"));
        name.to_owned()
    }

    /// Copies a folder.
    pub(crate) fn copy(&self, from: &Path, to: &str) {
        for (name, bytes) in files(from) {
            self.write(&format!("{to}/{name}"), bytes);
        }
    }

    /// A tool that runs a script of shell unattended in the workspace, with the argument `n` as `$1` and the answers to its
    /// questions as `$2`. `settings` are further lines of its table.
    pub(crate) fn tool(&self, name: &str, settings: &str, script: &str) {
        self.write(&format!("scripts/{name}"), format!("{PRELUDE}{script}\n"));
        let args = format!(
            r#"["{{{{context.config_dir}}}}/../scripts/{name}", "{{{{tool.arguments.n}}}}", "{{{{tool.answers}}}}"]"#
        );
        self.settings(
            name,
            &format!(
                "command = {{ program = \"sh\", args = {args} }}\nrun = \"unattended\"\n{settings}"
            ),
        );
    }

    /// A tool with just these lines in its table.
    pub(crate) fn settings(&self, name: &str, settings: &str) {
        self.write(
            &format!("tools/{name}.toml"),
            format!("[conversation.tools.{name}]\n{settings}\n"),
        );
    }

    pub(crate) fn batch(&self, batch: &Json) {
        self.write("batch.json", batch.to_string());
    }

    /// `jp-policy` in this folder.
    pub(crate) fn program(&self) -> Program {
        Program::new(&self.root)
    }

    /// `jp-policy run batch.json --config tools --workspace work`.
    pub(crate) fn run(&self) -> Program {
        self.program().args(["run", "batch.json", "--config", "tools", "--workspace", "work"])
    }

    /// The same, with responses as JSON and nothing else.
    pub(crate) fn json(&self) -> Program {
        self.run().args(["--quiet", "--format", "json"])
    }
}

/// A file of this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// All files of a folder and the folders in it, with their bytes.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder can be read") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("it is below");
            let name = name.to_string_lossy().into_owned();
            // What a tool moves away right now is none of ours, and reading a FIFO would wait for a writer.
            let bytes = if path.is_file() { fs::read(&path) } else { Ok(Vec::new()) };
            found.insert(name, bytes.unwrap_or_default());
        }
    }
    found
}
