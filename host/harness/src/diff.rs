//! The difference between what a scenario expects and what happened, entry by entry.

use std::{collections::HashMap, fmt::Write as _};

use anstyle::{AnsiColor, Style};
use jp_policy_core::text::clean;
use jp_policy_report::text::fit;
use unicode_width::UnicodeWidthStr as _;

use super::mismatch::{Mismatch, same};

const EXPECTED: Style = AnsiColor::Green.on_default();
const ACTUAL: Style = AnsiColor::Red.on_default();
const WORD: Style = AnsiColor::Yellow.on_default();

/// An entry of a list of expectations: `A@0`, `B [0,2)`, `A ok@2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The entry as it is expected, if it is.
    pub expected: Option<String>,
    /// The entry as it came out, if it did.
    pub actual: Option<String>,
    /// How the two differ.
    pub kind: ChangeKind,
}

/// How an entry differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// Not at all.
    Same,
    /// It came out at another time, or another way.
    Moved,
    /// It is expected and did not come.
    Missing,
    /// It came and is not expected.
    Extra,
    /// It is the same, but stands elsewhere among its neighbours of the same instant.
    Order,
}

impl ChangeKind {
    /// A word for it, for people and machines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Moved => "differs",
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::Order => "order",
        }
    }
}

impl Mismatch {
    /// The entries of both sides, paired by call, in the order of what is expected. None where it is not about a list of
    /// calls: a number, messages.
    pub fn changes(&self) -> Option<Vec<Change>> {
        let split: fn(&str) -> Vec<Entry<'_>> = match self.what.as_str() {
            "starts" => |text| instants(text, '@'),
            "ends" => |text| instants(text, '!'),
            "parked" => |text| listed(text, " ["),
            "responses" => |text| listed(text, " "),
            _ => return None,
        };
        Some(pair(&split(&self.expected), &split(&self.actual)))
    }

    /// As text for a terminal of this width: what is expected above what happened, with a word under what differs.
    pub fn to_text(&self, width: usize, styled: bool) -> String {
        let mut out = format!("{}\n", clean(&self.what));
        match self.changes() {
            Some(changes) => table(&mut out, &changes, width.max(40), styled),
            None => {
                for (heading, text, style) in
                    [("expected", &self.expected, EXPECTED), ("actual", &self.actual, ACTUAL)]
                {
                    let mut heading = heading;
                    let text = if text.is_empty() { "nothing" } else { text };
                    for line in text.lines() {
                        let line = paint(&clean(line.trim_start()), style, styled);
                        let _ = writeln!(out, "  {heading:8}  {line}");
                        heading = "";
                    }
                }
            }
        }
        out
    }
}

/// An entry: whose it is, and all of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry<'a> {
    label: &'a str,
    text: &'a str,
}

/// `A@0 a b@2`: names may have blanks, so an entry goes up to a word that ends in a time.
fn instants(text: &str, mark: char) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let ends = rest.match_indices(' ').map(|(at, _)| at).chain([rest.len()]);
        let timed = |end: &usize| {
            let time = rest[..*end].rsplit_once(mark).map(|(_, time)| time);
            time.is_some_and(|time| time.parse::<f64>().is_ok())
        };
        let end = { ends }.find(timed).unwrap_or(rest.len());
        let text = &rest[..end];
        let label = text.rsplit_once(mark).map_or(text, |(label, _)| label);
        entries.push(Entry { label, text });
        rest = rest[end..].trim_start();
    }
    entries
}

/// `B [0,2), C [1,4)` or `A ok@2, B none`: a comma and a blank end an entry.
fn listed<'a>(text: &'a str, before_value: &str) -> Vec<Entry<'a>> {
    let entries = text.split(", ").map(str::trim).filter(|text| !text.is_empty());
    entries
        .map(|text| {
            let label = text.rsplit_once(before_value).map_or(text, |(label, _)| label);
            Entry { label, text }
        })
        .collect()
}

