//! A batch as a picture: one row a call, thin while it waits and thick while it runs, coloured by key.
//!
//! What a shape means can be told without its colour, and no colour needs a ground: the picture has none of its own, so
//! everything in it keeps a contrast of about 3 to 1 or more against a white page and against a dark one.

use std::{collections::HashSet, fmt::Write as _};

use jp_policy_core::{
    batch::{End, Instant},
    record::{CallRecord, Record, Span},
    scheduler::Settlement,
    text::clean,
};
use unicode_width::UnicodeWidthStr as _;

use super::{
    axis::{label, ticks},
    summary::CallSummary,
    text::{duration, fit},
    xml,
};

/// Keys get these in turn; blue, vermilion and green first, which the colour-blind tell apart best.
const COLOURS: [&str; 7] =
    ["#2f7fc1", "#d55e00", "#009e73", "#b5578e", "#94791a", "#7a6fd0", "#4d8f9e"];

/// Calls without a key, text and lines.
const GREY: &str = "#7c7c7c";

/// The width of the bars.
const BARS: f64 = 640.0;

/// Room behind the bars for the mark of what ended at the very end.
const MARGIN: f64 = 14.0;

/// Nothing is thinner, however short it was.
const THINNEST: f64 = 2.0;

/// Rows of a batch that is drawn at its full size; longer ones are drawn with lower rows.
const ROOMY: usize = 40;

/// Rows of the longest picture; of what is longer, the first and the last ones are shown.
const ROWS: usize = 400;

/// Characters of a label, a key and a title: what is longer is cut.
const LABEL: usize = 30;
const KEY: usize = 16;
const TITLE: usize = 90;

/// Keys in the legend.
const KEYS: usize = 12;

/// Draws the record as an SVG document of its own, under this title. Times are to scale, with nothing thinner than can be seen.
pub fn svg(record: &Record, title: &str) -> String {
    let picture = Picture::new(record);
    let mut out = String::new();
    let rows = rows(record);
    let top = 44.0;
    let bottom = top + rows.len() as f64 * picture.row;
    for (place, row) in rows.iter().enumerate() {
        let y = top + (place as f64 + 0.5) * picture.row;
        match row {
            Row::Call(place) => picture.call(&mut out, record, *place, y),
            Row::More(calls) => {
                write_text(&mut out, picture.left, y, "", &format!("... {calls} more calls ..."));
            }
        }
    }
    let mut axis = String::new();
    picture.axis(&mut axis, top, bottom);
    for fault in &record.faults {
        let x = picture.x(fault.at);
        let _ = writeln!(
            axis,
            r#"<path class="mark" stroke-dasharray="4 3" d="M{x:.1} {top:.1}V{bottom:.1}"><title>{}</title></path>"#,
            xml::text(&clean(&fault.to_string())),
        );
    }
    let (legend, height) = picture.legend(record, bottom + 22.0);
    let title = xml::text(fit(&clean(title), TITLE).trim_end());
    let width = picture.width();
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="{size}" fill="{GREY}">
<title>{title}</title>
<defs><pattern id="ask" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V5" stroke="#fff" stroke-width="5"/></pattern></defs>
<style>.grid{{stroke:{GREY};stroke-opacity:.4;stroke-width:1}}.mark{{stroke:{GREY};stroke-width:1.6;fill:none}}.end{{text-anchor:end}}.middle{{text-anchor:middle}}</style>
<text x="8" y="14" dy=".35em" font-size="13" font-weight="bold">{title}</text>
{axis}{out}{legend}</svg>
"##,
        size = picture.size,
    )
}

enum Row {
    Call(usize),
    More(usize),
}

/// Where things are.
struct Picture {
    /// When the last thing happened, and what the width of the bars stands for: the same, but not nothing.
    last: Instant,
    until: Instant,
    /// The height of a row, and of its text.
    row: f64,
    size: f64,
    /// Where labels, keys and bars begin.
    labels: f64,
    keys: f64,
    left: f64,
    summaries: Vec<CallSummary>,
}

