//! JSON, with what people write in configuration: comments, trailing commas, and the rest of JSON5.

use std::ops::Range;

use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};

use super::syntax::{DEEPEST, invalid, set_twice};
use crate::{
    diagnostic::Diagnostic,
    node::{Entry, Node, Table, Value},
    source::{Located, Place, Source},
};

/// Parses a JSON document; what is wrong with it goes to `problems`. An empty one is an empty table.
pub(crate) fn parse_json(source: &Source, problems: &mut Vec<Diagnostic>) -> Node {
    let whole = 0..source.text().len();
    parse_json_at(source, whole, problems)
}

/// Parses a part of a source as JSON.
pub(crate) fn parse_json_at(
    source: &Source,
    part: Range<usize>,
    problems: &mut Vec<Diagnostic>,
) -> Node {
    // A comma that is forgotten is a slip, not a style.
    let options = ParseOptions { allow_missing_commas: false, ..ParseOptions::default() };
    let text = &source.text()[part.clone()];
    let mut converter = Converter { source, offset: part.start, problems };
    let value = match parse_to_ast(text, &CollectOptions::default(), &options) {
        Ok(parsed) => parsed.value,
        Err(error) => {
            let range = error.range();
            let message = lower(&error.kind().to_string());
            let span = range.start + part.start..range.end + part.start;
            converter.problems.push(invalid(source, "JSON", &message, span));
            None
        }
    };
    value.map_or_else(
        || Located {
            value: Value::Table(Table::default()),
            place: Place { source: source.clone(), span: part },
        },
        |value| converter.convert(value, 0),
    )
}

struct Converter<'a> {
    source: &'a Source,
    offset: usize,
    problems: &'a mut Vec<Diagnostic>,
}

impl Converter<'_> {
    fn place(&self, range: jsonc_parser::common::Range) -> Place {
        let span = range.start + self.offset..range.end + self.offset;
        Place { source: self.source.clone(), span }
    }

    fn convert(&mut self, value: ast::Value<'_>, depth: usize) -> Node {
        let (value, range) = match value {
            ast::Value::StringLit(text) => (Value::String(text.value.into_owned()), text.range),
            ast::Value::NumberLit(number) => (read_number(number.value), number.range),
            ast::Value::BooleanLit(boolean) => (Value::Bool(boolean.value), boolean.range),
            ast::Value::NullKeyword(null) => (Value::Null, null.range),
            ast::Value::Object(ast::Object { range, .. })
            | ast::Value::Array(ast::Array { range, .. })
                if depth >= DEEPEST =>
            {
                let message = format!("nested more than {DEEPEST} deep");
                let span = self.place(range).span;
                self.problems.push(invalid(self.source, "JSON", &message, span));
                (Value::Null, range)
            }
            ast::Value::Array(array) => {
                let items = array.elements.into_iter().map(|item| self.convert(item, depth + 1));
                (Value::Array(items.collect()), array.range)
            }
            ast::Value::Object(object) => (self.table(object.properties, depth), object.range),
        };
        Located { value, place: self.place(range) }
    }

    fn table(&mut self, properties: Vec<ast::ObjectProp<'_>>, depth: usize) -> Value {
        let mut table = Table::with_capacity_and_hasher(
            properties.len(),
            foldhash::fast::RandomState::default(),
        );
        for property in properties {
            let range = match &property.name {
                ast::ObjectPropName::String(text) => text.range,
                ast::ObjectPropName::Word(word) => word.range,
            };
            let (name, place) = (property.name.into_string(), self.place(range));
            if let Some(first) = table.get(&name) {
                let first: &Entry = first;
                self.problems.push(set_twice("JSON", &name, &first.name, &place));
                continue;
            }
            let node = self.convert(property.value, depth + 1);
            table.insert(name, Entry { name: place, node });
        }
        Value::Table(table)
    }
}

/// A number of JSON, or of JSON5 with its hexadecimal digits and signs.
fn read_number(text: &str) -> Value {
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let whole = match hexadecimal {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    };
    match whole {
        Some(0) => Value::Integer("0".to_owned()),
        Some(number) => Value::Integer(format!("{sign}{number}")),
        None if hexadecimal.is_some() || digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Value::Integer(text.to_owned())
        }
        None => Value::Float(match digits {
            "Infinity" => format!("{sign}inf"),
            "NaN" => "nan".to_owned(),
            _ => format!("{sign}{digits}"),
        }),
    }
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
