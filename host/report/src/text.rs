//! Times and labels as text for people.

use jp_policy_core::batch::Instant;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A duration in nanoseconds for people: three digits at most, and the unit.
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

/// A difference of two durations in nanoseconds for people: `+1.5s`, `-20ms`; empty where there is none.
pub fn difference(from: Instant, to: Instant) -> String {
    match to.abs_diff(from) {
        0 => String::new(),
        nanos => format!("{}{}", if to > from { "+" } else { "-" }, duration(nanos)),
    }
}

/// The sum of some durations in nanoseconds: at most the largest there is, which those of a hostile record exceed.
pub(super) fn total(durations: impl IntoIterator<Item = Instant>) -> Instant {
    durations.into_iter().fold(0, Instant::saturating_add)
}

/// Cut or filled up to exactly this width, in columns of a terminal.
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

/// Filled from the left up to this width.
pub(super) fn right(text: &str, width: usize) -> String {
    format!("{:pad$}{text}", "", pad = width.saturating_sub(text.width()))
}
