//! A parsed document as a tree in which every value knows its place, whatever format it was written in.

use std::ops::Range;

use indexmap::IndexMap;
use jp_policy_guest::Value as GuestValue;
use serde_json::Value as Json;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::text::escape;

use super::{
    diagnostic::Diagnostic,
    source::{Located, Place, Source},
};

/// A value and its place.
pub type Node = Located<Value>;

/// What a value can be. Numbers keep their text, so that none is rounded or wrapped before it is checked.
#[derive(Debug, Clone)]
pub enum Value {
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
pub type Table = IndexMap<String, Entry>;

/// An entry of a table.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where its name stands.
    pub name: Place,
    /// Its value.
    pub node: Node,
}

impl Value {
    /// What kind of value it is, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
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

    /// As a policy gets it; none for an integer that does not fit 64 bits.
    pub fn to_guest(&self) -> Option<GuestValue> {
        Some(match self {
            Self::Bool(value) => GuestValue::Flag(*value),
            Self::Integer(text) => GuestValue::Integer(text.parse().ok()?),
            Self::Float(text) => GuestValue::Number(parse_float(text)),
            Self::String(text) => GuestValue::Text(text.clone()),
            Self::Datetime(_) | Self::Array(_) | Self::Table(_) => {
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

/// Lays `later` over `base`: tables merge entry by entry, of anything else the later one wins.
///
/// `special` may take over for a path (the names from the root); it gets the base's and the later value.
pub fn merge(
    base: &mut Node,
    later: Node,
    path: &mut Vec<String>,
    special: &dyn Fn(&[String], &mut Node, &Node),
) {
    special(path, base, &later);
    match (&mut base.value, later.value) {
        (Value::Table(entries), Value::Table(later)) => {
            for (name, entry) in later {
                match entries.get_mut(&name) {
                    Some(known) => {
                        path.push(name);
                        known.name = entry.name;
                        merge(&mut known.node, entry.node, path, special);
                        path.pop();
                    }
                    None => {
                        entries.insert(name, entry);
                    }
                }
            }
        }
        (_, value) => *base = Node { value, place: later.place },
    }
}

/// Parses a TOML document; what is wrong with it, all of it, goes to `problems`.
pub fn parse_toml(source: &Source, problems: &mut Vec<Diagnostic>) -> Node {
    let (table, errors) = DeTable::parse_recoverable(source.text());
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        problems.push(
            Diagnostic::error(format!(
                "`{}` is not valid TOML: {}",
                source.path().display(),
                error.message().lines().collect::<Vec<_>>().join("; ")
            ))
            .at(&place(source, span), "here"),
        );
    }
    let span = table.span();
    Located { value: convert_table(source, table.into_inner()), place: place(source, span) }
}

fn convert_table(source: &Source, table: DeTable<'_>) -> Value {
    let mut entries: Table = table
        .into_iter()
        .map(|(name, value)| {
            let place = place(source, name.span());
            (name.into_inner().into_owned(), Entry { name: place, node: convert(source, value) })
        })
        .collect();
    entries.sort_by_key(|_, entry| entry.name.span.start);
    Value::Table(entries)
}

fn convert(source: &Source, value: Spanned<DeValue<'_>>) -> Node {
    let place = place(source, value.span());
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(integer) => {
            let parsed = i128::from_str_radix(integer.as_str(), integer.radix());
            Value::Integer(parsed.map_or_else(|_| integer.to_string(), |value| value.to_string()))
        }
        DeValue::Float(float) => Value::Float(float.as_str().to_owned()),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(value) => Value::Datetime(value.to_string()),
        DeValue::Array(items) => {
            Value::Array(items.into_iter().map(|item| convert(source, item)).collect())
        }
        DeValue::Table(table) => convert_table(source, table),
    };
    Located { value, place }
}

fn place(source: &Source, span: Range<usize>) -> Place {
    Place { source: source.clone(), span }
}
