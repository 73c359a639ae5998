//! All files of a project.

use std::path::PathBuf;

use include_dir::{Dir, include_dir};

use super::{
    Name, Origin, sdk,
    template::{self, Fields},
};
use crate::build::{Language, tools::pinned};

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path from the project's folder.
    pub path: PathBuf,
    /// What is in it.
    pub contents: Vec<u8>,
}

/// What a project starts with.
#[derive(Debug, Clone)]
pub struct Start {
    /// The policy's name.
    pub name: Name,
    /// What it is written in.
    pub language: Language,
    /// The policy it begins as; none: the default rules with one idea more.
    pub origin: Option<Origin>,
}

/// What wit-bindgen has made of the contract for C, and componentize-py for Python.
static C_BINDINGS: [(&str, &[u8]); 3] = [
    (
        "release_policy_plugin.c",
        include_bytes!("../../../../policies/delay-c/bindings/release_policy_plugin.c"),
    ),
    (
        "release_policy_plugin.h",
        include_bytes!("../../../../policies/delay-c/bindings/release_policy_plugin.h"),
    ),
    (
        "release_policy_plugin_component_type.o",
        include_bytes!(
            "../../../../policies/delay-c/bindings/release_policy_plugin_component_type.o"
        ),
    ),
];
static PYTHON_BINDINGS: Dir<'_> =
    include_dir!("$CARGO_MANIFEST_DIR/../../policies/delay-python/bindings");

impl File {
    pub(super) fn new(path: impl Into<PathBuf>, contents: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), contents: contents.into() }
    }
}

impl Start {
    /// The command that runs the unit tests, in the project's folder.
    #[must_use]
    pub fn test_command(&self) -> &'static str {
        match self.language {
            Language::Rust => "cargo test",
            Language::JavaScript => "node --test",
            Language::Python => "python3 -m unittest",
            Language::C => "cc -std=c2x -Ibindings test_policy.c -o test_policy && ./test_policy",
        }
    }
}

/// All files of a project, sorted.
pub fn files(start: &Start) -> Vec<File> {
    let Start { name, language, origin } = start;
    let fields = Fields::new(name);
    let mut files = match origin {
        Some(origin) => {
            let mut files = origin.source(*language, name, &fields);
            files.extend(origin.scenarios(name, &fields));
            files
        }
        None => {
            let mut files = template::folder(template::language(*language), "", &fields);
            files.extend(template::folder("scenarios", "scenarios/", &fields));
            files
        }
    };
    match language {
        Language::Rust => files.extend(sdk::files(&fields)),
        Language::JavaScript => {
            files.push(File::new(
                "package.json",
                fields.fill(template::text("javascript/package.json")),
            ));
        }
        Language::Python => {
            files.push(File::new(
                "requirements.txt",
                fields.fill(template::text("python/requirements.txt")),
            ));
            collect(&PYTHON_BINDINGS, &mut files);
        }
        Language::C => {
            files.push(File::new(
                "requirements.txt",
                fields.fill(template::text("c/requirements.txt")),
            ));
            let bindings = C_BINDINGS.iter();
            files.extend(
                bindings.map(|(path, bytes)| File::new(format!("bindings/{path}"), *bytes)),
            );
        }
    }
    files.push(File::new(".gitignore", ignored(start)));
    files.push(File::new("README.md", readme(start, fields)));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    files
}

/// Only sources: the interpreter leaves compiled modules beside them.
fn collect(dir: &Dir<'static>, into: &mut Vec<File>) {
    let sources = dir.files().filter(|file| file.path().extension().is_some_and(|it| it == "py"));
    into.extend(
        sources.map(|file| File::new(PathBuf::from("bindings").join(file.path()), file.contents())),
    );
    for dir in dir.dirs() {
        collect(dir, into);
    }
}

fn ignored(start: &Start) -> String {
    let name = &start.name;
    // What is not the same from build to build is nothing to keep.
    let component = format!("/{name}.wasm\n/{name}.built.toml\n");
    let own = match start.language {
        Language::Rust => "/target\n".to_owned(),
        Language::JavaScript => format!("/node_modules\n{component}"),
        Language::Python => format!("/.venv\n__pycache__\n{component}"),
        Language::C => "/.venv\n/test_policy\n".to_owned(),
    };
    format!("{own}/refuted.toml\n")
}

