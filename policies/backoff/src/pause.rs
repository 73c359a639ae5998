//! How the pause of a key grows and shrinks, as its fields `backoff`, `max` and `recover` say.

use jp_policy_guest::{Field, Instant, Value, duration};

pub const FIELDS: [&str; 3] = ["backoff", "max", "recover"];

const RECOVER: &str = "expected a whole number of at least 1";
const SHORT: &str = "is shorter than `backoff`";
const NO_EFFECT: &str = "has no effect without `backoff`";

/// The longest pause if nothing is said: what services that limit by the minute want.
const MAX: Instant = 60_000_000_000;

/// Successes that halve a pause if nothing is said. The numbers of a key have no order, so successes before the first failure
/// count too; were it 1, ten of them would let ten failures pass without a pause.
const SUCCESSES: u64 = 4;

/// How long a key pauses, by what has become of its executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// After the first failure, in nanoseconds.
    pub first: Instant,
    /// At most.
    pub max: Instant,
    /// Successes that halve it.
    pub recover: u64,
}

impl Growth {
    /// What the fields of a key ask for, if anything; `wrong` is told what is wrong with which field.
    pub fn read(fields: &[Field], mut wrong: impl FnMut(&str, &str)) -> Option<Self> {
        let find = |name| fields.iter().find(|field| field.name == name).map(|field| &field.value);
        let mut take = |name, read: fn(&Value) -> Result<u64, String>| {
            let value = read(find(name)?);
            value.map_err(|why| wrong(name, &why)).ok()
        };
        let first = take("backoff", |value| duration::read(value, "a pause"));
        let max = take("max", |value| duration::read(value, "a pause"));
        let recover = take("recover", count);
        if find("backoff").is_none() {
            if max.is_some() {
                wrong("max", NO_EFFECT);
            }
            if recover.is_some() {
                wrong("recover", NO_EFFECT);
            }
        }
        let first = first?;
        if max.is_some_and(|max| max < first) {
            wrong("max", SHORT);
        }
        let (max, recover) = (max.unwrap_or(MAX.max(first)), recover.unwrap_or(SUCCESSES));
        Some(Self { first, max, recover })
    }

    /// The pause after so many ends, of which so many were failures: doubled by each failure but the first, halved by each
    /// `recover` successes.
    pub fn pause(&self, ended: u32, failed: u32) -> Instant {
        let recovered = u64::from(ended.saturating_sub(failed)) / self.recover;
        let Some(doublings) = u64::from(failed).saturating_sub(recovered).checked_sub(1) else {
            return 0;
        };
        // The zeros in front are the doublings that fit.
        match u32::try_from(doublings) {
            _ if self.first == 0 => 0,
            Ok(doublings) if doublings <= self.first.leading_zeros() => {
                (self.first << doublings).min(self.max)
            }
            _ => self.max,
        }
    }
}

fn count(value: &Value) -> Result<u64, String> {
    let Value::Integer(number) = value else {
        return Err(RECOVER.to_owned());
    };
    let number = u64::try_from(*number).ok().filter(|number| *number > 0);
    number.ok_or_else(|| RECOVER.to_owned())
}
