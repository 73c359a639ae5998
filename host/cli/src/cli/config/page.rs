//! Rows of names and values that fit the terminal.

use std::io::Write as _;

use anstyle::Style;
use anyhow::Result;
use jp_policy_config::Place;
use serde_json::{Value as Json, json};

use crate::cli::layout::wrapped;

/// Of what stands over a column or before a value.
pub(super) const NAME: Style = Style::new().dimmed();
pub(super) const TITLE: Style = Style::new().bold();

/// `name  value`, with the value's words on as many lines as they need, under each other.
pub(super) fn row(name: &str, indent: usize, value: &str, width: usize) -> String {
    let value = wrapped(value.split(' '), indent, indent, width);
    let gap = indent.saturating_sub(console::measure_text_width(name));
    format!("{name}{}{value}\n", " ".repeat(gap))
}

/// Writes text for people, with styles where they are wanted.
pub(super) fn print(text: &str) -> Result<()> {
    Ok(write!(anstream::stdout().lock(), "{text}")?)
}

/// A place as JSON.
pub(super) fn place(place: &Place) -> Json {
    let (line, column) = place.line_column();
    json!({ "path": place.source.path().to_string_lossy(), "line": line, "column": column })
}
