//! A parsed document as a tree in which every value knows its place, whatever format it was written in.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use jp_policy_core::text::escape;
use jp_policy_guest::Value as GuestValue;
use serde_json::Value as Json;

use super::source::{Located, Place};

/// A value and its place.
pub type Node = Located<Value>;

/// What a value can be. Numbers keep their text, so that none is rounded or wrapped before it is checked.
#[derive(Debug, Clone)]
pub enum Value {
    /// Nothing, as `null` in JSON and YAML says.
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number: its decimal text where it fits 128 bits, its text as written otherwise.
    Integer(String),
    /// Any other number.
    Float(String),
    /// Text.
    String(String),
    /// A date or time.
    Datetime(String),
    /// An array.
    Array(Vec<Node>),
    /// A table, in the order it was written.
    Table(Table),
}

/// The entries of a table, in the order they were written.
pub type Table = IndexMap<String, Entry, RandomState>;

/// An entry of a table.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where its name stands.
    pub name: Place,
    /// Its value.
    pub node: Node,
}

impl Value {
    /// What kind of value it is, with its article: "a string".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a fractional number",
            Self::String(_) => "a string",
            Self::Datetime(_) => "a date or time",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }

    /// As JSON. An integer beyond 64 bits becomes a fractional number, as JSON readers have it.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Integer(text) => match (text.parse::<i64>(), text.parse::<u64>()) {
                (Ok(value), _) => value.into(),
                (_, Ok(value)) => value.into(),
                _ => float(text),
            },
            Self::Float(text) => float(text),
            Self::String(text) | Self::Datetime(text) => Json::String(text.clone()),
            Self::Array(items) => items.iter().map(|item| item.value.to_json()).collect(),
            Self::Table(table) => {
                let entries = table.iter();
                Json::Object(
                    entries
                        .map(|(name, entry)| (name.clone(), entry.node.value.to_json()))
                        .collect(),
                )
            }
        }
    }

    /// As JSON, like [`to_json`](Self::to_json), of a value that nobody needs any more: its texts are not copied.
    pub fn into_json(self) -> Json {
        match self {
            Self::String(text) | Self::Datetime(text) => Json::String(text),
            Self::Array(items) => items.into_iter().map(|item| item.value.into_json()).collect(),
            Self::Table(table) => {
                let entries = table.into_iter();
                Json::Object(
                    entries.map(|(name, entry)| (name, entry.node.value.into_json())).collect(),
                )
            }
            number => number.to_json(),
        }
    }

    /// As a policy gets it; none for an integer that does not fit 64 bits.
    pub fn to_guest(&self) -> Option<GuestValue> {
        Some(match self {
            Self::Bool(value) => GuestValue::Flag(*value),
            Self::Integer(text) => GuestValue::Integer(text.parse().ok()?),
            Self::Float(text) => GuestValue::Number(parse_float(text)),
            Self::String(text) => GuestValue::Text(text.clone()),
            Self::Null | Self::Datetime(_) | Self::Array(_) | Self::Table(_) => {
                GuestValue::Json(self.to_json().to_string())
            }
        })
    }

    /// How a message quotes it: short, on one line, without control characters.
    pub fn quote(&self) -> String {
        let text = match self {
            Self::Integer(text) | Self::Float(text) => text.clone(),
            other => escape(&other.to_json().to_string()),
        };
        if text.chars().count() > 60 {
            format!("{}...", text.chars().take(57).collect::<String>())
        } else {
            text
        }
    }
}

fn float(text: &str) -> Json {
    serde_json::Number::from_f64(parse_float(text)).map_or(Json::Null, Json::Number)
}

fn parse_float(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}
