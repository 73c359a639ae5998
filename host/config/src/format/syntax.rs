//! What the formats share: the bound of nesting, and the words for what can't be parsed.

use std::ops::Range;

use jp_policy_core::text::clean_path;

use crate::{
    diagnostic::Diagnostic,
    source::{Place, Source},
};

/// Deeper than this no configuration is nested, and everything that walks through a tree does so on the stack.
pub(super) const DEEPEST: usize = 100;

/// A document can't be parsed.
pub(super) fn invalid(
    source: &Source,
    format: &str,
    message: &str,
    span: Range<usize>,
) -> Diagnostic {
    Diagnostic::error(format!("`{}` is not valid {format}: {message}", clean_path(source.path())))
        .at(&Place { source: source.clone(), span }, "here")
}

/// A name stands in a table twice.
pub(super) fn set_twice(format: &str, name: &str, first: &Place, again: &Place) -> Diagnostic {
    Diagnostic::error(format!(
        "`{}` is not valid {format}: `{}` is set twice",
        clean_path(again.source.path()),
        name.escape_debug()
    ))
    .at(again, "set again")
    .at(first, "first set here")
}
