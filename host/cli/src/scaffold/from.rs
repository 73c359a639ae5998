//! The policies that come with the project, as files to start from under another name.

use include_dir::{Dir, include_dir};

use super::{
    File, Name, sdk,
    template::{self, Fields},
};
use crate::build::Language;

/// A policy of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The default rules.
    Default,
    /// Pauses between the executions of a key.
    Delay,
    /// Pauses that grow with failures.
    Backoff,
    /// A cap on all executions.
    Cap,
    /// Locks by the paths among the arguments.
    Paths,
    /// Short calls first.
    Shortest,
}

static DELAY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../policies/delay");
static BACKOFF: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../policies/backoff");
static CAP: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../policies/cap");
static PATHS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../policies/paths");
static SHORTEST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../policies/shortest");

/// The same policy in other languages, file by file: tools may have been installed into these folders.
const DELAY_JS: [(&str, &str); 2] = [
    ("policy.js", include_str!("../../../../policies/delay-js/policy.js")),
    ("policy.test.js", include_str!("../../../../policies/delay-js/policy.test.js")),
];
const DELAY_PYTHON: [(&str, &str); 2] = [
    ("policy.py", include_str!("../../../../policies/delay-python/policy.py")),
    ("test_policy.py", include_str!("../../../../policies/delay-python/test_policy.py")),
];
const DELAY_C: [(&str, &str); 2] = [
    ("policy.c", include_str!("../../../../policies/delay-c/policy.c")),
    ("test_policy.c", include_str!("../../../../policies/delay-c/test_policy.c")),
];

/// The module of a policy's tests that needs the test kit, which a project does not have.
const KIT: &str = "\n#[cfg(test)]\nmod kit;\n";

impl Origin {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::Delay, Self::Backoff, Self::Cap, Self::Paths, Self::Shortest];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Delay => "delay",
            Self::Backoff => "backoff",
            Self::Cap => "cap",
            Self::Paths => "paths",
            Self::Shortest => "shortest",
        }
    }

    /// Whether it is there in a language.
    #[must_use]
    pub fn is_in(self, language: Language) -> bool {
        language == Language::Rust || self == Self::Delay
    }

    /// Its folder; the default rules are the SDK's, so their project is a template.
    pub(super) fn folder(self) -> Option<&'static Dir<'static>> {
        match self {
            Self::Default => None,
            Self::Delay => Some(&DELAY),
            Self::Backoff => Some(&BACKOFF),
            Self::Cap => Some(&CAP),
            Self::Paths => Some(&PATHS),
            Self::Shortest => Some(&SHORTEST),
        }
    }

    /// Its source and its unit tests.
    pub(super) fn source(self, language: Language, name: &Name, fields: &Fields) -> Vec<File> {
        let renamed = |(path, text): &(&str, &str)| File::new(*path, self.rename(text, name));
        match (language, self.folder()) {
            (Language::JavaScript, _) => DELAY_JS.iter().map(renamed).collect(),
            (Language::Python, _) => DELAY_PYTHON.iter().map(renamed).collect(),
            (Language::C, _) => DELAY_C.iter().map(renamed).collect(),
            (Language::Rust, None) => {
                let manifest = fields.fill(template::text("rust/Cargo.toml"));
                let mut files = template::folder("rust-default", "", fields);
                files.push(File::new("Cargo.toml", manifest));
                files
            }
            (Language::Rust, Some(folder)) => {
                let manifest = manifest(text(folder, "Cargo.toml"), fields);
                let mut files = vec![File::new("Cargo.toml", manifest)];
                let source = folder.get_dir("src").into_iter().flat_map(Dir::files);
                for file in source.filter(|file| !file.path().ends_with("kit.rs")) {
                    let text = file.contents_utf8().unwrap_or_default().replace(KIT, "");
                    files.push(File::new(
                        file.path().display().to_string(),
                        self.rename(&text, name),
                    ));
                }
                files
            }
        }
    }

    /// Its scenarios.
    pub(super) fn scenarios(self, name: &Name, fields: &Fields) -> Vec<File> {
        let Some(folder) = self.folder() else {
            let all = template::folder("scenarios", "scenarios/", fields);
            return all.into_iter().filter(|file| !file.path.ends_with("at-once.toml")).collect();
        };
        let scenarios = folder.get_dir("scenarios").into_iter().flat_map(Dir::files);
        scenarios
            .map(|file| {
                let text = self.rename(file.contents_utf8().unwrap_or_default(), name);
                File::new(file.path().display().to_string(), text)
            })
            .collect()
    }

    /// What its page says, with the project's names and without links that lead out of the project.
    pub(super) fn page(self, name: &Name) -> String {
        let Some(folder) = self.folder() else {
            return String::new();
        };
        let page = text(folder, "README.md");
        let (_, page) = page.split_once('\n').unwrap_or_default();
        // What other languages cost is no matter of this one.
        let (page, _) = page.split_once("\n## In other languages").unwrap_or((page, ""));
        unlinked(&self.rename(page, name)).trim().to_owned()
    }

    /// The text with its name where it stands for the policy, and not for a field or an option.
    fn rename(self, text: &str, name: &Name) -> String {
        let old = self.name();
        [
            (
                format!("const NAME: &'static str = \"{old}\""),
                format!("const NAME: &'static str = \"{name}\""),
            ),
            (format!("name: () => \"{old}\""), format!("name: () => \"{name}\"")),
            (format!("        return \"{old}\""), format!("        return \"{name}\"")),
            (format!("string_dup(name, \"{old}\")"), format!("string_dup(name, \"{name}\")")),
            (format!("policy = \"{old}\""), format!("policy = \"{name}\"")),
            (format!("policy \"{old}\""), format!("policy \"{name}\"")),
            (format!("[plugins.wasm.{old}]"), format!("[plugins.wasm.{name}]")),
            (format!("../../{old}.wasm"), format!("../{name}.wasm")),
            (format!("policies/{old}.wasm"), format!("{name}.wasm")),
            (format!("policies/{old}/"), String::new()),
        ]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

/// Its manifest in a workspace of its own, with the copy of the SDK.
fn manifest(manifest: &str, fields: &Fields) -> String {
    let (_, rest) = manifest.split_once("[lib]").unwrap_or_default();
    let template = fields.fill(template::text("rust/Cargo.toml"));
    let (package, _) = template.split_once("[lib]").unwrap_or_default();
    let sdk = format!("jp-policy-guest = {{ path = \"{}\" }}", sdk::FOLDER);
    let lines = rest.lines().filter(|line| !line.starts_with("jp-policy-testing"));
    let lines =
        lines.map(|line| if line.starts_with("jp-policy-guest") { sdk.as_str() } else { line });
    let rest = lines.collect::<Vec<_>>().join("\n");
    let rest = rest.trim_end().trim_end_matches("[dev-dependencies]").trim_end();
    format!("{package}[lib]{rest}\n\n[workspace]\n")
}

/// A file's text.
fn text(folder: &'static Dir<'static>, name: &str) -> &'static str {
    // Files know their path from the folder that was embedded.
    folder.get_file(name).and_then(|file| file.contents_utf8()).unwrap_or_default()
}

/// Markdown with the text alone of links that lead to a folder above.
fn unlinked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(middle) = rest.find("](../") {
        let (before, link) = rest.split_at(middle);
        let (Some(start), Some(end)) = (before.rfind('['), link.find(')')) else {
            break;
        };
        out += &before[..start];
        out += &before[start + 1..];
        rest = &link[end + 1..];
    }
    out + rest
}

#[cfg(test)]
#[path = "from_tests.rs"]
mod tests;
