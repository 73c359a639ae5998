//! A batch as bars in a terminal: one row a call, waiting and running told apart.

use std::fmt::Write as _;

use jp_policy_core::{record::Record, text::clean};
use unicode_width::UnicodeWidthStr as _;

use super::{
    bars::{Scale, paint},
    summary::CallSummary,
    text::{fit, right},
};

/// The widest terminal that is used up: wider bars tell no more.
pub(super) const WIDEST: usize = 160;

/// The narrowest terminal that is kept to.
const NARROWEST: usize = 36;

/// Rows of a long batch; of what is longer, the first and the last ones are shown.
pub(super) const ROWS: usize = 60;

/// The label's share of a wide terminal.
pub(super) const LABEL: usize = 32;

/// Columns of a terminal on which waiting times are left out.
pub(super) const NARROW: usize = 72;

/// Draws the record for a terminal of this width, with colours as ANSI sequences where `styled`.
pub fn timeline(record: &Record, width: usize, styled: bool) -> String {
    timeline_of(record, width, styled, ROWS)
}

/// The same in at most so many rows, an even number: of what is longer, the first and the last calls are shown.
pub fn timeline_of(record: &Record, width: usize, styled: bool, rows: usize) -> String {
    let width = width.clamp(NARROWEST, WIDEST);
    let labels: Vec<String> = (1..)
        .zip(&record.calls)
        .map(|(place, call)| format!("{place} {}", clean(&call.label)))
        .collect();
    let label =
        labels.iter().map(|label| label.width()).max().unwrap_or(0).min(LABEL.min(width / 3));
    let summaries: Vec<CallSummary> = record.calls.iter().map(CallSummary::new).collect();
    let widest = |of: fn(&CallSummary) -> &str, least: usize| {
        summaries.iter().map(|call| of(call).width()).max().unwrap_or(0).max(least)
    };
    let ran = widest(|call| &call.ran, 3);
    let outcome = widest(|call| call.outcome, 0);
    // On a narrow terminal the bars are worth more than the exact waiting.
    let waited = if width < NARROW { 0 } else { widest(|call| &call.waited, 6) + 2 };
    let cells = width.saturating_sub(label + 2 + waited + 2 + ran + 2 + outcome).max(8);
    let scale = Scale { until: record.until.max(1), cells };

    let mut out = String::new();
    let row = |label: &str, bar: &str, columns: [&str; 3]| {
        let [wait, run, outcome] = columns;
        let wait = if waited > 0 { wait } else { "" };
        format!("{label}  {bar}{}  {}  {outcome}", right(wait, waited), right(run, ran))
            .trim_end()
            .to_owned()
            + "\n"
    };
    out += &row(&fit("", label), &fit(&scale.axis(), cells), ["waited", "ran", ""]);
    let hidden = record.calls.len().saturating_sub(rows);
    let gap = rows / 2..rows / 2 + hidden;
    for (place, (call, summary)) in record.calls.iter().zip(&summaries).enumerate() {
        if hidden > 0 && gap.contains(&place) {
            if place == gap.start {
                let _ = writeln!(out, "{}  ... {hidden} more calls ...", fit("", label));
            }
            continue;
        }
        let bar = paint(&scale.bar(call), styled);
        out += &row(
            &fit(&labels[place], label),
            &bar,
            [&summary.waited, &summary.ran, summary.outcome],
        );
    }
    out
}
