//! A tool's `concurrency`: how many of its executions may run at once, and with whom it shares that limit.

use super::{
    diagnostic::Diagnostic,
    node::{Entry, Node, Table, Value},
    reader::{Reader, wrong_kind},
    source::Place,
    spec::{FieldType, Later, Shape, Table as _, table},
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

table! {
    pub(super) struct ConcurrencyTable "ConcurrencyTable" {
        /// The concurrency key: tools that name it share its limit.
        #[pattern = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$"]
        key: Later<String>,
        limit: Later<Limit>,
    }
}

/// How many executions may run at once.
pub(super) struct Limit;

impl FieldType for Limit {
    const SHAPE: Shape = Shape::SCALAR;
}

/// A limit, or a table, which may have any other field for the policy.
impl FieldType for Concurrency {
    const SHAPE: Shape = Shape::open(ConcurrencyTable::FIELDS, &Shape::SCALAR).or_scalar();
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Limit {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limit".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "How many executions may run at once; 0 lifts the limit.",
            "type": "integer",
            "minimum": 0,
            "maximum": u32::MAX,
        })
    }
}

// By hand: beyond key and limit a table has whatever the policy takes.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Concurrency {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Concurrency".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let fields = ConcurrencyTable::FIELDS.iter();
        let fields =
            fields.map(|field| (field.name.to_owned(), field.schema(generator, false).to_value()));
        let fields: serde_json::Map<_, _> = fields.collect();
        schemars::json_schema!({
            "description": "A limit for this tool alone, or a key that tools share, with its limit and fields for the policy.",
            "anyOf": [
                generator.subschema_for::<Limit>(),
                { "type": "object", "properties": fields },
            ],
        })
    }
}

/// What `concurrency` takes, for messages.
pub(super) const EXPECTED: &str = "a limit (0 for none) or a table { key, limit }";

/// What a limit must be, for messages.
pub(super) const EXPECTED_LIMIT: &str = "a whole number from 0 to 4294967295";

/// The limit of a table that gives none.
pub(super) const DEFAULT_LIMIT: u32 = 1;

impl Concurrency {
    /// Reads the value of a tool; `None` where it does not bound the tool, or, with a diagnostic, is wrong.
    ///
    /// A number is the limit of a key with the tool's configured name, 0 none at all; a table has a `key`, a `limit` (1 where
    /// it is not given) and what the policy takes.
    pub fn read(tool: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Option<Self> {
        let what = || format!("tool `{}`: `concurrency`", tool.escape_debug());
        match node.value {
            Value::Table(_) => Self::read_table(what(), node, problems),
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
                problems.push(wrong_kind(&what(), EXPECTED, &other, &node.place));
                None
            }
        }
    }

    fn read_table(what: String, node: Node, problems: &mut Vec<Diagnostic>) -> Option<Self> {
        let place = node.place.clone();
        let mut reader = Reader::new(what, node, problems)?;
        let ConcurrencyTable { key, limit } = ConcurrencyTable::take(&mut reader);
        let what = reader.what.trim_end_matches('`').to_owned();
        let key_place = key.as_ref().map(|entry| entry.node.place.clone());
        let limit_place = limit.as_ref().map(|entry| entry.node.place.clone());
        let limit = match limit {
            Some(entry) => read_limit(|| format!("{what}.limit`"), &entry.node, reader.problems),
            None => Some(DEFAULT_LIMIT),
        };
        let key = match key {
            Some(entry) => read_key(|| format!("{what}.key`"), entry.node, reader.problems),
            None => {
                reader.problems.push(
                    Diagnostic::error(format!("{what}` has no `key`"))
                        .at(&place, "a table names the key it limits")
                        .help("write `concurrency = N` to limit this tool alone, or add `key = \"...\"`"),
                );
                None
            }
        };
        let fields = reader.rest().filter(|(_, entry)| !matches!(entry.node.value, Value::Null));
        let mut fields: Vec<(String, Entry)> = fields.collect();
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, entry) in &fields {
            if entry.node.value.to_guest().is_none() {
                let what = format!("{what}.{}`", name.escape_debug());
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

    /// The key and its limit; none if the limit is 0, which limits nothing.
    pub fn bound(&self) -> Option<(&str, u32)> {
        (self.limit > 0).then_some((self.key.as_str(), self.limit))
    }
}

/// What a table starts from when it is laid over a number: over `N` from the number in table form, `{ key = <tool>, limit = N }`,
/// and over 0, which is neither a key nor a limit, from nothing.
///
/// Nothing happens to any other pair of values: an integer replaces whatever stood there, tables merge field by field.
pub(super) fn widen(tool: &str, base: &mut Node, later: &Node) {
    let (Value::Integer(number), Value::Table(_)) = (&base.value, &later.value) else {
        return;
    };
    let mut table = Table::default();
    if number.parse() != Ok(0_u32) {
        let name = &base.place;
        let mut set = |field: &str, value| {
            let node = Node { value, place: name.clone() };
            table.insert(field.to_owned(), Entry { name: name.clone(), node });
        };
        set("key", Value::String(tool.to_owned()));
        set("limit", base.value.clone());
    }
    *base = Node { value: Value::Table(table), place: later.place.clone() };
}

fn read_limit(
    what: impl Fn() -> String,
    node: &Node,
    problems: &mut Vec<Diagnostic>,
) -> Option<u32> {
    if let Value::Integer(text) = &node.value {
        if let Ok(limit) = text.parse() {
            return Some(limit);
        }
        problems.push(
            Diagnostic::error(format!("{} is {text}, expected {EXPECTED_LIMIT}", what()))
                .at(&node.place, if text.starts_with('-') { "negative" } else { "too large" })
                .help("0 lifts the limit"),
        );
    } else {
        problems.push(wrong_kind(&what(), EXPECTED_LIMIT, &node.value, &node.place));
    }
    None
}

fn read_key(
    what: impl Fn() -> String,
    node: Node,
    problems: &mut Vec<Diagnostic>,
) -> Option<String> {
    let Value::String(text) = node.value else {
        problems.push(wrong_kind(&what(), "a name", &node.value, &node.place));
        return None;
    };
    let Some(wrong) = wrong_key(&text) else {
        return Some(text);
    };
    let quoted = Value::String(text).quote();
    problems.push(
        Diagnostic::error(format!("{} is {wrong}: {quoted}, expected a name", what()))
            .at(&node.place, wrong),
    );
    None
}

/// Why a text can't be a concurrency key; none if it can.
pub(super) fn wrong_key(key: &str) -> Option<&'static str> {
    if key.is_empty() {
        Some("empty")
    } else if key.chars().all(char::is_whitespace) {
        Some("only white space")
    } else if key.chars().any(char::is_control) {
        Some("a text with a control character")
    } else {
        None
    }
}
