//! The languages that policies are written in, and what is known of each without its tools.

use std::fmt;

/// What a policy is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A crate on the SDK.
    Rust,
    /// For the QuickJS interpreter.
    JavaScript,
    /// For the CPython interpreter.
    Python,
    /// C, or what else a C compiler takes.
    C,
}

/// One row per language.
struct Traits {
    name: &'static str,
    id: &'static str,
    marker_file: &'static str,
    is_reproducible: bool,
}

impl Language {
    /// All languages, in the order in which a folder is searched for their marker files.
    pub const ALL: [Self; 4] = [Self::Rust, Self::JavaScript, Self::Python, Self::C];

    const fn traits(self) -> Traits {
        let (name, id, marker_file, is_reproducible) = match self {
            Self::Rust => ("Rust", "rust", "Cargo.toml", true),
            Self::JavaScript => ("JavaScript", "javascript", "policy.js", false),
            Self::Python => ("Python", "python", "policy.py", false),
            Self::C => ("C", "c", "policy.c", true),
        };
        Traits { name, id, marker_file, is_reproducible }
    }

    /// The name in lower case, as on the command line and in the folders of the templates.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.traits().id
    }

    /// The file that a folder in this language has.
    #[must_use]
    pub const fn marker_file(self) -> &'static str {
        self.traits().marker_file
    }

    /// Whether the same source and the same tools make the same bytes.
    #[must_use]
    pub const fn is_reproducible(self) -> bool {
        self.traits().is_reproducible
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.traits().name)
    }
}
