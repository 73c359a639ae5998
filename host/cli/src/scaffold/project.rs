//! All files of a project.

use super::{
    File, Name, Origin,
    language::guide,
    template::{self, Fields},
};
use crate::build::{
    Language,
    layout::{REFUTED, SCENARIOS, component_file, record_file},
};

/// A project that is to be written.
#[derive(Debug, Clone)]
pub struct NewProject {
    /// The policy's name.
    pub name: Name,
    /// What it is written in.
    pub language: Language,
    /// The policy that it begins as.
    pub origin: Origin,
}

impl NewProject {
    /// The command that runs the unit tests, in the project's folder.
    #[must_use]
    pub fn test_command(&self) -> &'static str {
        guide(self.language).test_command
    }

    /// All files, sorted.
    pub fn files(&self) -> Vec<File> {
        let Self { name, language, origin } = self;
        let fields = Fields::new(name);
        let common = format!("common/{}", language.id());
        let mut files = origin.files(*language, name, &fields);
        files.extend(template::folder(&common, &common, &fields));
        files.push(File::new(".gitignore", self.gitignore()));
        files.push(File::new("README.md", self.readme(&files, fields)));
        // Where both have a file, the origin's comes first.
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        files
    }

    fn gitignore(&self) -> String {
        let mut ignored = guide(self.language).ignored.to_owned();
        // A component that differs from build to build is not worth keeping.
        if !self.language.is_reproducible() {
            let name = self.name.as_str();
            ignored += &format!("/{}\n/{}\n", component_file(name), record_file(name));
        }
        ignored + &format!("/{REFUTED}\n")
    }

    fn readme(&self, files: &[File], fields: Fields) -> String {
        let Self { name, language, origin } = self;
        let about = origin.about.map_or_else(
            || {
                format!(
                    "It begins as `{}`, a policy that comes with jp-policy; what that does stands at the end.",
                    origin.name
                )
            },
            str::to_owned,
        );
        let guide = guide(*language);
        let scenarios = (SCENARIOS, "what should come of batches, in virtual time");
        let rows = guide.files.iter().chain([&scenarios]);
        let rows = rows.filter(|(path, _)| files.iter().any(|file| file.path.starts_with(path)));
        let rows: Vec<_> = rows.map(|(path, what)| format!("| `{path}` | {what} |")).collect();
        let notes = template::text(&format!("notes/{}.md", language.id())).unwrap_or_default();
        let mut notes = fields.fill(notes);
        if let Some(page) = origin.page(name) {
            notes += &format!("\n# The page of `{}`\n\n{page}\n", origin.name);
        }
        fields
            .with("about", about)
            .with("test", guide.test_command)
            .with("scenario", origin.scenario)
            .with("files", rows.join("\n"))
            .with("notes", notes)
            .fill(template::text("README.md").unwrap_or_default())
    }
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
