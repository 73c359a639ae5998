//! The files of a project that starts with an idea of its own: the default rules, and one thing more.

use include_dir::{Dir, include_dir};

use super::{File, Name, sdk};
use crate::build::{Language, tools::pinned};

pub(super) static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// What is put in for `{{...}}`.
pub(super) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    pub(super) fn new(name: &Name) -> Self {
        let pinned = ["componentize-qjs", "componentize-py", "ziglang"]
            .map(|package| (package, pinned(package).to_owned()));
        let mut fields = vec![
            ("name", name.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("wit-bindgen", sdk::WIT_BINDGEN.to_owned()),
        ];
        fields.extend(pinned);
        Self(fields)
    }

    pub(super) fn and(mut self, field: &'static str, value: impl Into<String>) -> Self {
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

/// A text of the templates.
pub(super) fn text(path: &str) -> &'static str {
    TEMPLATES.get_file(path).and_then(|file| file.contents_utf8()).unwrap_or_default()
}

/// All files of a folder of templates and the folders in it, filled in.
pub(super) fn folder(path: &str, into: &str, fields: &Fields) -> Vec<File> {
    let mut files = Vec::new();
    if let Some(dir) = TEMPLATES.get_dir(path) {
        collect(dir, &mut |name, contents| {
            let name = name.strip_prefix(path).unwrap_or(name).trim_start_matches('/');
            files.push(File::new(format!("{into}{name}"), fields.fill(contents)));
        });
    }
    files
}

fn collect(dir: &Dir<'static>, found: &mut impl FnMut(&str, &str)) {
    for file in dir.files() {
        if let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8()) {
            found(path, text);
        }
    }
    for dir in dir.dirs() {
        collect(dir, found);
    }
}

/// The folder of a language's templates.
pub(super) fn language(language: Language) -> &'static str {
    match language {
        Language::Rust => "rust",
        Language::JavaScript => "javascript",
        Language::Python => "python",
        Language::C => "c",
    }
}
