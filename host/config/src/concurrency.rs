//! A tool's `concurrency`: how many of its executions may run at once, and with whom it shares that limit.

use super::{
    diagnostic::Diagnostic,
    node::{Entry, Node, Table, Value},
    reader::wrong_kind,
    source::Place,
};

/// A tool's concurrency, merged over all layers.
#[derive(Debug, Clone)]
pub struct Concurrency {
    /// The concurrency key.
    pub key: String,
    /// How many executions with this key may run at once; 0 limits nothing.
    pub limit: u32,
    /// What the table has beyond `key` and `limit`, sorted by name: for the policy.
    pub fields: Vec<(String, Entry)>,
    /// Where it stands.
    pub place: Place,
    /// Where its key stands, if it has one of its own; none where the tool's name is the key.
    pub key_place: Option<Place>,
    /// Where its limit stands, if it is written.
    pub limit_place: Option<Place>,
}

impl Concurrency {
    /// Reads the value of a tool; `None` where it does not bound the tool, or is wrong.
    ///
    /// A number is the limit of a key with the tool's configured name, 0 none at all; a table has a `key`, a `limit` (1 where
    /// it is not given) and what the policy takes.
    pub fn read(tool: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Option<Self> {
        let what = || format!("tool `{}`: `concurrency`", tool.escape_debug());
        match node.value {
            Value::Table(table) => Self::read_table(tool, table, node.place, problems),
            Value::Integer(_) => {
                let limit = read_limit(what, &node, problems)?;
                let place = node.place;
                let limit_place = Some(place.clone());
                (limit > 0).then(|| Self {
                    key: tool.to_owned(),
                    limit,
                    fields: Vec::new(),
                    place,
                    key_place: None,
                    limit_place,
                })
            }
            other => {
                let expected = "a limit (0 for none) or a table { key, limit }";
                problems.push(wrong_kind(&what(), expected, &other, &node.place));
                None
            }
        }
    }

    fn read_table(
        tool: &str,
        mut table: Table,
        place: Place,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let what = || format!("tool `{}`: `concurrency", tool.escape_debug());
        table.retain(|_, entry| !matches!(entry.node.value, Value::Null));
        let key = table.shift_remove("key");
        let key_place = key.as_ref().map(|entry| entry.node.place.clone());
        let limit = table.shift_remove("limit");
        let limit_place = limit.as_ref().map(|entry| entry.node.place.clone());
        let limit = match limit {
            Some(entry) => read_limit(|| what() + ".limit`", &entry.node, problems),
            None => Some(1),
        };
        let key = match key {
            Some(entry) => read_key(|| what() + ".key`", entry.node, problems),
            None => {
                problems.push(
                    Diagnostic::error(what() + "` has no `key`")
                        .at(&place, "a table names the key it limits")
                        .help("write `concurrency = N` to limit this tool alone, or add `key = \"...\"`"),
                );
                None
            }
        };
        let mut fields: Vec<(String, Entry)> = table.into_iter().collect();
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, entry) in &fields {
            if entry.node.value.to_guest().is_none() {
                let what = format!("{}.{}`", what(), name.escape_debug());
                problems.push(wrong_kind(
                    &what,
                    "a number of 64 bits",
                    &entry.node.value,
                    &entry.node.place,
                ));
            }
        }
        Some(Self { key: key?, limit: limit?, fields, place, key_place, limit_place })
    }

    /// As it could be written: `1`, or `{ key = "git", limit = 2 }`.
    pub fn text(&self) -> String {
        if self.key_place.is_none() {
            return self.limit.to_string();
        }
        let mut text = format!("{{ key = {:?}, limit = {}", self.key, self.limit);
        for (name, entry) in &self.fields {
            text += &format!(", {} = {}", name.escape_debug(), entry.node.value.quote());
        }
        text + " }"
    }

    /// The key and its limit where there is one to keep.
    pub fn bound(&self) -> Option<(&str, u32)> {
        (self.limit > 0).then_some((self.key.as_str(), self.limit))
    }
}

/// What a table starts from when it is laid over a number `N`: the number in table form, `{ key = <tool>, limit = N }`.
///
/// Nothing happens to any other pair of values: an integer replaces whatever stood there, tables merge field by field.
pub(super) fn widen(tool: &str, base: &mut Node, later: &Node) {
    if let (Value::Integer(_), Value::Table(_)) = (&base.value, &later.value) {
        let entry = |value| Entry {
            name: base.place.clone(),
            node: Node { value, place: base.place.clone() },
        };
        let table = Table::from_iter([
            ("key".to_owned(), entry(Value::String(tool.to_owned()))),
            ("limit".to_owned(), entry(base.value.clone())),
        ]);
        *base = Node { value: Value::Table(table), place: later.place.clone() };
    }
}

fn read_limit(
    what: impl Fn() -> String,
    node: &Node,
    problems: &mut Vec<Diagnostic>,
) -> Option<u32> {
    let expected = "a whole number from 0 to 4294967295";
    if let Value::Integer(text) = &node.value {
        if let Ok(limit) = text.parse() {
            return Some(limit);
        }
        problems.push(
            Diagnostic::error(format!("{} is {text}, expected {expected}", what()))
                .at(&node.place, if text.starts_with('-') { "negative" } else { "too large" })
                .help("0 lifts the limit"),
        );
    } else {
        problems.push(wrong_kind(&what(), expected, &node.value, &node.place));
    }
    None
}

fn read_key(
    what: impl Fn() -> String,
    node: Node,
    problems: &mut Vec<Diagnostic>,
) -> Option<String> {
    let wrong = match &node.value {
        Value::String(text) if text.is_empty() => "empty",
        Value::String(text) if text.chars().all(char::is_whitespace) => "only white space",
        Value::String(text) if text.chars().any(char::is_control) => {
            "a text with a control character"
        }
        Value::String(_) => "",
        other => {
            problems.push(wrong_kind(&what(), "a name", other, &node.place));
            return None;
        }
    };
    if !wrong.is_empty() {
        let quoted = node.value.quote();
        problems.push(
            Diagnostic::error(format!("{} is {wrong}: {quoted}, expected a name", what()))
                .at(&node.place, wrong),
        );
        return None;
    }
    match node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}
