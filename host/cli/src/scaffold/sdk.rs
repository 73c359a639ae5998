//! The SDK for Rust as files: it is on no registry, so a project brings its copy along.

use include_dir::{Dir, include_dir};

use super::{File, template::Fields};

static SOURCE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../policy-guest/src");
const MANIFEST: &str = include_str!("../../templates/sdk/Cargo.toml");

/// The crate that the SDK itself is built on, as the workspace has it; a test holds the two together.
pub(super) const WIT_BINDGEN: &str = "0.61.1";

/// Where the copy is.
pub(super) const FOLDER: &str = "sdk/jp-policy-guest";

/// The end of the SDK's `lib.rs`: the guide is not in the copy.
const GUIDE: &str = r#"
/// The author's guide: its snippets compile.
#[cfg(doctest)]
#[doc = include_str!("../../policies/README.md")]
struct Guide;
"#;

pub(super) fn files(fields: &Fields) -> Vec<File> {
    let mut files = vec![File::new(format!("{FOLDER}/Cargo.toml"), fields.fill(MANIFEST))];
    for file in SOURCE.files() {
        let path = format!("{FOLDER}/src/{}", file.path().display());
        match file.contents_utf8() {
            Some(text) => files.push(File::new(path, text.replace(GUIDE, ""))),
            None => files.push(File::new(path, file.contents())),
        }
    }
    files
}
