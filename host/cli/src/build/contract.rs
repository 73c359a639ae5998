//! The contract as files, for the tools that make bindings of it while they build.

use std::{io, path::Path};

use include_dir::{Dir, include_dir};

static WIT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../wit/jp-plugin-0.1.0");

/// The world that a policy fills: with reasons of its own if its source has something of this name.
pub(super) fn world(source: &str, reasons: &str) -> &'static str {
    if source.contains(reasons) {
        "explaining-release-policy-plugin"
    } else {
        "release-policy-plugin"
    }
}

/// Writes it into a folder, which is made.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    WIT.extract(folder)
}
