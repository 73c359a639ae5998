//! A tool's `fan_out`: whether one call may carry several sets of arguments, and what a failure among them means.

use jp_policy_core::terms::OnError;

use super::{
    diagnostic::Diagnostic,
    node::{Entry, Node, Table, Value},
    reader::{Reader, wrong_kind},
    source::Place,
    spec::{FieldType, Loose, Shape, Table as _, Word, Words, table},
};

/// A tool's fan-out.
#[derive(Debug, Clone)]
pub struct FanOut {
    /// Whether the tool takes a list of argument sets.
    pub enabled: bool,
    /// What a failed operation means for those that follow it.
    pub on_error: OnError,
    /// Where `on_error`, or else the whole, stands.
    pub place: Place,
}

table! {
    pub(super) struct FanOutTable "FanOutTable" {
        /// Whether it may.
        enabled: bool,
        /// What becomes of the operations that have not started when one has failed; `stop` needs a limit.
        on_error: Word<OnError>,
    }
}

impl Words for OnError {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "OnError";
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("continue", Self::Continue, "They run."),
        ("stop", Self::Stop, "They end at once, not run."),
    ];
}

impl FieldType for FanOut {
    const SHAPE: Shape = Loose::<FanOutTable>::SHAPE;
}

#[cfg(feature = "schema")]
super::spec::any_of! {
    FanOut, "FanOut",
    "Whether one call may carry several sets of arguments, and what a failure among them means.",
    [bool: "Whether it may.", FanOutTable: "With what a failure means."]
}

/// What `fan_out` takes, for messages.
pub(super) const EXPECTED: &str = "true, false or a table { enabled, on_error }";

impl FanOut {
    /// Reads `true`, `false` or `{ enabled, on_error }`.
    pub fn read(tool: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Option<Self> {
        let what = format!("tool `{}`: `fan_out`", tool.escape_debug());
        let place = node.place.clone();
        match node.value {
            Value::Bool(enabled) => Some(Self { enabled, on_error: OnError::default(), place }),
            Value::Table(_) => {
                let mut reader = Reader::new(what, node, problems)?;
                let FanOutTable { enabled, on_error } = FanOutTable::take(&mut reader);
                let enabled = enabled.is_none_or(|enabled| enabled.value);
                if let Some(moved) = reader.take("concurrency") {
                    let what = reader.what.trim_end_matches('`');
                    reader.problems.push(
                        Diagnostic::error(format!(
                            "{what}.concurrency` moved: it is the tool's `concurrency` now"
                        ))
                        .at(&moved.name, "moved")
                        .help(format!(
                            "write `concurrency = {}` in the tool's table",
                            moved.node.value.quote()
                        )),
                    );
                }
                reader.finish();
                let (on_error, place) = on_error
                    .map_or((OnError::default(), place), |found| (found.value, found.place));
                Some(Self { enabled, on_error, place })
            }
            other => {
                problems.push(wrong_kind(&what, EXPECTED, &other, &place));
                None
            }
        }
    }
}

/// What a table starts from when it is laid over `true` or `false`: that, in table form.
pub(super) fn widen(base: &mut Node, later: &Node) {
    if let (Value::Bool(_), Value::Table(_)) = (&base.value, &later.value) {
        let node = base.clone();
        let entry = Entry { name: base.place.clone(), node };
        let table = Table::from_iter([("enabled".to_owned(), entry)]);
        *base = Node { value: Value::Table(table), place: later.place.clone() };
    }
}