impl Picture {
    fn new(record: &Record) -> Self {
        let (row, size) = if record.calls.len() <= ROOMY { (22.0, 12.0) } else { (13.0, 10.0) };
        let widest = |texts: &mut dyn Iterator<Item = usize>, most: usize| {
            texts.max().unwrap_or(0).min(most) as f64 * character(size)
        };
        let labels = &mut record.calls.iter().map(|call| clean(&call.label).width());
        let keys = &mut record.keys.iter().map(|key| clean(key).width());
        let keyed = record.calls.iter().any(|call| call.key.is_some());
        let places = record.calls.len().to_string().len() + 1;
        let label = 8.0 + places as f64 * character(size);
        let key = label + widest(labels, LABEL) + 14.0;
        Self {
            last: record.until,
            until: record.until.max(1),
            row,
            size,
            labels: label,
            keys: key,
            left: key + if keyed { widest(keys, KEY) + 14.0 } else { 0.0 },
            summaries: record.calls.iter().map(CallSummary::new).collect(),
        }
    }

    /// The right ends of the columns behind the bars: waited, ran, how it came out.
    fn columns(&self) -> [f64; 3] {
        let step = character(self.size);
        let waited = self.left + BARS + MARGIN + 8.0 * step;
        [waited, waited + 8.0 * step, waited + 8.0 * step + 14.0 * step]
    }

    fn width(&self) -> f64 {
        self.columns()[2] + 8.0
    }

    fn x(&self, at: Instant) -> f64 {
        self.left + at as f64 / self.until as f64 * BARS
    }

