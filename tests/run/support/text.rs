//! Takes out of a text what differs between two runs: durations, and bars as long as these.

const BARS: [char; 4] = ['░', '█', '▒', '▓'];

/// With `[TIME]` for each duration, `[BAR]` for each bar of the timeline and `[AXIS]` over them.
pub(crate) fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| plain_line(&times(line)) + "\n");
    lines.collect()
}

/// The columns of the timeline are as wide as the durations in them, so their gaps become two blanks.
fn plain_line(line: &str) -> String {
    let words = line.split_whitespace();
    let bar = line.contains(BARS);
    let axis = words.clone().next() == Some("[TIME]") && line.starts_with(' ');
    let row = line.starts_with(|first: char| first.is_ascii_digit()) && line.contains("  ");
    if axis {
        let columns: Vec<&str> = words.skip_while(|word| *word == "[TIME]").collect();
        return format!("  [AXIS]  {}", columns.join("  ")).trim_end().to_owned();
    }
    if !bar && !row {
        return line.to_owned();
    }
    let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    let cells = cells.map(|cell| if cell.contains(BARS) { "[BAR]" } else { cell });
    let mut cells: Vec<&str> = cells.collect();
    cells.dedup_by(|a, b| a == b && *a == "[BAR]");
    cells.join("  ")
}

/// Durations as the program writes them: `0s`, `1.5ms`, `1m40s`, `2h05m`.
fn times(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    let mut inside = false;
    while let Some(first) = rest.chars().next() {
        let length = if inside { None } else { time(rest) };
        match length {
            Some(length) => {
                out.push_str("[TIME]");
                rest = &rest[length..];
                inside = false;
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                inside = first.is_alphanumeric() || matches!(first, '.' | '_' | '-');
            }
        }
    }
    out
}

/// The length of the duration that a text starts with.
fn time(text: &str) -> Option<usize> {
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        end.filter(|end| *end > 0)
    };
    let digits = number(text)?;
    let rest = &text[digits..];
    let unit = ["ns", "µs", "ms", "s", "m", "h"].into_iter().find(|unit| rest.starts_with(unit))?;
    let mut length = digits + unit.len();
    if let ("m" | "h", Some(more)) = (unit, number(&text[length..])) {
        length += more + 1;
    }
    let follows = text.get(length..)?.chars().next();
    (!follows.is_some_and(char::is_alphanumeric)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_runs_is_taken_out_and_nothing_else() {
        let text = "3 calls 4ms (1.25µs each) 5s6 call_2s 1m40s 0s
   0s  10ms    waited  ran
1 a b  ░░██ ▓  4ms  9.1s  ok
2 c           not run
";
        let expected = "3 calls [TIME] ([TIME] each) 5s6 call_2s [TIME] [TIME]
  [AXIS]  waited  ran
1 a b  [BAR]  [TIME]  [TIME]  ok
2 c  not run
";
        assert_eq!(plain(text), expected);
    }
}
