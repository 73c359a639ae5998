//! Round times on an axis.

use jp_policy_core::batch::Instant;

use super::text::duration;

const SECOND: Instant = 1_000_000_000;

/// Steps that read well, beyond a second: as clocks are divided.
const CLOCK: [Instant; 16] =
    [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 43_200];

/// Round instants from 0 until then, evenly spread: as many as possible, and not more than `most` beside the 0.
pub(super) fn ticks(until: Instant, most: u64) -> impl Iterator<Item = Instant> {
    let step = step(until, most.max(1));
    (0..=until / step).map(move |n| n * step)
}

fn step(until: Instant, most: u64) -> Instant {
    let decimal = (0..9).flat_map(|power| [1, 2, 5].map(|factor| factor * 10_u64.pow(power)));
    let clock = CLOCK.into_iter().map(|seconds| seconds * SECOND);
    let days = (0..6).flat_map(|power| [1, 2, 5].map(|factor| factor * 10_u64.pow(power)));
    let days = days.map_while(|days| days.checked_mul(86_400 * SECOND));
    let mut steps = decimal.chain(clock).chain(days);
    steps.find(|step| until / step <= most).unwrap_or(Instant::MAX)
}

/// What stands at a tick: the duration without what is nought in it.
pub(super) fn label(at: Instant) -> String {
    let seconds = at / SECOND;
    if seconds < 60 || !at.is_multiple_of(SECOND) {
        return duration(at);
    }
    let units = [(86_400, "d"), (3600, "h"), (60, "m"), (1, "s")];
    let mut rest = seconds;
    let mut text = String::new();
    for (unit, name) in units {
        if rest >= unit {
            text += &format!("{}{name}", rest / unit);
            rest %= unit;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(until: Instant, most: u64) -> String {
        ticks(until, most).map(label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_at_every_scale() {
        let shown = [
            (1, 5),
            (700, 5),
            (3_000_000, 5),
            (1_600_000_000, 5),
            (5 * SECOND, 5),
            (90 * SECOND, 5),
            (3600 * SECOND, 5),
            (3601 * SECOND, 8),
            (100_000 * SECOND, 5),
            (Instant::MAX, 3),
        ]
        .map(|(until, most)| labels(until, most));
        assert_eq!(
            shown,
            [
                "0s 1ns",
                "0s 200ns 400ns 600ns",
                "0s 1ms 2ms 3ms",
                "0s 500ms 1s 1.5s",
                "0s 1s 2s 3s 4s 5s",
                "0s 20s 40s 1m 1m20s",
                "0s 20m 40m 1h",
                "0s 10m 20m 30m 40m 50m 1h",
                "0s 6h 12h 18h 1d",
                "0s 100000d 200000d",
            ]
        );
    }
}
