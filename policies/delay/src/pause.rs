//! The pause of a key, as its fields `delay` and `from` say.

use jp_policy_guest::{Field, Instant, Value, duration};

const FROM: &str = "expected \"end\" or \"start\"";
const NO_EFFECT: &str = "has no effect without `delay`";

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
        let length = find("delay").map(|value| duration::read(value, "a pause"));
        let after = find("from").map(after);
        if let Some(Err(why)) = &length {
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
