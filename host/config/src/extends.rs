//! `extends`: files that a file brings along.

use std::path::{Component, Path, PathBuf};

use jp_policy_core::text::clean_path;

use super::{
    diagnostic::Diagnostic,
    files::is_configuration,
    format,
    node::{Node, Value},
    reader::{Reader, wrong_kind},
    source::{Place, Source},
    spec::{FieldType, Required, Table as _, Word, Words, table},
};

table! {
    struct ExtendsTable "ExtendsEntry" {
        /// A path, or a pattern.
        path: Required<String>,
        /// Whether this file lies over it (`before`, the default) or it over this file (`after`).
        strategy: Word<Strategy>,
    }
}

/// Where a file that is brought along is laid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strategy {
    /// Under the file that brings it along.
    Before,
    /// Over it.
    After,
}

impl Words for Strategy {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "Strategy";
    const WORDS: &'static [(&'static str, Self, &'static str)] =
        &[("before", Self::Before, ""), ("after", Self::After, "")];
}

impl FieldType for Vec<Extends> {}

#[cfg(feature = "schema")]
super::spec::any_of! {
    Extends, "Extends",
    "A file that is brought along.",
    [String: "Laid under this file.", ExtendsTable: "Laid under or over this file."]
}

/// Files that are read for one that was asked for. More is a pattern that catches a whole disk, or files that bring each other
/// along again and again.
const MOST_FILES: usize = 10_000;

/// How far files may bring files along, as in jp.
const DEEPEST: usize = 255;

/// Reads a file and what it extends, each file in the order in which it is to be laid over those before it.
pub(super) fn read_with_extends(source: &Source, problems: &mut Vec<Diagnostic>) -> Vec<Node> {
    let mut walk = Walk { open: Vec::new(), documents: Vec::new(), full: false, problems };
    walk.file(source, None);
    walk.documents
}

struct Walk<'a> {
    /// The files that are being read, the outermost first.
    open: Vec<PathBuf>,
    documents: Vec<Node>,
    /// There were too many, and that was said.
    full: bool,
    problems: &'a mut Vec<Diagnostic>,
}

/// An entry of `extends`.
pub(super) struct Extends {
    pattern: String,
    place: Place,
    after: bool,
}

impl Walk<'_> {
    fn file(&mut self, source: &Source, by: Option<&Place>) {
        let path = source.path().canonicalize().unwrap_or_else(|_| source.path().to_owned());
        if let Some(by) = by {
            if self.open.contains(&path) {
                let mut cycle: Vec<String> =
                    self.open.iter().map(|path| format!("`{}`", clean_path(path))).collect();
                cycle.push(format!("`{}`", clean_path(&path)));
                self.problems.push(
                    Diagnostic::error(format!("files extend each other: {}", cycle.join(" -> ")))
                        .at(by, "leads back to a file that is being read"),
                );
                return;
            }
            if self.full {
                return;
            }
            if self.open.len() >= DEEPEST || self.documents.len() >= MOST_FILES {
                self.full = true;
                self.problems.push(
                    Diagnostic::error(format!(
                        "`extends` brings along too much: more than {MOST_FILES} files, or more than {DEEPEST} one by the other"
                    ))
                    .at(by, "not followed"),
                );
                return;
            }
        }
        let document = format::parse(source, self.problems);
        let (before, after): (Vec<_>, Vec<_>) =
            self.extends(&document).into_iter().partition(|extended| !extended.after);
        self.open.push(path);
        for extended in before {
            self.extended(source, &extended);
        }
        self.documents.push(document);
        for extended in after {
            self.extended(source, &extended);
        }
        self.open.pop();
    }

    /// The entries of `extends`. It stays in the document, which is checked as a whole later.
    fn extends(&mut self, document: &Node) -> Vec<Extends> {
        let Value::Table(table) = &document.value else {
            return Vec::new();
        };
        let Some(node) = table.get("extends").map(|entry| &entry.node) else {
            return Vec::new();
        };
        let items = match &node.value {
            Value::Null => return Vec::new(),
            Value::Array(items) => items,
            other => {
                let expected = "a list of paths";
                self.problems.push(wrong_kind("`extends`", expected, other, &node.place));
                return Vec::new();
            }
        };
        items.iter().filter_map(|item| self.entry(item)).collect()
    }

    fn entry(&mut self, item: &Node) -> Option<Extends> {
        let place = item.place.clone();
        match &item.value {
            Value::String(path) => Some(Extends { pattern: path.clone(), place, after: false }),
            Value::Table(_) => {
                let mut reader = Reader::new("`extends`", item.clone(), self.problems)?;
                let ExtendsTable { path, strategy } = ExtendsTable::take(&mut reader);
                if path.is_none() {
                    reader.problems.push(
                        Diagnostic::error("`extends` has an entry without `path`")
                            .at(&place, "expected `path = \"...\"`"),
                    );
                }
                reader.finish();
                let path = path?;
                Some(Extends {
                    pattern: path.value,
                    place: path.place,
                    after: strategy.is_some_and(|strategy| strategy.value == Strategy::After),
                })
            }
            other => {
                let expected = "a path or a table { path, strategy }";
                self.problems.push(wrong_kind("`extends`", expected, other, &place));
                None
            }
        }
    }

    fn extended(&mut self, source: &Source, extended: &Extends) {
        let Extends { pattern, place, .. } = extended;
        if !pattern.contains(['*', '?', '[']) {
            let path = join(source.folder(), pattern);
            match Source::file(&path) {
                Ok(source) => self.file(&source, Some(place)),
                Err(problem) if path.exists() => {
                    self.problems.push(problem.at(place, "extended here"));
                }
                Err(_) => self.problems.push(
                    Diagnostic::warning(format!(
                        "`extends` names `{}`, which is not there",
                        clean_path(&path)
                    ))
                    .at(place, "no such file"),
                ),
            }
            return;
        }
        // Only what the file says is a pattern, not the folder it happens to lie in.
        let folder = glob::Pattern::escape(&source.folder().to_string_lossy());
        let whole = join(Path::new(&folder), pattern);
        let found = match glob::glob(&whole.to_string_lossy()) {
            Ok(found) => found,
            Err(error) => {
                self.problems.push(
                    Diagnostic::error(format!(
                        "`extends` has a pattern that can't be read: {}",
                        error.msg
                    ))
                    .at(place, "expected a path, with `*`, `**`, `?` or `[...]` in it"),
                );
                return;
            }
        };
        for path in found {
            match path {
                Ok(path) if !path.is_file() || !is_configuration(&path) => {}
                Ok(path) => match Source::file(&path) {
                    Ok(source) => self.file(&source, Some(place)),
                    Err(problem) => self.problems.push(problem.at(place, "extended here")),
                },
                Err(error) => self.problems.push(
                    Diagnostic::warning(format!("`extends` leaves something out: {error}"))
                        .at(place, "can't be looked into"),
                ),
            }
        }
    }
}

/// A path that is relative to a folder even if it begins with a slash, without `.` and `..` where they only lead about.
fn join(folder: &Path, path: &str) -> PathBuf {
    let mut joined = folder.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => joined.push(name),
            // Out of `..`, and out of a folder that is a link, it leads elsewhere than to where we came from; the file system knows.
            Component::ParentDir => joined.push(".."),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    match joined.strip_prefix(".") {
        Ok(short) if short.components().next().is_some() => short.to_owned(),
        _ => joined,
    }
}
