//! YAML: version 1.2, one document, with anchors and without merge keys, as jp reads it.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};

use super::syntax::{DEEPEST, invalid, set_twice};
use crate::{
    diagnostic::Diagnostic,
    node::{Entry, Node, Table, Value},
    source::{Located, Place, Source},
};

/// What a document may grow to by anchors that are named again and again: more than any configuration has, and soon reached by
/// one that is made to explode.
const MOST_COPIED: usize = 100_000;

/// Parses a YAML document; what is wrong with it goes to `problems`. An empty one is an empty table.
pub(crate) fn parse_yaml(source: &Source, problems: &mut Vec<Diagnostic>) -> Node {
    let mut reader = Reader {
        source,
        events: Parser::new_from_str(source.text()),
        bytes: Bytes::of(source.text()),
        anchors: HashMap::new(),
        copied: 0,
    };
    let document = match reader.document() {
        Ok(document) => document,
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    match document {
        Some(node) if !matches!(node.value, Value::Null) => node,
        _ => Located {
            value: Value::Table(Table::default()),
            place: Place { source: source.clone(), span: 0..source.text().len() },
        },
    }
}

/// Where characters stand in bytes: the parser counts characters.
struct Bytes(Option<Vec<usize>>, usize);

impl Bytes {
    fn of(text: &str) -> Self {
        let places = (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect());
        Self(places, text.len())
    }

    fn at(&self, marker: &Marker) -> usize {
        match &self.0 {
            Some(places) => places.get(marker.index()).copied().unwrap_or(self.1),
            None => marker.index().min(self.1),
        }
    }
}

struct Reader<'a> {
    source: &'a Source,
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    bytes: Bytes,
    /// What an anchor names, and how many values that is. None while it is being read.
    anchors: HashMap<usize, Option<(Node, usize)>>,
    copied: usize,
}

/// The first thing that is wrong ends the reading: what follows it is guesswork in a format of indentation.
type Read<T> = Result<T, Diagnostic>;