/// Pairs the first entry of a label with the first, the second with the second, ...
fn pair(expected: &[Entry<'_>], actual: &[Entry<'_>]) -> Vec<Change> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, entry) in actual.iter().enumerate().rev() {
        places.entry(entry.label).or_default().push(place);
    }
    // With the place among what happened, by which what is extra finds its place.
    let mut rows: Vec<(Option<usize>, Change)> = expected
        .iter()
        .map(|entry| {
            let place = places.get_mut(entry.label).and_then(Vec::pop);
            let found = place.map(|place| actual[place].text);
            let kind = match found {
                Some(text) if same(text, entry.text) => ChangeKind::Same,
                Some(_) => ChangeKind::Moved,
                None => ChangeKind::Missing,
            };
            let (expected, actual) = (Some(entry.text.to_owned()), found.map(str::to_owned));
            (place, Change { expected, actual, kind })
        })
        .collect();
    let mut extra: Vec<usize> = places.into_values().flatten().collect();
    extra.sort_unstable();
    if extra.is_empty() && rows.iter().all(|(_, change)| change.kind == ChangeKind::Same) {
        for (n, (place, change)) in rows.iter_mut().enumerate() {
            if *place != Some(n) {
                change.kind = ChangeKind::Order;
            }
        }
    }
    if rows.is_empty() {
        return extra.into_iter().map(|place| extra_change(&actual[place])).collect();
    }
    let mut out = Vec::with_capacity(rows.len() + extra.len());
    let mut extra = extra.into_iter().peekable();
    for (place, change) in rows {
        while let (Some(before), Some(place)) = (extra.peek().copied(), place)
            && before < place
        {
            extra.next();
            out.push(extra_change(&actual[before]));
        }
        out.push(change);
    }
    out.extend(extra.map(|place| extra_change(&actual[place])));
    out
}

fn extra_change(entry: &Entry<'_>) -> Change {
    Change { expected: None, actual: Some(entry.text.to_owned()), kind: ChangeKind::Extra }
}

/// Entries that are the same, on both sides of one that differs, that are shown.
const AROUND: usize = 2;

/// A column of the table.
struct Cell {
    expected: String,
    actual: String,
    kind: ChangeKind,
}

impl Cell {
    fn word(&self) -> &'static str {
        if self.kind == ChangeKind::Same { "" } else { self.kind.word() }
    }

    fn width(&self) -> usize {
        self.expected.width().max(self.actual.width()).max(self.word().width())
    }
}

fn table(out: &mut String, changes: &[Change], width: usize, styled: bool) {
    const HEADING: usize = 12;
    let room = width - HEADING;
    let mut cells = cells(changes, room).into_iter().peekable();
    if cells.peek().is_none() {
        let _ = writeln!(out, "  the same entries, written another way");
    }
    while cells.peek().is_some() {
        let mut lines = ["expected", "actual", ""].map(|heading| format!("  {heading:8}  "));
        let mut used = 0;
        while let Some(cell) = cells.next_if(|cell| used == 0 || used + cell.width() <= room) {
            let wide = cell.width() + 2;
            used += wide;
            let differs = cell.kind != ChangeKind::Same;
            let texts = [
                (cell.expected.as_str(), EXPECTED),
                (cell.actual.as_str(), ACTUAL),
                (cell.word(), WORD),
            ];
            for (line, (text, style)) in lines.iter_mut().zip(texts) {
                let pad = wide - text.width();
                let _ = write!(line, "{}{:pad$}", paint(text, style, styled && differs), "");
            }
        }
        for line in lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()) {
            let _ = writeln!(out, "{line}");
        }
    }
}

/// What differs, and what is around it; of the rest, how many there are.
fn cells(changes: &[Change], room: usize) -> Vec<Cell> {
    let text = |entry: &Option<String>| {
        let text = entry.as_ref().map_or_else(|| "-".to_owned(), |text| clean(text));
        if text.width() > room { fit(&text, room) } else { text }
    };
    let near = |n: usize| {
        let around = n.saturating_sub(AROUND)..(n + AROUND + 1).min(changes.len());
        changes[around].iter().any(|change| change.kind != ChangeKind::Same)
    };
    let shown: Vec<bool> = (0..changes.len()).map(near).collect();
    let mut cells = Vec::new();
    let mut n = 0;
    while n < changes.len() {
        let alike = shown[n..].iter().take_while(|shown| !**shown).count();
        // One entry takes no more room than the note that it is left out.
        if alike > 1 {
            let note = format!("({alike} alike)");
            cells.push(Cell { expected: note.clone(), actual: note, kind: ChangeKind::Same });
            n += alike;
            continue;
        }
        let change = &changes[n];
        let (expected, actual) = (text(&change.expected), text(&change.actual));
        cells.push(Cell { expected, actual, kind: change.kind });
        n += 1;
    }
    cells
}

fn paint(text: &str, style: Style, styled: bool) -> String {
    if styled && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
