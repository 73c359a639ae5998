//! Single values: `KEY=VALUE` and `KEY:=JSON` on the command line, `JP_CFG_*` in the environment.

use std::ops::Range;

use super::{
    diagnostic::Diagnostic,
    document::Document,
    format::parse_json_at,
    key_path::{KnownNames, Segment, dotted, underscored},
    node::{Entry, Node, Table, Value},
    source::{Located, Place, Source},
    spec::FieldType as _,
};

/// A value for one key, as a tree to be laid over the others.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    /// The tree.
    pub root: Node,
    /// The names that lead to the value.
    pub path: Vec<String>,
    /// Whether the value is added to the list that is there.
    pub adds: bool,
}

/// What jp calls environment variables that set configuration.
pub(super) const PREFIX: &str = "JP_CFG_";

/// How messages call the places of single values; those of the environment are called by their variable.
const ARGUMENT: &str = "--cfg";

/// Reads `KEY=VALUE`, `KEY:=JSON`, `KEY+=VALUE` or `KEY:+=JSON`, or a whole document as JSON.
pub(super) fn argument(
    text: &str,
    names: &KnownNames,
    problems: &mut Vec<Diagnostic>,
) -> Option<Assignment> {
    let source = Source::new(ARGUMENT, text);
    let whole = Place { source: source.clone(), span: 0..text.len() };
    if text.starts_with('{') {
        let before = problems.len();
        let root = parse_json_at(&source, 0..text.len(), problems);
        let sound = problems.len() == before;
        return sound.then(|| Assignment { root, path: Vec::new(), adds: false });
    }
    let Some(equals) = text.find('=') else {
        problems.push(
            Diagnostic::error(format!("`--cfg {}` sets nothing", text.escape_debug()))
                .at(&whole, "expected KEY=VALUE or KEY:=JSON"),
        );
        return None;
    };
    let (mut end, mut json, mut adds) = (equals, false, false);
    loop {
        match text[..end].chars().next_back() {
            Some(':') if !json => json = true,
            Some('+') if !adds => adds = true,
            _ => break,
        }
        end -= 1;
    }
    let segments = match dotted(&text[..end], names) {
        Ok(segments) => segments,
        Err(why) => {
            let key = text[..end].escape_debug();
            problems.push(
                Diagnostic::error(format!("`--cfg`: the key `{key}` can't be read: {why}"))
                    .at(&Place { source, span: 0..end }, "expected names with dots between them"),
            );
            return None;
        }
    };
    assign(&source, segments, Given { span: equals + 1..text.len(), json, adds }, problems)
}

/// Reads an environment variable; none for one that sets what this project doesn't know. A value that begins with `:` is JSON, one
/// that begins with `+` is added to what is there; a backslash before them takes that meaning away.
pub(super) fn variable(
    name: &str,
    value: &str,
    names: &KnownNames,
    problems: &mut Vec<Diagnostic>,
) -> Option<Assignment> {
    let key = name.strip_prefix(PREFIX)?.to_ascii_lowercase();
    let mut segments = underscored(&key, names)?;
    if segments.is_empty() {
        return None;
    }
    let source = Source::new(name, format!("{name}={value}"));
    for segment in &mut segments {
        segment.span.start += PREFIX.len();
        segment.span.end += PREFIX.len();
    }
    let (mut start, mut json, mut adds) = (name.len() + 1, false, false);
    let text = source.text();
    loop {
        match text.as_bytes().get(start) {
            Some(b':') if !json => json = true,
            Some(b'+') if !adds => adds = true,
            Some(b'\\') if matches!(text.as_bytes().get(start + 1), Some(b':' | b'+')) => {
                start += 1;
                break;
            }
            _ => break,
        }
        start += 1;
    }
    let given = Given { span: start..text.len(), json, adds };
    assign(&source, segments, given, problems)
}

/// The value of an assignment: where it stands, and how it is meant.
struct Given {
    span: Range<usize>,
    json: bool,
    adds: bool,
}

fn assign(
    source: &Source,
    segments: Vec<Segment>,
    given: Given,
    problems: &mut Vec<Diagnostic>,
) -> Option<Assignment> {
    let path: Vec<String> = segments.iter().map(|segment| segment.name.clone()).collect();
    let place = |span: Range<usize>| Place { source: source.clone(), span };
    let Given { span, json, adds } = given;
    let mut node = if json {
        let before = problems.len();
        let node = parse_json_at(source, span.clone(), problems);
        if problems.len() > before {
            return None;
        }
        if source.text()[span.clone()].trim().is_empty() {
            problems.push(
                Diagnostic::error(format!("`{}` is given no value", path.join(".").escape_debug()))
                    .at(&place(span), "expected JSON")
                    .help("`null` takes a value away"),
            );
            return None;
        }
        node
    } else {
        let text = &source.text()[span.clone()];
        let value = if adds {
            let items = text.split(',').map(|item| Located {
                value: Value::String(item.to_owned()),
                place: place(span.clone()),
            });
            Value::Array(items.collect())
        } else if Document::SHAPE.at(&path).is_typed() {
            read(text)
        } else {
            Value::String(text.to_owned())
        };
        Located { value, place: place(span.clone()) }
    };
    for segment in segments.into_iter().rev() {
        let entry = Entry { name: place(segment.span.clone()), node };
        let table = Table::from_iter([(segment.name, entry)]);
        node = Located { value: Value::Table(table), place: place(segment.span.start..span.end) };
    }
    Some(Assignment { root: node, path, adds })
}

/// A number or a boolean where it looks like one.
fn read(text: &str) -> Value {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Value::Integer(match text.parse::<i128>() {
            Ok(number) => number.to_string(),
            Err(_) => text.to_owned(),
        });
    }
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ if digits.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok() => {
            Value::Float(text.to_owned())
        }
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
#[path = "assignment_tests.rs"]
mod tests;
