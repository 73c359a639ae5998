//! A batch as bars in a terminal: one row a call, waiting and running told apart.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use jp_policy_core::{
    batch::{End, Instant},
    record::{CallRecord, Record, Span},
    scheduler::Settlement,
    text::clean,
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::axis::{label, ticks};

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

const WAITING: Style = AnsiColor::BrightBlack.on_default();
const RUNNING: Style = AnsiColor::Cyan.on_default();
const ASKING: Style = AnsiColor::Yellow.on_default();
const FAILED: Style = AnsiColor::Red.on_default();

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
    let notes: Vec<Note> = record.calls.iter().map(Note::new).collect();
    let widest = |of: fn(&Note) -> &str, least: usize| {
        notes.iter().map(|note| of(note).width()).max().unwrap_or(0).max(least)
    };
    let ran = widest(|note| &note.ran, 3);
    let outcome = widest(|note| note.outcome, 0);
    // On a narrow terminal the bars are worth more than the exact waiting.
    let waited = if width < NARROW { 0 } else { widest(|note| &note.waited, 6) + 2 };
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
    for (place, (call, note)) in record.calls.iter().zip(&notes).enumerate() {
        if hidden > 0 && gap.contains(&place) {
            if place == gap.start {
                let _ = writeln!(out, "{}  ... {hidden} more calls ...", fit("", label));
            }
            continue;
        }
        let bar = paint(&scale.bar(call), styled);
        out += &row(&fit(&labels[place], label), &bar, [&note.waited, &note.ran, note.outcome]);
    }
    out
}

pub(super) fn right(text: &str, width: usize) -> String {
    format!("{:pad$}{text}", "", pad = width.saturating_sub(text.width()))
}

pub(super) struct Scale {
    pub(super) until: Instant,
    pub(super) cells: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    Blank,
    Waiting,
    Running,
    Asking,
    Failed,
}

impl Scale {
    fn cell(&self, at: Instant) -> usize {
        let cell = u128::from(at) * self.cells as u128 / u128::from(self.until);
        usize::try_from(cell).unwrap_or(self.cells).min(self.cells)
    }

    /// Fills the cells of a span. What is shorter than a cell still gets one.
    fn fill(&self, cells: &mut [Cell], from: Instant, to: Option<Instant>, with: Cell) {
        let last = self.cells - 1;
        let from = self.cell(from).min(last);
        let to = to.map_or(self.cells, |to| self.cell(to)).max(from + 1);
        cells[from..to.min(self.cells)].fill(with);
    }

    pub(super) fn bar(&self, call: &CallRecord) -> Vec<Cell> {
        let mut cells = vec![Cell::Blank; self.cells];
        for span in call.parked.iter().filter(|span| span.to != Some(span.from)) {
            self.fill(&mut cells, span.from, span.to, Cell::Waiting);
        }
        for run in call.runs.iter().filter(|run| !run.gated) {
            let with = if matches!(run.end, Some(End::Failed | End::Stopped)) {
                Cell::Failed
            } else {
                Cell::Running
            };
            self.fill(&mut cells, run.span.from, run.span.to, with);
            for ask in &run.asks {
                self.fill(&mut cells, ask.from, ask.to, Cell::Asking);
            }
        }
        cells
    }

    /// Round times over the cells, as many as fit.
    pub(super) fn axis(&self) -> String {
        const ROOM: usize = 12;
        let mut axis = String::new();
        for at in ticks(self.until, (self.cells / ROOM) as u64) {
            let text = label(at);
            let cell = self.cell(at);
            if cell >= axis.width() && cell + text.width() <= self.cells {
                let _ = write!(axis, "{:pad$}{text} ", "", pad = cell - axis.width());
            }
        }
        axis.trim_end().to_owned()
    }
}

pub(super) fn paint(cells: &[Cell], styled: bool) -> String {
    let mut out = String::new();
    for run in cells.chunk_by(|a, b| a == b) {
        let (character, style) = match run[0] {
            Cell::Blank => (' ', Style::new()),
            Cell::Waiting => ('░', WAITING),
            Cell::Running => ('█', RUNNING),
            Cell::Asking => ('▒', ASKING),
            Cell::Failed => ('▓', FAILED),
        };
        let text: String = std::iter::repeat_n(character, run.len()).collect();
        if styled && style != Style::new() {
            let _ = write!(out, "{style}{text}{style:#}");
        } else {
            out.push_str(&text);
        }
    }
    out
}

/// What stands behind a bar: how long the call waited and ran, and how it came out.
pub(super) struct Note {
    pub(super) waited: String,
    pub(super) ran: String,
    pub(super) outcome: &'static str,
}

impl Note {
    pub(super) fn new(call: &CallRecord) -> Self {
        let sum = |spans: &mut dyn Iterator<Item = Span>| {
            spans.filter_map(|span| Some(span.to? - span.from)).sum::<Instant>()
        };
        let mut runs = call.runs.iter().filter(|run| !run.gated).map(|run| run.span).peekable();
        let ran = if runs.peek().is_some() { duration(sum(&mut runs)) } else { String::new() };
        let waited = match sum(&mut call.parked.iter().copied()) {
            0 => String::new(),
            waited => duration(waited),
        };
        Self { waited, ran, outcome: outcome(call) }
    }
}

fn outcome(call: &CallRecord) -> &'static str {
    match (call.settled, call.runs.last()) {
        (Some((_, Settlement::Responded)), Some(run)) if run.gated => "not run",
        (Some((_, Settlement::Responded)), Some(run)) => match run.end {
            Some(End::Succeeded) => "ok",
            Some(End::Stopped) => "stopped",
            _ => "failed",
        },
        // It had its response when the batch was gone on with.
        (Some((_, Settlement::Responded)), None) => "answered",
        (Some((_, Settlement::Cancelled)), _) => "cancelled",
        (Some((_, Settlement::PolicyFault)), _) => "policy fault",
        (Some((_, Settlement::NotRun)), _) => "not run",
        (None, _) => "unsettled",
    }
}

/// A duration for people: three digits at most, and the unit.
pub fn duration(nanos: Instant) -> String {
    const UNITS: [(Instant, &str); 4] =
        [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];
    if nanos == 0 {
        return "0s".to_owned();
    }
    let seconds = nanos / 1_000_000_000;
    match seconds {
        3600.. => return format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        100.. => return format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => {}
    }
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| nanos >= *unit).unwrap_or((1, "ns"));
    let value = nanos as f64 / unit as f64;
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{name}")
}

/// Cut or filled up to exactly this width.
pub fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return format!("{text}{:pad$}", "", pad = width - text.width());
    }
    let mut out = String::new();
    let mut used = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        out.push(character);
    }
    format!("{out}…{:pad$}", "", pad = width.saturating_sub(used + 1))
}
