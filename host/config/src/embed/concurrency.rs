//! A tool's `concurrency` as a value.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Unexpected, Visitor},
};
use serde_json::{Map, Value as Json};

use crate::concurrency::{DEFAULT_LIMIT, EXPECTED, EXPECTED_LIMIT, wrong_key};

/// How many executions of a tool may run at once, and with whom it shares that limit: one layer of it, or all of them merged.
///
/// ```
/// use jp_policy_config::{ConcurrencyConfig, PartialConcurrencyConfig};
///
/// let mut layers: PartialConcurrencyConfig = serde_json::from_str("4")?;
/// layers.merge("github_issues", serde_json::from_str(r#"{ "key": "github" }"#)?);
/// let concurrency = layers.finish()?;
/// assert_eq!(concurrency.resolve("github_issues"), Some(("github", 4)));
///
/// // In mid-conversation the limit is set to 2: this is what has to be stored.
/// let changed: ConcurrencyConfig = serde_json::from_str(r#"{ "key": "github", "limit": 2 }"#)?;
/// let delta = concurrency.to_partial().delta(changed.to_partial()).expect("it differs");
/// assert_eq!(serde_json::to_string(&delta)?, r#"{"limit":2}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PartialConcurrencyConfig {
    /// A limit for this tool alone; 0 for none. Laid over anything it replaces it.
    Limit(u32),
    /// What a table says; what it doesn't say is up to other layers.
    Table(PartialSharedConcurrency),
}

/// A table in which anything may be left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PartialSharedConcurrency {
    /// The concurrency key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How many executions with the key may run at once; 0 limits nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Further fields, for the policy. Null takes away what the layers before have.
    #[serde(flatten)]
    pub fields: Map<String, Json>,
}

/// A tool's concurrency, with nothing left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "PartialConcurrencyConfig")]
pub enum ConcurrencyConfig {
    /// A limit for this tool alone: its key is the tool's configured name. 0 limits nothing.
    Limit(u32),
    /// A key of its own.
    Shared(SharedConcurrency),
}

/// A key and its limit, and what the policy is given beside them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharedConcurrency {
    /// The concurrency key: not empty, not only white space, without control characters.
    pub key: String,
    /// How many executions with the key may run at once; 0 limits nothing.
    pub limit: u32,
    /// Further fields, for the policy; none of them null.
    #[serde(flatten)]
    pub fields: Map<String, Json>,
}

/// Why layers don't make a tool's concurrency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConcurrencyError {
    /// There is a table, and no layer names a key.
    #[error("`concurrency` has no `key`: a table names the key that it limits")]
    NoKey,
    /// The key is no name.
    #[error("`concurrency.key` is {0:?}, expected a name")]
    Key(String),
}

impl ConcurrencyConfig {
    /// The key and the limit of a tool with this configured name; none where nothing is limited.
    pub fn resolve<'a>(&'a self, tool: &'a str) -> Option<(&'a str, u32)> {
        match self {
            Self::Limit(0) | Self::Shared(SharedConcurrency { limit: 0, .. }) => None,
            Self::Limit(limit) => Some((tool, *limit)),
            Self::Shared(SharedConcurrency { key, limit, .. }) => Some((key, *limit)),
        }
    }

    /// As one layer that says all of it.
    pub fn to_partial(&self) -> PartialConcurrencyConfig {
        match self {
            Self::Limit(limit) => PartialConcurrencyConfig::Limit(*limit),
            Self::Shared(SharedConcurrency { key, limit, fields }) => {
                PartialConcurrencyConfig::Table(PartialSharedConcurrency {
                    key: Some(key.clone()),
                    limit: Some(*limit),
                    fields: fields.clone(),
                })
            }
        }
    }
}

impl PartialConcurrencyConfig {
    /// Lays a later layer of the tool with this configured name over this one.
    ///
    /// A number replaces whatever stood here; a table over a table merges field by field; a table over a number starts from that
    /// number's table, `{ key = <tool>, limit = <number> }`, and over 0, which is neither a key nor a limit, from nothing.
    pub fn merge(&mut self, tool: &str, later: Self) {
        let Self::Table(later) = later else {
            *self = later;
            return;
        };
        let mut base = match std::mem::replace(self, Self::Limit(0)) {
            Self::Table(base) => base,
            Self::Limit(0) => PartialSharedConcurrency::default(),
            Self::Limit(limit) => PartialSharedConcurrency {
                key: Some(tool.to_owned()),
                limit: Some(limit),
                fields: Map::new(),
            },
        };
        base.key = later.key.or(base.key);
        base.limit = later.limit.or(base.limit);
        for (name, value) in later.fields {
            if value.is_null() {
                base.fields.shift_remove(&name);
            } else {
                base.fields.insert(name, value);
            }
        }
        *self = Self::Table(base);
    }

