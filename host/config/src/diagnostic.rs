//! What is wrong with a configuration, and where: data, to be shown by whoever asked.

use std::fmt;

use super::source::Place;

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The configuration can't be used.
    Error,
    /// It can, but is probably not what was meant.
    Warning,
}

/// One thing that is wrong.
///
/// ```
/// use jp_policy_config::{Diagnostic, Place, Source};
///
/// let place = Place { source: Source::new("a.toml", "run = 'asc'"), span: 6..11 };
/// let wrong = Diagnostic::error("tool `a`: no such word").at(&place, "this one").help("did you mean \"ask\"?");
/// assert_eq!(
///     wrong.to_string(),
///     "a.toml:1:7: error: tool `a`: no such word\n  a.toml:1:7: this one\n  help: did you mean \"ask\"?"
/// );
/// ```
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong; names the tool and the field.
    pub message: String,
    /// The places it is about, the first the most telling one, each with a few words of its own.
    pub labels: Vec<(Place, String)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// Points at a place, with a few words about it; the first place is the one that is shown in front.
    #[must_use]
    pub fn at(mut self, place: &Place, label: impl Into<String>) -> Self {
        self.labels.push((place.clone(), label.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// One line a place, without pictures: `path:line:column: error: message`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((place, _)) = self.labels.first() {
            write!(f, "{place}: ")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.message)?;
        for (place, label) in self.labels.iter().filter(|(_, label)| !label.is_empty()) {
            write!(f, "\n  {place}: {label}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// A configuration that can't be used: everything that is wrong with it, warnings included.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError(pub Vec<Diagnostic>);
