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

    /// Points at a place.
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

/// A longer name was not typed, so it is no slip either; and to compare two names costs the product of their lengths.
const LONGEST_TYPED: usize = 200;

/// The nearest of `known` to a misspelt `name`, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > LONGEST_TYPED {
        return None;
    }
    let bound = length.div_ceil(3).min(3);
    known
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= bound)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= bound)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours between two names (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_what_was_meant_and_nothing_far() {
        let known = ["concurrency", "command", "fan_out", "run"];
        assert_eq!(nearest("concurency", known), Some("concurrency"));
        assert_eq!(nearest("fanout", known), Some("fan_out"));
        assert_eq!(nearest("rnu", known), Some("run"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest("", known), None);
    }

    /// Found by the fuzzer: a table of the product of both lengths.
    #[test]
    fn names_of_any_length_are_compared_at_once() {
        let long = "x".repeat(1 << 20);
        let longer = format!("{long}x");
        assert_eq!(nearest(&longer, [long.as_str(), "x"]), None);
        assert_eq!(nearest("xy", [long.as_str(), "x"]), Some("x"));
    }
}