    /// What has to be laid over this to get `next`; none if they are the same. `next` says all that there is to say, as
    /// [`ConcurrencyConfig::to_partial`] makes it.
    pub fn delta(&self, next: Self) -> Option<Self> {
        if *self == next {
            return None;
        }
        let (Self::Table(base), Self::Table(next)) = (self, &next) else {
            return Some(next);
        };
        let changed =
            next.fields.iter().filter(|(name, value)| base.fields.get(*name) != Some(value));
        let mut fields: Map<String, Json> =
            changed.map(|(name, value)| (name.clone(), value.clone())).collect();
        for name in base.fields.keys().filter(|name| !next.fields.contains_key(*name)) {
            fields.insert(name.clone(), Json::Null);
        }
        Some(Self::Table(PartialSharedConcurrency {
            key: next.key.clone().filter(|key| base.key.as_ref() != Some(key)),
            limit: next.limit.filter(|limit| base.limit != Some(*limit)),
            fields,
        }))
    }

    /// The same where either may be unset. No layer can make a value unset again: `0` lifts the limit instead.
    pub fn delta_between(base: Option<&Self>, next: Option<Self>) -> Option<Self> {
        match (base, next) {
            (Some(base), Some(next)) => base.delta(next),
            (None, next) => next,
            (Some(Self::Limit(0)), None) => None,
            (Some(_), None) => Some(Self::Limit(0)),
        }
    }

    /// What all layers together make: a table without `limit` has the limit 1.
    pub fn finish(self) -> Result<ConcurrencyConfig, ConcurrencyError> {
        let PartialSharedConcurrency { key, limit, mut fields } = match self {
            Self::Limit(limit) => return Ok(ConcurrencyConfig::Limit(limit)),
            Self::Table(table) => table,
        };
        let key = key.ok_or(ConcurrencyError::NoKey)?;
        if wrong_key(&key).is_some() {
            return Err(ConcurrencyError::Key(key));
        }
        fields.retain(|_, value| !value.is_null());
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        Ok(ConcurrencyConfig::Shared(SharedConcurrency { key, limit, fields }))
    }
}

impl TryFrom<PartialConcurrencyConfig> for ConcurrencyConfig {
    type Error = ConcurrencyError;

    fn try_from(partial: PartialConcurrencyConfig) -> Result<Self, Self::Error> {
        partial.finish()
    }
}

/// A limit: what is no number of 32 bits is refused, and never cut to one.
#[derive(Debug, Clone, Copy)]
struct Limit(u32);

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfLimit;

        impl Visitor<'_> for OfLimit {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED_LIMIT)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Limit, E> {
                limit(Ok(number))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Limit, E> {
                limit(u64::try_from(number).map_err(|_| number))
            }
        }

        deserializer.deserialize_any(OfLimit)
    }
}

/// A limit from what a format has read: a number, or a negative one.
fn limit<E: de::Error>(number: Result<u64, i64>) -> Result<Limit, E> {
    let unexpected = match number {
        Ok(number) => match u32::try_from(number) {
            Ok(limit) => return Ok(Limit(limit)),
            Err(_) => Unexpected::Unsigned(number),
        },
        Err(number) => Unexpected::Signed(number),
    };
    Err(E::invalid_value(unexpected, &EXPECTED_LIMIT))
}

impl<'de> Deserialize<'de> for PartialConcurrencyConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfConcurrency;

        impl<'de> Visitor<'de> for OfConcurrency {
            type Value = PartialConcurrencyConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                limit(Ok(number)).map(|Limit(limit)| PartialConcurrencyConfig::Limit(limit))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                limit(u64::try_from(number).map_err(|_| number))
                    .map(|Limit(limit)| PartialConcurrencyConfig::Limit(limit))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut table = PartialSharedConcurrency::default();
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "key" => table.key = map.next_value()?,
                        "limit" => {
                            table.limit =
                                map.next_value::<Option<Limit>>()?.map(|Limit(limit)| limit);
                        }
                        _ => {
                            table.fields.insert(name, map.next_value()?);
                        }
                    }
                }
                Ok(PartialConcurrencyConfig::Table(table))
            }
        }

        deserializer.deserialize_any(OfConcurrency)
    }
}

#[cfg(test)]
#[path = "concurrency_tests.rs"]
mod tests;
