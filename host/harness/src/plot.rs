//! A plot of what a policy costs by how many calls wait, as SVG: two panels with logarithmic axes, the policy and the default one
//! in each.

use std::fmt::Write as _;

use jp_policy_report::xml;

use super::bench::{Bench, Cost, Row};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 650.0;
/// Around each panel: room for the labels of its axes.
const LEFT: f64 = 78.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 90.0;
const PANEL: f64 = 216.0;
const BETWEEN: f64 = 62.0;

/// Colours that differ for every kind of eye, in lightness too.
const COLOURS: [&str; 2] = ["#0b5cad", "#d2691e"];

/// Something that is drawn: how it is called, and its points by the number of waiting calls.
struct Series<'a> {
    name: &'a str,
    points: Vec<(f64, f64)>,
    /// Where it has no cost.
    failed: Vec<f64>,
}

/// The plot, as a whole SVG file.
pub fn plot(bench: &Bench) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"system-ui, Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    let name = &bench.policy.identity.name;
    let title = format!("What a decision of policy \"{}\" costs", short(name, 40));
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"28\" font-size=\"18\" font-weight=\"600\">{}</text>",
        xml::text(&title)
    );
    let keys = format!(
        "by how many calls wait, for {} keys of limit {} with all slots free; both axes logarithmic",
        bench.plan.keys, bench.plan.limit
    );
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"50\" fill=\"#666\">{keys}</text>");
    let time = |cost: &Cost| cost.time.as_nanos() as f64;
    let fuel = |cost: &Cost| cost.fuel as f64;
    panel(&mut svg, TOP, "time, this machine", &series(bench, time), nanoseconds);
    let second = TOP + PANEL + BETWEEN;
    panel(&mut svg, second, "instructions, any machine", &series(bench, fuel), count);
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#666\">waiting calls</text>",
        LEFT + (WIDTH - LEFT - RIGHT) / 2.0,
        second + PANEL + 44.0
    );
    let rows = [&bench.policy, &bench.default].map(|measured| &measured.by_calls);
    if rows.into_iter().flatten().any(|row| row.cost.is_err()) {
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" fill=\"#666\">\u{d7} no answer</text>",
            WIDTH - RIGHT + 14.0,
            second + PANEL + 44.0
        );
    }
    svg + "</svg>\n"
}

fn series(bench: &Bench, value: impl Fn(&Cost) -> f64) -> [Series<'_>; 2] {
    let name = bench.policy.identity.name.as_str();
    [(name, &bench.policy), ("default policy", &bench.default)].map(|(name, measured)| {
        let at = |row: &Row| f64::from(row.calls.max(1));
        let points = measured.by_calls.iter().filter_map(|row| {
            let value = value(row.cost.as_ref().ok()?);
            Some((at(row), value.max(1.0)))
        });
        let failed = measured.by_calls.iter().filter(|row| row.cost.is_err()).map(at);
        Series { name, points: points.collect(), failed: failed.collect() }
    })
}

