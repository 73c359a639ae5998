//! Durations as configuration writes them, for the further fields and options of a policy.
//!
//! ```
//! use jp_policy_guest::{Value, duration};
//!
//! assert_eq!(duration::read(&Value::Text("250ms".into()), "a pause"), Ok(250_000_000));
//! assert_eq!(duration::read(&Value::Integer(-1), "a pause"), Err("a pause can't be negative".into()));
//! assert_eq!(duration::seconds(250_000_000), "0.25s");
//! ```

use crate::{Instant, Value};

const FORM: &str = "expected a duration like \"2s\" or \"250ms\" (a whole number and ns, us, ms, s, m or h), or a number of seconds";

const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];
const SECOND: u64 = 1_000_000_000;

/// The nanoseconds of a duration: a text of a whole number and a unit, or a number of seconds.
///
/// What is wrong is said as a [`Problem`](crate::Problem) wants it; `what` is the duration's name there: "a pause".
pub fn read(value: &Value, what: &str) -> Result<Instant, String> {
    let nanos = match value {
        Value::Integer(seconds) => u64::try_from(*seconds)
            .map_err(|_| Wrong::Negative)
            .and_then(|seconds| seconds.checked_mul(SECOND).ok_or(Wrong::TooLong)),
        Value::Number(seconds) => number(*seconds),
        Value::Text(text) => parse(text),
        Value::Flag(_) | Value::Json(_) => Err(Wrong::Form),
    };
    nanos.map_err(|wrong| match wrong {
        Wrong::Form => FORM.to_owned(),
        Wrong::Negative => format!("{what} can't be negative"),
        Wrong::TooLong => format!("{what} can't be longer than 584 years"),
    })
}

/// A time in seconds, with as many decimals as it needs: `2s`, `0.25s`.
#[must_use]
pub fn seconds(nanos: Instant) -> String {
    let text = format!("{}.{:09}", nanos / SECOND, nanos % SECOND);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

enum Wrong {
    Form,
    Negative,
    TooLong,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and a number at or above 2^64 is cast to the largest there is"
)]
fn number(seconds: f64) -> Result<Instant, Wrong> {
    if seconds.is_nan() {
        return Err(Wrong::Form);
    }
    if seconds < 0.0 {
        return Err(Wrong::Negative);
    }
    // To the nearest nanosecond.
    match (seconds * 1e9 + 0.5) as u64 {
        u64::MAX => Err(Wrong::TooLong),
        nanos => Ok(nanos),
    }
}

fn parse(text: &str) -> Result<Instant, Wrong> {
    let unsigned = text.strip_prefix('-');
    let rest = unsigned.unwrap_or(text);
    let unit = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, unit) = rest.split_at(unit);
    let unit = UNITS.into_iter().find(|(name, _)| *name == unit);
    let Some((_, nanos)) = unit.filter(|_| !digits.is_empty()) else {
        return Err(Wrong::Form);
    };
    if unsigned.is_some() {
        return Err(Wrong::Negative);
    }
    // Nothing but digits: all that can be wrong with the number is that it is too large.
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(nanos));
    number.ok_or(Wrong::TooLong)
}

#[cfg(test)]
#[path = "duration_tests.rs"]
mod tests;