fn readme(start: &Start, fields: Fields) -> String {
    let Start { name, language, origin } = start;
    let version = env!("CARGO_PKG_VERSION");
    let about = match origin {
        None => "The default rules, and no more than `AT_ONCE` executions at once, over all keys: an idea to change first.".to_owned(),
        Some(Origin::Default) => "The default rules: key, limit and written order.".to_owned(),
        Some(origin) => format!(
            "It begins as `{}`, a policy that comes with jp-policy; what that does stands at the end.",
            origin.name()
        ),
    };
    let scenario = match origin {
        None => "at-once.toml",
        Some(Origin::Default) => "order.toml",
        Some(Origin::Delay) => "from-start.toml",
        Some(Origin::Backoff) => "grows-and-shrinks.toml",
        Some(Origin::Cap) => "slow-key.toml",
        Some(Origin::Paths) => "folder-above.toml",
        Some(Origin::Shortest) => "lightest-first.toml",
    };
    let rows = match language {
        Language::Rust => format!(
            "| `src/lib.rs` | the policy |\n| `src/tests.rs` | its unit tests |\n| `{}` | the SDK, a copy |",
            sdk::FOLDER
        ),
        Language::JavaScript => {
            "| `policy.js` | the policy |\n| `policy.test.js` | its unit tests |\n| `package.json` | the version of componentize-qjs, which makes the component |".to_owned()
        }
        Language::Python => {
            "| `policy.py` | the policy |\n| `test_policy.py` | its unit tests |\n| `requirements.txt` | the version of componentize-py, which makes the component |\n| `bindings` | the contract's types, for an editor and the unit tests: made by componentize-py, which has its own when it builds |".to_owned()
        }
        Language::C => {
            let header = if origin.is_none() { "\n| `bindings/jp_policy.h` | the default rules, and what refuses unknown settings |" } else { "" };
            format!("| `policy.c` | the policy |\n| `test_policy.c` | its unit tests |\n| `bindings` | the contract in C, made by wit-bindgen: what is in there is linked with the policy |{header}\n| `requirements.txt` | the version of zig, which is a C compiler with a library for WebAssembly |")
        }
    };
    let mut notes = match language {
        Language::Rust => format!(
            "\n## The SDK\n\n`{}` is a copy of the SDK of jp-policy {version}, since that is on no registry. To follow jp-policy instead, remove \
             the folder and have\n\n```toml\njp-policy-guest = {{ path = \"../jp-policy/policy-guest\" }}\n```\n\nin `Cargo.toml`, with the path of a \
             clone, or `git = \"...\"` with its address.\nKeep `Cargo.lock`: with the same compiler it makes the same bytes.\n",
            sdk::FOLDER
        ),
        Language::JavaScript => format!(
            "\nTwo builds of one source differ in their bytes, so the component is not kept in git. `npm install` brings \
             componentize-qjs {}.\n",
            pinned("componentize-qjs")
        ),
        Language::Python => format!(
            "\nTwo builds of one source differ in their bytes, so the component is not kept in git.\n\
             `python3 -m venv .venv && .venv/bin/pip install -r requirements.txt` brings componentize-py {}.\n",
            pinned("componentize-py")
        ),
        Language::C => format!(
            "\n`python3 -m venv .venv && .venv/bin/pip install -r requirements.txt` brings zig {}; a clang with wasi-libc does as well.\n",
            pinned("ziglang")
        ),
    };
    if let Some(origin) = origin.filter(|origin| origin.folder().is_some()) {
        let page = origin.page(name);
        notes += &format!("\n# The page of `{}`\n\n{page}\n", origin.name());
    }
    let files = format!("{rows}\n| `scenarios` | what should come of batches, in virtual time |");
    let fields = fields
        .and("about", about)
        .and("test", start.test_command())
        .and("scenario", scenario)
        .and("files", files)
        .and("notes", notes);
    fields.fill(template::text("README.md"))
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
