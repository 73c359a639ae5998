//! What a project begins as: one of the policies that come with the program, under the project's name.

use super::{
    File, Name,
    template::{self, Fields},
};
use crate::build::{Language, layout::SCENARIOS};

/// A policy that a project begins as. Its files are those of `templates/policies/NAME`: a folder for each language, and `scenarios`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The policy's name.
    pub name: &'static str,
    /// The scenario that shows best what it does.
    pub(super) scenario: &'static str,
    /// What it does, in a sentence. `None`: its page tells.
    pub(super) about: Option<&'static str>,
}

/// The test module of a policy that needs the test kit, which a project does not have.
const KIT_MODULE: &str = "\n#[cfg(test)]\nmod kit;\n";
const KIT_FILE: &str = "kit.rs";

impl Origin {
    /// The default rules and one thing more, for a project that begins as no other policy.
    pub const AT_ONCE: Self = Self {
        name: "at-once",
        scenario: "at-once.toml",
        about: Some(
            "The default rules, and no more than `AT_ONCE` executions at once, over all keys: an idea to change first.",
        ),
    };

    /// The policies of the project itself.
    pub const ALL: [Self; 6] = [
        Self {
            name: "default",
            scenario: "order.toml",
            about: Some("The default rules: key, limit and written order."),
        },
        Self { name: "delay", scenario: "from-start.toml", about: None },
        Self { name: "backoff", scenario: "grows-and-shrinks.toml", about: None },
        Self { name: "cap", scenario: "slow-key.toml", about: None },
        Self { name: "paths", scenario: "folder-above.toml", about: None },
        Self { name: "shortest", scenario: "lightest-first.toml", about: None },
    ];

    fn folder(self) -> String {
        format!("policies/{}", self.name)
    }

    /// The languages that it is there in.
    pub fn languages(self) -> impl Iterator<Item = Language> {
        Language::ALL.into_iter().filter(move |&language| self.is_in(language))
    }

    /// Whether it is there in a language.
    #[must_use]
    pub fn is_in(self, language: Language) -> bool {
        template::has_folder(&format!("{}/{}", self.folder(), language.id()))
    }

    /// Its source, its unit tests and its scenarios.
    pub(super) fn files(self, language: Language, name: &Name, fields: &Fields) -> Vec<File> {
        let root = self.folder();
        let source = format!("{root}/{}", language.id());
        let mut files = template::folder(&source, &source, fields);
        files.extend(template::folder(&format!("{root}/{SCENARIOS}"), &root, fields));
        files.retain(|file| !file.path.ends_with(KIT_FILE));
        let own = |file: File| {
            if file.path.ends_with("Cargo.toml") {
                file.map_text(|text| standalone(text, fields))
            } else {
                file.map_text(|text| self.rename(&text.replace(KIT_MODULE, ""), name))
            }
        };
        files.into_iter().map(own).collect()
    }

    /// What its page says, with the project's name and without links that lead out of the project.
    pub(super) fn page(self, name: &Name) -> Option<String> {
        let (_, page) =
            template::text(&format!("{}/README.md", self.folder()))?.split_once('\n')?;
        // Costs in other languages don't belong into a project in one.
        let (page, _) = page.split_once("\n## In other languages").unwrap_or((page, ""));
        Some(unlinked(&self.rename(page, name)).trim().to_owned())
    }

    /// The text with the project's name wherever the policy's stands for the policy, and not for a field or an option.
    fn rename(self, text: &str, name: &Name) -> String {
        let old = self.name;
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

/// A manifest of the workspace for a workspace of its own, with the copy of the SDK.
fn standalone(manifest: &str, fields: &Fields) -> String {
    let template = fields.fill(template::text("common/rust/manifest.toml").unwrap_or_default());
    let (package, dependencies) = template.split_once("[lib]").unwrap_or_default();
    let is_sdk = |line: &&str| line.starts_with("jp-policy-guest");
    let sdk = dependencies.lines().find(is_sdk).unwrap_or_default();
    let (_, rest) = manifest.split_once("[lib]").unwrap_or_default();
    let lines = rest.lines().filter(|line| !line.starts_with("jp-policy-testing"));
    let lines = lines.map(|line| if is_sdk(&line) { sdk } else { line });
    let rest = lines.collect::<Vec<_>>().join("\n");
    let rest = rest.trim_end().trim_end_matches("[dev-dependencies]").trim_end();
    format!("{package}[lib]{rest}\n\n[workspace]\n")
}

/// Markdown without the targets of links that lead to a folder above.
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
#[path = "origin_tests.rs"]
mod tests;
