//! A difference between what a scenario expects and what happened.

use std::fmt;

/// Something that came out differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Which field of `expect`.
    pub what: String,
    /// What it says.
    pub expected: String,
    /// What happened.
    pub actual: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:\n  expected  {}\n  actual    {}", self.what, self.expected, self.actual)
    }
}

/// Whether two texts are the same but for their blanks.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}