/// A logarithmic axis: from one power of ten to another, onto pixels.
#[derive(Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// The axis that has all these values; at least one power of ten long.
    fn around(values: impl Iterator<Item = f64>, whole: bool, [from, to]: [f64; 2]) -> Self {
        let logs: Vec<f64> = values.map(f64::log10).collect();
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let (low, high) = if whole { (low.floor(), high.ceil()) } else { (low, high) };
        let high = if high - low < 0.1 { low + 1.0 } else { high };
        Self { low, high, from, to }
    }

    fn place(self, value: f64) -> f64 {
        self.from + (value.log10() - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Where lines go: powers of ten, and 2 and 5 times them where there is room.
    fn ticks(self) -> Vec<f64> {
        let between: &[f64] = if self.high - self.low <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        #[expect(clippy::cast_possible_truncation, reason = "logarithms of 64-bit numbers")]
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let ticks = powers.flat_map(|power| between.iter().map(move |it| it * 10f64.powi(power)));
        let inside = |tick: &f64| (self.low - 1e-9..=self.high + 1e-9).contains(&tick.log10());
        ticks.filter(inside).collect()
    }
}

fn panel(svg: &mut String, top: f64, title: &str, series: &[Series<'_>], label: fn(f64) -> String) {
    let bottom = top + PANEL;
    let right = WIDTH - RIGHT;
    let calls = || {
        let points = series.iter().flat_map(|it| it.points.iter().map(|(calls, _)| *calls));
        points.chain(series.iter().flat_map(|it| it.failed.iter().copied()))
    };
    let x = Axis::around(calls(), false, [LEFT, right]);
    let values = series.iter().flat_map(|it| it.points.iter().map(|(_, value)| *value));
    let y = Axis::around(values, true, [bottom, top]);
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"600\">{}</text>",
        top - 8.0,
        xml::text(title)
    );
    for tick in y.ticks() {
        let at = y.place(tick);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.5,
            label(tick)
        );
    }
    let mut marks: Vec<f64> = calls().collect();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    for calls in marks {
        let at = x.place(calls);
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#eee\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 20.0,
            count(calls)
        );
    }
    let _ =
        writeln!(svg, "<path d=\"M{LEFT} {top}V{bottom}H{right}\" stroke=\"#888\" fill=\"none\"/>");
    let mut names = Vec::new();
    // The default policy below, so that the policy is seen where both are the same.
    for (series, colour) in series.iter().zip(COLOURS).rev() {
        draw(svg, series, colour, [x, y]);
        let end = series.points.last().map_or(bottom, |(_, value)| y.place(*value));
        names.push((end, series.name, colour));
    }
    place_names(svg, names, right + 14.0, [top, bottom]);
}

fn draw(svg: &mut String, series: &Series<'_>, colour: &str, [x, y]: [Axis; 2]) {
    let points: Vec<String> = series
        .points
        .iter()
        .map(|(calls, value)| format!("{:.1},{:.1}", x.place(*calls), y.place(*value)))
        .collect();
    let dash = if colour == COLOURS[0] { "" } else { " stroke-dasharray=\"6 4\"" };
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
        points.join(" ")
    );
    for (calls, value) in &series.points {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>",
            x.place(*calls),
            y.place(*value)
        );
    }
    // What has no cost stands at the upper edge, where no cost would be too high for it.
    for calls in &series.failed {
        let (at, edge) = (x.place(*calls), y.to);
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}l10 10m0 -10l-10 10\" stroke=\"{colour}\" stroke-width=\"2\"><title>no answer</title></path>",
            at - 5.0,
            edge - 5.0
        );
    }
}

/// Names beside the ends of their lines, moved apart where they would cover each other.
fn place_names(
    svg: &mut String,
    mut names: Vec<(f64, &str, &str)>,
    x: f64,
    [top, bottom]: [f64; 2],
) {
    const LINE: f64 = 17.0;
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut at = top - LINE;
    let last = bottom - LINE * (names.len().saturating_sub(1)) as f64;
    for (n, (end, name, colour)) in names.into_iter().enumerate() {
        at = end.max(at + LINE).min(last + LINE * n as f64);
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{colour}\" font-weight=\"600\">{}</text>",
            at + 4.5,
            xml::text(&short(name, 16))
        );
    }
}

fn nanoseconds(value: f64) -> String {
    let (unit, length) = match value {
        ..999.0 => ("ns", 1.0),
        ..999e3 => ("µs", 1e3),
        ..999e6 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{:.0} {unit}", value / length)
}

fn count(value: f64) -> String {
    match value {
        ..999.0 => format!("{value:.0}"),
        ..999e3 => format!("{} k", trimmed(value / 1e3)),
        ..999e6 => format!("{} M", trimmed(value / 1e6)),
        _ => format!("{} G", trimmed(value / 1e9)),
    }
}

/// At most one decimal.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn short(name: &str, length: usize) -> String {
    if name.chars().count() <= length {
        return name.to_owned();
    }
    name.chars().take(length - 1).chain(['…']).collect()
}

#[cfg(test)]
#[path = "plot_tests.rs"]
mod tests;
