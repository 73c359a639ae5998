//! The policies that a person has approved: path and digest, so that neither another file nor a changed one slips in.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// What was approved, and where that is kept.
pub(super) struct Approvals {
    file: PathBuf,
    approved: Vec<Approved>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Approved {
    path: PathBuf,
    digest: String,
}

impl Approvals {
    /// Reads `jp-policy/approved.json` of the user's data folder. A missing file approves nothing.
    pub(super) fn read() -> Result<Self> {
        use etcetera::BaseStrategy as _;

        let folder = etcetera::choose_base_strategy()
            .context("there is no home folder to keep approvals in")?;
        Self::read_from(folder.data_dir().join("jp-policy").join("approved.json"))
    }

    fn read_from(file: PathBuf) -> Result<Self> {
        let approved = match fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).with_context(|| {
                format!(
                    "failed to read approvals `{}`; delete the file to approve anew",
                    file.display()
                )
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("failed to read approvals `{}`", file.display()));
            }
        };
        Ok(Self { file, approved })
    }

    pub(super) fn has(&self, path: &Path, digest: &str) -> bool {
        self.approved.iter().any(|approved| approved.path == path && approved.digest == digest)
    }

    /// Approves; what was approved of this path before is forgotten.
    pub(super) fn add(&mut self, path: &Path, digest: &str) -> Result<()> {
        self.approved.retain(|approved| approved.path != path);
        self.approved.push(Approved { path: path.to_owned(), digest: digest.to_owned() });
        let write = || {
            if let Some(folder) = self.file.parent() {
                fs::create_dir_all(folder)?;
            }
            // Written whole or not at all, whoever else writes.
            let part = self.file.with_extension(format!("{}.part", std::process::id()));
            fs::write(&part, serde_json::to_vec_pretty(&self.approved)?)?;
            fs::rename(&part, &self.file)
        };
        write().with_context(|| format!("failed to write approvals `{}`", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_holds_for_one_path_and_one_digest() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("deep").join("approved.json");
        let policy = Path::new("/p/policy.wasm");
        let mut approvals = Approvals::read_from(file.clone()).expect("nothing is there yet");
        assert!(!approvals.has(policy, "sha256:1"));
        approvals.add(policy, "sha256:1").expect("it can be written");

        let mut again = Approvals::read_from(file.clone()).expect("it can be read");
        assert!(again.has(policy, "sha256:1"));
        assert!(!again.has(policy, "sha256:2"), "another file at the path");
        assert!(!again.has(Path::new("/q/policy.wasm"), "sha256:1"), "the file at another path");
        again.add(policy, "sha256:2").expect("it can be written");
        assert!(!again.has(policy, "sha256:1"), "the old one is forgotten");

        fs::write(&file, "{").expect("it can be written");
        let error = Approvals::read_from(file).err().expect("no approvals").to_string();
        assert!(error.ends_with("approved.json`; delete the file to approve anew"), "{error}");
    }
}