impl<'a> Reader<'a> {
    fn document(&mut self) -> Read<Option<Node>> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(document),
                Event::DocumentStart(_) if document.is_some() => {
                    return Err(self.wrong("a second document begins", &span));
                }
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                event => document = Some(self.node(event, span, 0)?.0),
            }
        }
    }

    fn next(&mut self) -> Read<(Event<'a>, Span)> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let at = self.bytes.at(error.marker());
                let span = at..self.source.text().ceil_char_boundary(at + 1);
                Err(invalid(self.source, "YAML", error.info(), span))
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn wrong(&self, message: &str, span: &Span) -> Diagnostic {
        invalid(self.source, "YAML", message, self.span(span))
    }

    fn span(&self, span: &Span) -> Range<usize> {
        let (start, end) = (self.bytes.at(&span.start), self.bytes.at(&span.end));
        start..end.max(start)
    }

    fn place(&self, span: &Span) -> Place {
        Place { source: self.source.clone(), span: self.span(span) }
    }

    /// A value and how many values it is made of.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Read<(Node, usize)> {
        if depth > DEEPEST {
            return Err(self.wrong(&format!("nested more than {DEEPEST} deep"), &span));
        }
        let (anchor, value, size, span) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, self.scalar(text, style, tag.as_deref(), &span)?, 1, span)
            }
            Event::SequenceStart(anchor, tag) => {
                self.known(tag.as_deref(), &["seq"], &span)?;
                self.open(anchor);
                let (value, size, end) = self.sequence(depth)?;
                (anchor, value, size, Span::new(span.start, end))
            }
            Event::MappingStart(anchor, tag) => {
                self.known(tag.as_deref(), &["map"], &span)?;
                self.open(anchor);
                let (value, size, end) = self.mapping(depth)?;
                (anchor, value, size, Span::new(span.start, end))
            }
            Event::Alias(anchor) => return self.alias(anchor, &span),
            _ => return Err(self.wrong("expected a value", &span)),
        };
        let node = Located { value, place: self.place(&span) };
        if anchor > 0 {
            self.anchors.insert(anchor, Some((node.clone(), size)));
        }
        Ok((node, size))
    }

    fn open(&mut self, anchor: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, None);
        }
    }

    fn alias(&mut self, anchor: usize, span: &Span) -> Read<(Node, usize)> {
        let Some(Some((node, size))) = self.anchors.get(&anchor) else {
            return Err(self.wrong("an alias names what it is a part of", span));
        };
        self.copied += size;
        if self.copied > MOST_COPIED {
            let message = format!("its aliases stand for more than {MOST_COPIED} values");
            return Err(self.wrong(&message, span));
        }
        // The place is that of the alias: it is what this value depends on here.
        Ok((Located { value: node.value.clone(), place: self.place(span) }, *size))
    }

    fn sequence(&mut self, depth: usize) -> Read<(Value, usize, Marker)> {
        let (mut items, mut size) = (Vec::new(), 1);
        let mut end = None;
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok((Value::Array(items), size, end_of(end, &span)));
            }
            let (item, more) = self.node(event, span, depth + 1)?;
            end = Some(span.end);
            size += more;
            items.push(item);
        }
    }

    fn mapping(&mut self, depth: usize) -> Read<(Value, usize, Marker)> {
        let (mut table, mut size) = (Table::default(), 1);
        let mut end = None;
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok((Value::Table(table), size, end_of(end, &span)));
            }
            let (name, _) = self.node(event, span, depth + 1)?;
            let (event, span) = self.next()?;
            let (node, more) = self.node(event, span, depth + 1)?;
            end = Some(span.end);
            size += more;
            let text = match name.value {
                Value::String(text) | Value::Integer(text) | Value::Float(text) => text,
                Value::Bool(value) => value.to_string(),
                other => {
                    let message = format!("expected a name, found {}", other.kind());
                    return Err(invalid(self.source, "YAML", &message, name.place.span));
                }
            };
            if let Some(first) = table.get(&text) {
                let first: &Entry = first;
                return Err(set_twice("YAML", &text, &first.name, &name.place));
            }
            table.insert(text, Entry { name: name.place, node });
        }
    }

    fn known(&self, tag: Option<&Tag>, names: &[&str], span: &Span) -> Read<()> {
        match tag {
            Some(tag) if tag.handle == "!" && tag.suffix.is_empty() => Ok(()),
            Some(tag) if !tag.is_yaml_core_schema() || !names.contains(&tag.suffix.as_str()) => {
                let message = format!("the tag `{}{}` means nothing here", tag.handle, tag.suffix);
                Err(self.wrong(&message.escape_debug().to_string(), span))
            }
            _ => Ok(()),
        }
    }

    fn scalar(
        &self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Read<Value> {
        self.known(tag, &["str", "int", "float", "bool", "null"], span)?;
        let text = text.into_owned();
        let plain = match tag {
            Some(tag) => tag.suffix != "str" && !tag.suffix.is_empty(),
            None => style == ScalarStyle::Plain,
        };
        Ok(if plain { read_plain(text) } else { Value::String(text) })
    }
}

/// Where a collection ends: with its bracket, or, in block style, with its last value.
fn end_of(last: Option<Marker>, end: &Span) -> Marker {
    match last {
        Some(last) if end.is_empty() => last,
        _ => end.end,
    }
}

/// A plain scalar by the core schema of YAML 1.2: `yes` and `on` are texts.
fn read_plain(text: String) -> Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Value::Float("inf".to_owned());
        }
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float("-inf".to_owned()),
        ".nan" | ".NaN" | ".NAN" => return Value::Float("nan".to_owned()),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let (digits, radix) = match unsigned.get(..2) {
        Some("0x") => (&unsigned[2..], 16),
        Some("0o") => (&unsigned[2..], 8),
        _ => (unsigned, 10),
    };
    let sign = if text.starts_with('-') { "-" } else { "" };
    if !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix)) {
        return Value::Integer(match i128::from_str_radix(digits, radix) {
            Ok(0) => "0".to_owned(),
            Ok(number) => format!("{sign}{number}"),
            Err(_) => text,
        });
    }
    let numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.bytes().any(|byte| byte.is_ascii_digit())
        && unsigned.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    match text.parse::<f64>() {
        Ok(_) if numeric => Value::Float(format!("{sign}{unsigned}")),
        _ => Value::String(text),
    }
}
