//! Numbers and lists for people: grouped digits, lines that fit the terminal.

use std::time::Duration;

/// Columns of a terminal that does not say, and of what is no terminal.
const COLUMNS: usize = 100;

/// Narrower than this nothing is laid out; the terminal breaks it.
const NARROWEST: usize = 40;

/// Columns of standard output.
pub(super) fn columns() -> usize {
    let said = console::Term::stdout().size_checked();
    said.map_or(COLUMNS, |(_, columns)| usize::from(columns)).max(NARROWEST)
}

/// With a comma every three digits: `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time in its unit, with three digits that count: `1.23 µs`, `45.6 ms`.
pub(super) fn time(time: Duration) -> String {
    let nanos = time.as_nanos() as f64;
    let (unit, length) = match nanos {
        ..1e3 => ("ns", 1.0),
        ..1e6 => ("µs", 1e3),
        ..1e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{} {unit}", digits(nanos / length))
}

/// Three digits that count, and no more decimals than that takes.
pub(super) fn digits(number: f64) -> String {
    let decimals = match number {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}")
}

/// Words laid out on lines of `width` columns, every line but the first indented by `indent`; `used` is what stands on the first
/// already. A word that is too long has a line of its own.
pub(super) fn wrapped<'a>(
    words: impl IntoIterator<Item = &'a str>,
    used: usize,
    indent: usize,
    width: usize,
) -> String {
    let mut out = String::new();
    let mut column = used;
    let mut first = true;
    for word in words {
        let length = console::measure_text_width(word);
        if first {
            column += length;
        } else if column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent + length;
        } else {
            out.push(' ');
            column += 1 + length;
        }
        out.push_str(word);
        first = false;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0, 999, 1_000, 12_345, 1_234_567, u64::MAX];
        let shown = numbers.map(grouped);
        assert_eq!(
            shown,
            ["0", "999", "1,000", "12,345", "1,234,567", "18,446,744,073,709,551,615"]
        );
    }

    #[test]
    fn times_have_three_digits() {
        let times = [0, 999, 1_234, 45_678, 999_600, 2_000_000, 12_345_678_901];
        let shown = times.map(|nanos| time(Duration::from_nanos(nanos)));
        assert_eq!(
            shown,
            ["0.00 ns", "999 ns", "1.23 µs", "45.7 µs", "1000 µs", "2.00 ms", "12.3 s"]
        );
    }

    #[test]
    fn lines_fit() {
        let text = "one two three four fivesixseveneightnine ten";
        assert_eq!(
            wrapped(text.split(' '), 4, 2, 14),
            "one two\n  three four\n  fivesixseveneightnine\n  ten"
        );
        assert_eq!(wrapped([], 4, 2, 14), "");
    }
}
