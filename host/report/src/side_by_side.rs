//! Outcomes side by side: the bars of each call under each policy on one axis, and what differs in sum.

use std::fmt::Write as _;

use jp_policy_core::{
    batch::{CallId, Instant},
    text::clean,
};
use unicode_width::UnicodeWidthStr as _;

use super::{
    bars::{Scale, paint},
    replay_outcome::ReplayOutcome,
    summary::CallSummary,
    text::{difference, duration, fit, right},
    timeline::{LABEL, NARROW, ROWS, WIDEST},
};

/// How many calls an order lists.
const ORDER: usize = 40;

/// The name's share of a terminal.
const NAME: usize = 16;

/// What each outcome is called: `recorded`, or its policy's name; numbered where two policies have one name.
pub fn names(outcomes: &[ReplayOutcome]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for outcome in outcomes {
        let name = if outcome.real { "recorded".to_owned() } else { clean(&outcome.policy.name) };
        let mut numbered = (2..).map(|n: usize| format!("{name} #{n}"));
        let mut free = name.clone();
        while names.contains(&free) {
            free = numbered.next().unwrap_or_default();
        }
        names.push(free);
    }
    names
}

/// Draws outcomes of the same calls for a terminal of this width, with colours as ANSI sequences where `styled`.
pub fn side_by_side(outcomes: &[ReplayOutcome], width: usize, styled: bool) -> String {
    let mut out = String::new();
    let Some(first) = outcomes.first() else {
        return out;
    };
    if !first.record.calls.is_empty() {
        out += &rows(outcomes, first, width.clamp(40, WIDEST), styled);
        out.push('\n');
    }
    for (outcome, name) in outcomes.iter().zip(names(outcomes)) {
        out += &sums(outcome, first, &name);
    }
    out
}

struct Row {
    name: String,
    summary: CallSummary,
    waited: String,
    more: String,
}

fn rows(outcomes: &[ReplayOutcome], first: &ReplayOutcome, width: usize, styled: bool) -> String {
    let names = names(outcomes);
    let count = first.record.calls.len();
    let labels: Vec<String> = (1..)
        .zip(&first.record.calls)
        .map(|(place, call)| format!("{place} {}", clean(&call.label)))
        .collect();
    let rows: Vec<Vec<Row>> =
        (0..).take(count).map(|call| rows_of(outcomes, first, &names, call)).collect();
    let widest = |of: &dyn Fn(&Row) -> usize, least: usize| {
        rows.iter().flatten().map(of).max().unwrap_or(0).max(least)
    };
    let label = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let label = label.min(LABEL.min(width / 4));
    let name = widest(&|row| row.name.width(), 0).min(NAME);
    let (waited, more) = (widest(&|row| row.waited.width(), 6), widest(&|row| row.more.width(), 0));
    let (ran, came) =
        (widest(&|row| row.summary.ran.width(), 3), widest(&|row| row.summary.outcome.width(), 0));
    let cells = width.saturating_sub(label + name + waited + more + ran + came + 12);
    // A narrow terminal has no room for bars that would tell anything.
    let cells = if width < NARROW { 0 } else { cells.max(8) };
    let until = outcomes.iter().map(|outcome| outcome.record.until).max().unwrap_or(0);
    let scale = Scale { until: until.max(1), cells };

    let mut out = String::new();
    let mut line = |label_text: &str, name_text: &str, bar: &str, columns: [&str; 4]| {
        let [wait, differs, run, outcome] = columns;
        let bar = if cells == 0 { String::new() } else { format!("{bar}  ") };
        let text = format!(
            "{}  {}  {bar}{}  {}  {}  {outcome}",
            fit(label_text, label),
            fit(name_text, name),
            right(wait, waited),
            right(differs, more),
            right(run, ran),
        );
        let _ = writeln!(out, "{}", text.trim_end());
    };
    let axis = if cells == 0 { String::new() } else { fit(&scale.axis(), cells) };
    line("", "", &axis, ["waited", "", "ran", ""]);
    let most = (ROWS / outcomes.len().max(1)).max(4);
    let hidden = count.saturating_sub(most);
    let gap = most / 2..most / 2 + hidden;
    for (place, rows) in rows.iter().enumerate() {
        if hidden > 0 && gap.contains(&place) {
            if place == gap.start {
                line(
                    "",
                    "",
                    &fit(&format!("... {hidden} more calls ..."), cells),
                    ["", "", "", ""],
                );
            }
            continue;
        }
        for (n, (row, outcome)) in rows.iter().zip(outcomes).enumerate() {
            let label = if n == 0 { labels[place].as_str() } else { "" };
            let bar = match outcome.record.calls.get(place) {
                Some(call) if cells > 0 => paint(&scale.bar(call), styled),
                _ => String::new(),
            };
            line(
                label,
                &row.name,
                &bar,
                [&row.waited, &row.more, &row.summary.ran, row.summary.outcome],
            );
        }
    }
    out
}

fn rows_of(
    outcomes: &[ReplayOutcome],
    first: &ReplayOutcome,
    names: &[String],
    call: CallId,
) -> Vec<Row> {
    let rows = outcomes.iter().zip(names).filter_map(|(outcome, name)| {
        let waited = outcome.waited(call);
        Some(Row {
            name: name.clone(),
            summary: CallSummary::new(outcome.record.calls.get(call as usize)?),
            waited: if waited == 0 { String::new() } else { duration(waited) },
            more: difference(first.waited(call), waited),
        })
    });
    rows.collect()
}

/// One outcome in sum, and how it differs from the first.
fn sums(outcome: &ReplayOutcome, first: &ReplayOutcome, name: &str) -> String {
    let with = |from: Instant, to: Instant| match difference(from, to) {
        more if more.is_empty() => duration(to),
        more => format!("{} ({more})", duration(to)),
    };
    let by = if outcome.real {
        format!(" under policy {}", clean(&outcome.policy.name))
    } else {
        String::new()
    };
    let record = &outcome.record;
    let decisions = record.decisions;
    let mut out = format!(
        "{name}{by}: {} in all, waited {}, {decisions} decision{}\n",
        with(first.record.until, record.until),
        with(first.waited_altogether(), outcome.waited_altogether()),
        if decisions == 1 { "" } else { "s" },
    );
    let same = |same: bool, text: String| {
        if same && !std::ptr::eq(outcome, first) { "the same".to_owned() } else { text }
    };
    if !record.keys.is_empty() {
        let peaks = record.peaks_by_key();
        let list: Vec<String> =
            peaks.iter().map(|(key, peak)| format!("{} {peak}", clean(key))).collect();
        let text = same(peaks == first.record.peaks_by_key(), list.join(", "));
        let _ = writeln!(out, "  peaks: {text}");
    }
    let order = outcome.order();
    let mut list: Vec<String> =
        order.iter().take(ORDER).map(|call| (u64::from(*call) + 1).to_string()).collect();
    if order.len() > ORDER {
        list.push(format!("and {} more", order.len() - ORDER));
    }
    if order.is_empty() {
        list.push("none".to_owned());
    }
    let _ = writeln!(out, "  starts: {}", same(order == first.order(), list.join(" ")));
    for left in &outcome.left_out {
        let of = left
            .key
            .as_ref()
            .map_or_else(|| "option".to_owned(), |key| format!("key {}:", clean(key)));
        let _ = writeln!(out, "  without {of} `{}`, which it refuses", clean(&left.field));
    }
    for fault in &outcome.faults {
        let at = duration(fault.at);
        let _ =
            writeln!(out, "  fault ({}) at {at}: {}", clean(&fault.kind), clean(&fault.message));
    }
    out
}
