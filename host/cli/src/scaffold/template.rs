//! The templates: files of a folder, with `{{...}}` filled in.

use std::path::Path;

use include_dir::{Dir, include_dir};

use super::{File, Name};
use crate::build::{layout::may_hold_source, tools::pinned};

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// The templates' name of a manifest: cargo packages no folder that has a `Cargo.toml` of its own.
const MANIFEST: &str = "manifest.toml";

/// The crate that the SDK is built on, as the workspace has it; a test holds the two together.
pub(super) const WIT_BINDGEN: &str = "0.61.1";

/// What is put in for `{{...}}`.
pub(super) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    pub(super) fn new(name: &Name) -> Self {
        let pinned = ["componentize-qjs", "componentize-py", "ziglang"]
            .map(|package| (package, pinned(package).to_owned()));
        let mut fields = vec![
            ("name", name.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("wit-bindgen", WIT_BINDGEN.to_owned()),
        ];
        fields.extend(pinned);
        Self(fields)
    }

    pub(super) fn with(mut self, field: &'static str, value: impl Into<String>) -> Self {
        self.0.push((field, value.into()));
        self
    }

    pub(super) fn fill(&self, text: &str) -> String {
        let filled = |text: String, (field, value): &(&str, String)| {
            text.replace(&format!("{{{{{field}}}}}"), value)
        };
        self.0.iter().fold(text.to_owned(), filled)
    }
}

/// The text of a template, if there is one at this path.
pub(super) fn text(path: &str) -> Option<&'static str> {
    TEMPLATES.get_file(path)?.contents_utf8()
}

/// Whether there is a folder of templates.
pub(super) fn has_folder(path: &str) -> bool {
    TEMPLATES.get_dir(path).is_some()
}

/// All files of a folder of templates and the folders in it, filled in; none if there is no such folder. Their paths are from
/// `root`, which is the folder or one above.
pub(super) fn folder(path: &str, root: &str, fields: &Fields) -> Vec<File> {
    let mut files = Vec::new();
    if let Some(dir) = TEMPLATES.get_dir(path) {
        collect(dir, &mut |path, contents| {
            let path = path.strip_prefix(root).unwrap_or(path);
            let path = if path.ends_with(MANIFEST) {
                path.with_file_name("Cargo.toml")
            } else {
                path.to_owned()
            };
            files.push(File::new(path, contents).map_text(|text| fields.fill(text)));
        });
    }
    files
}

fn collect(dir: &Dir<'static>, found: &mut impl FnMut(&Path, &'static [u8])) {
    for file in dir.files() {
        found(file.path(), file.contents());
    }
    for dir in dir.dirs() {
        // Tools may have left things in the folders that the templates link to.
        let name = dir.path().file_name().unwrap_or_default();
        if may_hold_source(&name.to_string_lossy()) {
            collect(dir, found);
        }
    }
}