    fn axis(&self, out: &mut String, top: f64, bottom: f64) {
        let [waited, ran, _] = self.columns();
        for at in ticks(self.last, 8) {
            let x = self.x(at);
            let _ =
                writeln!(out, r#"<path class="grid" d="M{x:.1} {:.1}V{bottom:.1}"/>"#, top - 4.0);
            write_text(out, x, top - 12.0, "middle", &label(at));
        }
        write_text(out, waited, top - 12.0, "end", "waited");
        write_text(out, ran, top - 12.0, "end", "ran");
    }

    fn call(&self, out: &mut String, record: &Record, place: usize, y: f64) {
        let call = &record.calls[place];
        let summary = &self.summaries[place];
        let name = clean(&call.label);
        write_text(out, self.labels - character(self.size), y, "end", &(place + 1).to_string());
        write_text(out, self.labels, y, "", &fit(&name, LABEL.min(name.width())));
        let colour = colour(call);
        let key = call.key.and_then(|key| record.keys.get(key as usize)).map(|key| clean(key));
        if let Some(key) = &key {
            let _ = write!(out, r#"<g fill="{colour}">"#);
            write_text(out, self.keys, y, "", &fit(key, KEY.min(key.width())));
            out.push_str("</g>");
        }
        for span in call.parked.iter().filter(|span| span.to != Some(span.from)) {
            let thin = self.row * 0.2;
            self.bar(out, span, y, thin, colour, &format!("{name}: waits {}", says(span)));
        }
        for run in call.runs.iter().filter(|run| !run.gated) {
            let thick = self.row * 0.62;
            let text = format!("{name}: runs {}", says(&run.span));
            self.bar(out, &run.span, y, thick, colour, &text);
            for ask in &run.asks {
                let text = format!("{name}: asks {}", says(ask));
                self.bar(out, ask, y, thick * 0.6, "url(#ask)", &text);
            }
            let mark = match run.end {
                Some(End::Failed) => Some(Mark::Failed),
                Some(End::Stopped) => Some(Mark::Stopped),
                _ => None,
            };
            if let (Some(mark), Some(at)) = (mark, run.span.to) {
                self.mark(out, mark, at, run.span.from, y);
            }
        }
        if let (Some(mark), Some((at, _))) = (Mark::of(call), call.settled) {
            self.mark(out, mark, at, at, y);
        }
        let [waited, ran, outcome] = self.columns();
        write_text(out, waited, y, "end", &summary.waited);
        write_text(out, ran, y, "end", &summary.ran);
        write_text(out, outcome - 13.0 * character(self.size), y, "", summary.outcome);
    }

    fn bar(&self, out: &mut String, span: &Span, y: f64, height: f64, fill: &str, title: &str) {
        let from = self.x(span.from).min(self.left + BARS - THINNEST);
        let width = (self.x(span.to.unwrap_or(self.until)) - from).max(THINNEST);
        let _ = writeln!(
            out,
            r#"<rect x="{from:.1}" y="{:.1}" width="{width:.1}" height="{height:.1}" fill="{fill}"><title>{}</title></rect>"#,
            y - height / 2.0,
            xml::text(title),
        );
    }

    /// Puts a mark right behind what ended there, however short that was.
    fn mark(&self, out: &mut String, mark: Mark, at: Instant, from: Instant, y: f64) {
        let start = if at == from { self.x(at) } else { self.x(at).max(self.x(from) + THINNEST) };
        mark.draw(out, start + 6.0, y, self.row * 0.17);
    }

    /// What the shapes and colours mean, of those that are there; and where it ends.
    fn legend(&self, record: &Record, top: f64) -> (String, f64) {
        let mut out = String::new();
        let (mut x, mut y) = (8.0, top);
        let mut entry = |width: usize| {
            let wide = 26.0 + (width + 2) as f64 * character(self.size);
            if x > 8.0 && x + wide > self.width() {
                (x, y) = (8.0, y + 18.0);
            }
            let place = (x, y);
            x += wide;
            place
        };
        let sample = |out: &mut String, (x, y): (f64, f64), height: f64, fill: &str, text: &str| {
            let _ = writeln!(
                out,
                r#"<rect x="{x:.1}" y="{:.1}" width="18" height="{height:.1}" fill="{fill}"/>"#,
                y - height / 2.0
            );
            write_text(out, x + 24.0, y, "", text);
        };
        let runs = || record.calls.iter().flat_map(|call| &call.runs);
        let states = [("waits", 4.0), ("runs", 13.0)];
        for (text, height) in states {
            sample(&mut out, entry(text.len()), height, GREY, text);
        }
        if runs().any(|run| !run.asks.is_empty()) {
            let place = entry("asks".len());
            sample(&mut out, place, 13.0, GREY, "asks");
            sample(&mut out, place, 8.0, "url(#ask)", "");
        }
        for (mark, text) in Mark::ALL {
            let ended = |run: &jp_policy_core::record::Run| match mark {
                Mark::Failed => run.end == Some(End::Failed) && !run.gated,
                Mark::Stopped => run.end == Some(End::Stopped),
                _ => false,
            };
            if runs().any(ended) || record.calls.iter().any(|call| Mark::of(call) == Some(mark)) {
                let (x, y) = entry(text.len());
                mark.draw(&mut out, x + 10.0, y, 4.0);
                write_text(&mut out, x + 24.0, y, "", text);
            }
        }
        let used: HashSet<usize> =
            record.calls.iter().filter_map(|call| Some(call.key? as usize)).collect();
        let keys: Vec<usize> = (0..record.keys.len()).filter(|key| used.contains(key)).collect();
        for key in keys.iter().take(KEYS) {
            let name = format!("key {}", clean(&record.keys[*key]));
            let name = fit(&name, (LABEL + 4).min(name.width()));
            sample(&mut out, entry(name.width()), 13.0, COLOURS[key % COLOURS.len()], &name);
        }
        if let Some(more @ 1..) = keys.len().checked_sub(KEYS) {
            let text = format!("{more} more keys; colours repeat");
            let (x, y) = entry(text.len());
            write_text(&mut out, x, y, "", &text);
        }
        if record.calls.iter().any(|call| call.key.is_none()) && !keys.is_empty() {
            sample(&mut out, entry("no key".len()), 13.0, GREY, "no key");
        }
        if !record.faults.is_empty() {
            let (x, y) = entry("fault of the policy".len());
            let _ = writeln!(
                out,
                r#"<path class="mark" stroke-dasharray="4 3" d="M{x:.1} {y:.1}h18"/>"#
            );
            write_text(&mut out, x + 24.0, y, "", "fault of the policy");
        }
        (out, y + 16.0)
    }
}

fn rows(record: &Record) -> Vec<Row> {
    let calls = record.calls.len();
    if calls <= ROWS {
        return (0..calls).map(Row::Call).collect();
    }
    let first = (0..ROWS / 2).map(Row::Call);
    let last = (calls - ROWS / 2..calls).map(Row::Call);
    first.chain([Row::More(calls - ROWS / 2 * 2)]).chain(last).collect()
}

fn says(span: &Span) -> String {
    match span.to {
        Some(to) => {
            let took = duration(to.saturating_sub(span.from));
            format!("{took}, from {} to {}", duration(span.from), duration(to))
        }
        None => format!("from {} on", duration(span.from)),
    }
}

fn write_text(out: &mut String, x: f64, y: f64, class: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
    let _ = writeln!(
        out,
        r#"<text x="{x:.1}" y="{y:.1}" dy=".35em"{class}>{}</text>"#,
        xml::text(text)
    );
}

/// The width of a character of this size in a fixed-width font.
fn character(size: f64) -> f64 {
    size * 0.602
}

fn colour(call: &CallRecord) -> &'static str {
    call.key.map_or(GREY, |key| COLOURS[key as usize % COLOURS.len()])
}

/// How something ended, if not well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Failed,
    Stopped,
    Cancelled,
    NotRun,
    PolicyFault,
}

