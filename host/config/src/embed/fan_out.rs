//! A tool's `fan_out` as a value.

use std::fmt;

use jp_policy_core::terms::OnError;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, Visitor},
};

use crate::fan_out::EXPECTED;

/// Whether one call of a tool may carry several sets of arguments: one layer of it, or all of them merged.
///
/// How many of its operations run at once is the tool's concurrency.
///
/// ```
/// use jp_policy_config::PartialFanOutConfig;
/// use jp_policy_core::terms::OnError;
///
/// let mut layers: PartialFanOutConfig = serde_json::from_str("true")?;
/// layers.merge(serde_json::from_str(r#"{ "on_error": "stop" }"#)?);
/// let fan_out = layers.finish();
/// assert_eq!((fan_out.enabled, fan_out.on_error), (true, OnError::Stop));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PartialFanOutConfig {
    /// Whether it may. Laid over anything it replaces it.
    Enabled(bool),
    /// What a table says; what it doesn't say is up to other layers.
    Table(PartialFanOutTable),
}

/// A table in which anything may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PartialFanOutTable {
    /// Whether the tool takes a list of argument sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What a failed operation means for those that follow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_error: Option<OnError>,
}

/// A tool's fan-out, with nothing left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PartialFanOutConfig")]
pub struct FanOutConfig {
    /// Whether the tool takes a list of argument sets.
    pub enabled: bool,
    /// What a failed operation means for those that follow it.
    pub on_error: OnError,
}

impl FanOutConfig {
    /// As one layer that says all of it.
    pub fn to_partial(self) -> PartialFanOutConfig {
        PartialFanOutConfig::Table(PartialFanOutTable {
            enabled: Some(self.enabled),
            on_error: Some(self.on_error),
        })
    }
}

impl PartialFanOutConfig {
    /// Lays a later layer over this one.
    ///
    /// `true` and `false` replace whatever stood here; a table over a table merges field by field, and over `true` or `false` it
    /// starts from `{ enabled = <that> }`.
    pub fn merge(&mut self, later: Self) {
        let Self::Table(later) = later else {
            *self = later;
            return;
        };
        let base = self.table();
        *self = Self::Table(PartialFanOutTable {
            enabled: later.enabled.or(base.enabled),
            on_error: later.on_error.or(base.on_error),
        });
    }

    fn table(self) -> PartialFanOutTable {
        match self {
            Self::Table(table) => table,
            Self::Enabled(enabled) => PartialFanOutTable { enabled: Some(enabled), on_error: None },
        }
    }

    /// What has to be laid over this to get `next`; none if they are the same. `next` says all that there is to say, as
    /// [`FanOutConfig::to_partial`] makes it.
    pub fn delta(&self, next: Self) -> Option<Self> {
        if *self == next {
            return None;
        }
        let Self::Table(next) = next else {
            return Some(next);
        };
        let base = self.table();
        Some(Self::Table(PartialFanOutTable {
            enabled: next.enabled.filter(|enabled| base.enabled != Some(*enabled)),
            on_error: next.on_error.filter(|on_error| base.on_error != Some(*on_error)),
        }))
    }

    /// What all layers together make: a table without `enabled` switches it on, and operations run whether others have failed or
    /// not.
    pub fn finish(self) -> FanOutConfig {
        let table = self.table();
        FanOutConfig {
            enabled: table.enabled.unwrap_or(true),
            on_error: table.on_error.unwrap_or_default(),
        }
    }
}

impl From<PartialFanOutConfig> for FanOutConfig {
    fn from(partial: PartialFanOutConfig) -> Self {
        partial.finish()
    }
}

impl<'de> Deserialize<'de> for PartialFanOutConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfFanOut;

        impl<'de> Visitor<'de> for OfFanOut {
            type Value = PartialFanOutConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_bool<E: de::Error>(self, enabled: bool) -> Result<Self::Value, E> {
                Ok(PartialFanOutConfig::Enabled(enabled))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut table = PartialFanOutTable::default();
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "enabled" => table.enabled = map.next_value()?,
                        "on_error" => table.on_error = map.next_value()?,
                        "concurrency" => {
                            return Err(de::Error::custom(
                                "`fan_out.concurrency` moved: it is the tool's `concurrency` now",
                            ));
                        }
                        _ => return Err(de::Error::unknown_field(&name, &["enabled", "on_error"])),
                    }
                }
                Ok(PartialFanOutConfig::Table(table))
            }
        }

        deserializer.deserialize_any(OfFanOut)
    }
}

#[cfg(test)]
#[path = "fan_out_tests.rs"]
mod tests;
