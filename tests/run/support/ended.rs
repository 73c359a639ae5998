//! What came of a run.

use std::{
    collections::BTreeMap, fs, os::unix::process::ExitStatusExt as _, path::PathBuf,
    process::ExitStatus, thread,
};

use serde_json::Value as Json;

use super::{files, is_gone, plain};

/// A run that is over. If the test fails, all of it is shown.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) shown: String,
    pub(crate) root: PathBuf,
}

impl Ended {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.status.code(), Some(expected), "exit code");
        self
    }

    /// Its exit code, if no signal ended it.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Which signal ended it.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    /// Standard output, with `[DIR]` for the test's folder.
    pub(crate) fn stdout(&self) -> String {
        self.text(&self.stdout)
    }

    /// Standard error, with `[DIR]` for the test's folder.
    pub(crate) fn stderr(&self) -> String {
        self.text(&self.stderr)
    }

    /// Standard error without what takes a different time in each run.
    pub(crate) fn plain_stderr(&self) -> String {
        plain(&self.stderr())
    }

    fn text(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8(bytes.to_vec()).expect("it is text");
        text.replace(&self.root.display().to_string(), "[DIR]")
    }

    /// The JSON on standard output.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.stdout).expect("standard output is JSON")
    }

    /// The responses of a run with `--format json`.
    pub(crate) fn responses(&self) -> Json {
        self.json()["data"]["responses"].clone()
    }

    /// The processes that still have their current folder here. None where there is no `/proc` to tell.
    pub(crate) fn left(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let here = |pid: &i32| {
            let folder = fs::read_link(format!("/proc/{pid}/cwd"));
            folder.is_ok_and(|folder| folder.starts_with(&self.root)) && !is_gone(*pid)
        };
        pids.filter(here)
            .map(|pid| {
                let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                format!("{pid} {line}")
            })
            .collect()
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        // A second panic would end all tests, so nothing is expected here.
        let files = if self.root.exists() { files(&self.root) } else { BTreeMap::default() };
        let files = files.iter().map(|(name, bytes)| format!("{:>9} {name}", bytes.len()));
        let listing: Vec<String> = files.collect();
        eprintln!(
            "\ncommand: {}\nfolder: {}\n{}\nstatus: {}\n--- stdout\n{}--- stderr\n{}---",
            self.shown,
            self.root.display(),
            listing.join("\n"),
            self.status,
            shorten(&self.stdout),
            shorten(&self.stderr),
        );
    }
}

fn shorten(bytes: &[u8]) -> String {
    const SHOWN: usize = 20_000;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned();
    match bytes.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{text}\n... {more} bytes more\n"),
        _ => text,
    }
}