impl Mark {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Failed, "failed"),
        (Self::Stopped, "stopped"),
        (Self::Cancelled, "cancelled"),
        (Self::NotRun, "not run"),
        (Self::PolicyFault, "error after a fault"),
    ];

    /// The mark of a call that came to its response without having run.
    fn of(call: &CallRecord) -> Option<Self> {
        let gated = call.runs.last().is_some_and(|run| run.gated);
        match call.settled?.1 {
            Settlement::Responded if gated => Some(Self::NotRun),
            Settlement::Responded => None,
            Settlement::NotRun => Some(Self::NotRun),
            Settlement::Cancelled => Some(Self::Cancelled),
            Settlement::PolicyFault => Some(Self::PolicyFault),
        }
    }

    /// A cross, a square, a diamond, a circle, a triangle.
    fn draw(self, out: &mut String, x: f64, y: f64, r: f64) {
        let d = 2.0 * r;
        let path = match self {
            Self::Failed => {
                format!("M{:.1} {:.1}l{d:.1} {d:.1}m0 -{d:.1}l-{d:.1} {d:.1}", x - r, y - r)
            }
            Self::Stopped => format!("M{:.1} {:.1}h{d:.1}v{d:.1}h-{d:.1}z", x - r, y - r),
            Self::Cancelled => {
                format!("M{:.1} {y:.1}l{r:.1} {r:.1}l{r:.1} -{r:.1}l-{r:.1} -{r:.1}z", x - r)
            }
            Self::NotRun => {
                format!(
                    "M{:.1} {y:.1}a{r:.1} {r:.1} 0 1 0 {d:.1} 0a{r:.1} {r:.1} 0 1 0 -{d:.1} 0",
                    x - r
                )
            }
            Self::PolicyFault => format!("M{:.1} {:.1}h{d:.1}l-{r:.1} -{d:.1}z", x - r, y + r),
        };
        let _ = writeln!(out, r#"<path class="mark" d="{path}"/>"#);
    }
}
