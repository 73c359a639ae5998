//! The pause of a key, as its fields `delay` and `from` say.

use jp_policy_guest::{Field, Instant, Value};

const DELAY: &str = "expected a duration like \"2s\" or \"250ms\" (a whole number and ns, us, ms, s, m or h), or a number of seconds";
const NEGATIVE: &str = "a pause can't be negative";
const TOO_LONG: &str = "a pause can't be longer than 584 years";
const FROM: &str = "expected \"end\" or \"start\"";
const NO_EFFECT: &str = "has no effect without `delay`";

const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];
const SECOND: u64 = 1_000_000_000;

/// How long a key pauses, and after what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// In nanoseconds.
    pub length: Instant,
    pub after: After,
}

/// What a pause follows: the field `from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    End,
    Start,
}

impl Pause {
    /// The pause that the fields of a key ask for, if any; `wrong` is told what is wrong with which field.
    pub fn read(fields: &[Field], mut wrong: impl FnMut(&str, &str)) -> Option<Self> {
        let find = |name| fields.iter().find(|field| field.name == name).map(|field| &field.value);
        let length = find("delay").map(length);
        let after = find("from").map(after);
        if let Some(Err(why)) = length {
            wrong("delay", why);
        }
        match after {
            Some(Err(why)) => wrong("from", why),
            Some(Ok(_)) if length.is_none() => wrong("from", NO_EFFECT),
            _ => {}
        }
        Some(Self { length: length?.ok()?, after: after.unwrap_or(Ok(After::End)).ok()? })
    }
}

impl After {
    pub fn word(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Start => "start",
        }
    }
}

fn after(value: &Value) -> Result<After, &'static str> {
    match value {
        Value::Text(text) if text == "end" => Ok(After::End),
        Value::Text(text) if text == "start" => Ok(After::Start),
        _ => Err(FROM),
    }
}

/// Nanoseconds.
fn length(value: &Value) -> Result<Instant, &'static str> {
    match value {
        Value::Integer(seconds) => {
            let seconds = u64::try_from(*seconds).map_err(|_| NEGATIVE)?;
            seconds.checked_mul(SECOND).ok_or(TOO_LONG)
        }
        Value::Number(seconds) if seconds.is_nan() => Err(DELAY),
        Value::Number(seconds) if *seconds < 0.0 => Err(NEGATIVE),
        Value::Number(seconds) => {
            // To the nearest nanosecond; every number at or above 2^64 is cast to the largest there is.
            match (seconds * 1e9 + 0.5) as u64 {
                u64::MAX => Err(TOO_LONG),
                nanos => Ok(nanos),
            }
        }
        Value::Text(text) => parse(text),
        Value::Flag(_) | Value::Json(_) => Err(DELAY),
    }
}

fn parse(text: &str) -> Result<Instant, &'static str> {
    let unsigned = text.strip_prefix('-');
    let rest = unsigned.unwrap_or(text);
    let unit = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, unit) = rest.split_at(unit);
    let unit = UNITS.into_iter().find(|(name, _)| *name == unit);
    let Some((_, nanos)) = unit.filter(|_| !digits.is_empty()) else {
        return Err(DELAY);
    };
    if unsigned.is_some() {
        return Err(NEGATIVE);
    }
    // Nothing but digits: all that can be wrong with the number is that it is too large.
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(nanos)).ok_or(TOO_LONG)
}

/// A time in seconds, with as many decimals as it needs: `2s`, `0.25s`.
pub fn seconds(nanos: Instant) -> String {
    let text = format!("{}.{:09}", nanos / SECOND, nanos % SECOND);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}
