//! Reads typed values out of a table of a document and collects everything that is wrong with it.

use super::{
    diagnostic::Diagnostic,
    node::{Entry, Node, Table, Value},
    source::{Located, Place},
    suggest::nearest,
};

/// A table that is being read: each field is taken by name, what nobody took is unknown.
///
/// What is wrong is collected, not returned: a field that is missing or wrong is `None`, and the diagnostic says which of the two.
///
/// ```
/// use jp_policy_config::{Source, parse_toml, reader::Reader};
///
/// let mut problems = Vec::new();
/// let root = parse_toml(&Source::new("a.toml", "name = 7\nnmae = 'x'\n"), &mut problems);
/// let mut reader = Reader::new("the table", root, &mut problems).expect("a document is a table");
/// assert!(reader.string("name").is_none());
/// reader.finish();
/// assert_eq!(problems[0].message, "the table: `name` is 7 (an integer), expected a string");
/// assert_eq!(problems[1].help.as_deref(), Some("did you mean `name`?"));
/// ```
pub struct Reader<'a> {
    /// How messages call the table, for instance "tool `fs_edit`".
    pub what: String,
    fields: Table,
    known: Vec<&'static str>,
    /// Where what is wrong goes.
    pub problems: &'a mut Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    /// Reads a value that must be a table; none, with a diagnostic, if it is not. `what` is how messages call it.
    pub fn new(
        what: impl Into<String>,
        node: Node,
        problems: &'a mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let what = what.into();
        match node.value {
            Value::Table(fields) => Some(Self { what, fields, known: Vec::new(), problems }),
            other => {
                problems.push(wrong_kind(&what, "a table", &other, &node.place));
                None
            }
        }
    }

    /// Takes a field as it is; none if it is not there, or is null.
    ///
    /// It stays in the table, empty: to close the gap would cost more than to read the field.
    pub fn take(&mut self, name: &'static str) -> Option<Entry> {
        self.known.push(name);
        let entry = self.fields.get_mut(name)?;
        let value = std::mem::replace(&mut entry.node.value, Value::Null);
        if matches!(value, Value::Null) {
            return None;
        }
        let node = Node { value, place: entry.node.place.clone() };
        Some(Entry { name: entry.name.clone(), node })
    }

    /// Takes a field that must be a string; none if it is not there or is wrong.
    pub fn string(&mut self, name: &'static str) -> Option<Located<String>> {
        let entry = self.take(name)?;
        self.as_string(name, entry)
    }

    /// Reads a field that was taken and must be a string.
    pub(super) fn as_string(&mut self, name: &str, entry: Entry) -> Option<Located<String>> {
        self.as_typed(name, entry, "a string", |value| match value {
            Value::String(text) => Ok(text),
            other => Err(other),
        })
    }

    /// Takes a field that must be a boolean; none if it is not there or is wrong.
    pub fn boolean(&mut self, name: &'static str) -> Option<Located<bool>> {
        let entry = self.take(name)?;
        self.as_typed(name, entry, "a boolean", |value| match value {
            Value::Bool(value) => Ok(value),
            other => Err(other),
        })
    }

    /// Takes a field that must be one of a few words, each with what it stands for; none if it is not there or is wrong.
    pub fn word<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<Located<T>> {
        self.one_of(name, words.iter().copied())
    }

    /// Takes a field that must be one of a few words.
    pub(super) fn one_of<'w, T>(
        &mut self,
        name: &'static str,
        words: impl Iterator<Item = (&'w str, T)> + Clone,
    ) -> Option<Located<T>> {
        let text = self.string(name)?;
        if let Some((_, value)) = words.clone().find(|(word, _)| *word == text.value) {
            return Some(text.map(|_| value));
        }
        let list: Vec<String> = words.clone().map(|(word, _)| format!("\"{word}\"")).collect();
        let problem = Diagnostic::error(format!(
            "{}: `{name}` is {}, expected one of {}",
            self.what,
            Value::String(text.value.clone()).quote(),
            list.join(", ")
        ))
        .at(&text.place, "not one of these");
        self.problems.push(match nearest(&text.value, words.map(|(word, _)| word)) {
            Some(word) => problem.help(format!("did you mean \"{word}\"?")),
            None => problem,
        });
        None
    }

    fn as_typed<T>(
        &mut self,
        name: &str,
        entry: Entry,
        expected: &str,
        read: impl FnOnce(Value) -> Result<T, Value>,
    ) -> Option<Located<T>> {
        let Node { value, place } = entry.node;
        match read(value) {
            Ok(value) => Some(Located { value, place }),
            Err(other) => {
                let what = format!("{}: `{name}`", self.what);
                self.problems.push(wrong_kind(&what, expected, &other, &place));
                None
            }
        }
    }

    /// Takes fields that are known and not read here, so that [`finish`](Self::finish) does not warn of them.
    pub fn ignore(&mut self, names: &[&'static str]) {
        for name in names {
            self.take(name);
        }
    }

    /// Warns of each field that was not taken, with the nearest of those that were.
    pub fn finish(self) {
        let Self { what, fields, known, problems } = self;
        for (name, entry) in fields.into_iter().filter(|(name, _)| !known.contains(&name.as_str()))
        {
            let problem =
                Diagnostic::warning(format!("{what}: unknown field `{}`", name.escape_debug()))
                    .at(&entry.name, "it has no effect");
            problems.push(match nearest(&name, known.iter().copied()) {
                Some(known) => problem.help(format!("did you mean `{known}`?")),
                None => problem,
            });
        }
    }

    /// The fields that were not taken, null ones too, in the order they were written.
    pub fn rest(self) -> impl Iterator<Item = (String, Entry)> + use<> {
        let Self { fields, known, .. } = self;
        fields.into_iter().filter(move |(name, _)| !known.contains(&name.as_str()))
    }
}

/// The error that a value is of the wrong kind: "`what` is 3 (an integer), `expected`", pointing at `place`.
pub fn wrong_kind(what: &str, expected: &str, found: &Value, place: &Place) -> Diagnostic {
    Diagnostic::error(format!(
        "{what} is {} ({}), expected {expected}",
        found.quote(),
        found.kind()
    ))
    .at(place, format!("expected {expected}"))
}
