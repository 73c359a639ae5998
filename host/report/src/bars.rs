//! Calls as bars of characters on a common scale of time.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use jp_policy_core::{
    batch::{End, Instant},
    record::CallRecord,
};
use unicode_width::UnicodeWidthStr as _;

use super::axis::{label, ticks};

const WAITING: Style = AnsiColor::BrightBlack.on_default();
const RUNNING: Style = AnsiColor::Cyan.on_default();
const ASKING: Style = AnsiColor::Yellow.on_default();
const FAILED: Style = AnsiColor::Red.on_default();

/// Maps instants from 0 to `until` (at least 1) to so many cells.
pub(super) struct Scale {
    pub(super) until: Instant,
    pub(super) cells: usize,
}

/// What a call does in a cell of its bar.
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

    /// The bar of a call.
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

/// The characters of a bar, with colours as ANSI sequences where `styled`.
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
