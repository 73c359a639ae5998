//! TOML.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::syntax::invalid;
use crate::{
    diagnostic::Diagnostic,
    node::{Entry, Node, Table, Value},
    source::{Located, Place, Source},
};

/// Parses a TOML document, whatever its extension says.
///
/// What is wrong with it, all of it, goes to `problems`; what could be read is returned.
pub fn parse_toml(source: &Source, problems: &mut Vec<Diagnostic>) -> Node {
    let (table, errors) = DeTable::parse_recoverable(source.text());
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        problems.push(invalid(source, "TOML", &message, span));
    }
    let span = table.span();
    Located { value: convert_table(source, table.into_inner()), place: place(source, span) }
}

fn convert_table(source: &Source, table: DeTable<'_>) -> Value {
    let mut entries: Vec<(String, Entry)> = table
        .into_iter()
        .map(|(name, value)| {
            let place = place(source, name.span());
            (name.into_inner().into_owned(), Entry { name: place, node: convert(source, value) })
        })
        .collect();
    entries.sort_by_key(|(_, entry)| entry.name.span.start);
    Value::Table(Table::from_iter(entries))
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
