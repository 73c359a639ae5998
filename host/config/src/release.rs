//! `conversation.release` and `plugins.wasm`: which policy releases the calls of a batch, and what it may cost.

use std::{
    collections::BTreeMap, marker::PhantomData, path::PathBuf, str::FromStr, time::Duration,
};

use jp_policy_core::policy::{Guard, OnFault, PluginLimits};
use jp_policy_guest::Field;

use super::{
    diagnostic::Diagnostic,
    node::{Node, Value},
    reader::{Reader, wrong_kind},
    source::Located,
    spec::{
        FieldType, Fields, InSchema, Later, Loose, ReadField, Shape, Table as _, Word, Words, table,
    },
    suggest::nearest,
};

/// How releases are decided.
#[derive(Debug, Clone, Default)]
pub struct Release {
    /// The plugin that decides; none: the embedded default.
    pub policy: Option<Plugin>,
    /// What follows a fault.
    pub on_fault: OnFault,
    /// What the host checks of a decision.
    pub guard: Guard,
}

/// A plugin of `plugins.wasm`.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// Its name there.
    pub name: String,
    /// The component, as a path from the current folder.
    pub path: PathBuf,
    /// `sha256:...` that the file must have.
    pub checksum: Option<Located<String>>,
    /// Whether it may run.
    pub run: PluginRun,
    /// For the policy, sorted by name.
    pub options: Vec<Field>,
    /// What it may cost.
    pub limits: PluginLimits,
    /// Where the parts of it stand, for messages.
    pub table: Node,
}

/// Whether a plugin may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PluginRun {
    /// A person is asked.
    Ask,
    /// It may.
    #[default]
    Unattended,
    /// It may not.
    Deny,
}

table! {
    /// How releases are decided.
    pub(super) struct ReleaseTable "Release" {
        /// The plugin that decides, by its name under `plugins.wasm`; none: the embedded default.
        policy: String,
        /// What follows a fault of the policy.
        on_fault: Word<OnFault>,
        /// What the host checks of a decision.
        guard: Word<Guard>,
    }
}

table! {
    /// A WebAssembly component.
    pub(super) struct PluginTable "Plugin" {
        /// The component, relative to this file.
        path: String,
        /// The digest that the file must have.
        #[pattern = "^sha256:[0-9a-fA-F]{64}$"]
        checksum: String,
        /// Whether it may run.
        run: Word<PluginRun>,
        /// For the policy.
        options: Later<Options>,
        limits: Later<Loose<LimitsTable>>,
    }
}

table! {
    /// What a plugin may cost; what is not given keeps its default.
    pub(super) struct LimitsTable "PluginLimits" {
        /// Instructions for one question.
        fuel: Count<u64>,
        /// Instructions to start and to be configured, each.
        start_fuel: Count<u64>,
        /// Wall-clock time for one question, like "250ms".
        time: Time,
        /// Bytes of memory, like "64 MiB".
        memory: Size<usize>,
        /// Elements of all tables.
        table: Count<usize>,
        /// Core instances, memories and tables, each.
        instances: Count<usize>,
        /// Bytes of one answer.
        answer: Size<usize>,
        /// Bytes of the file.
        file: Size<u64>,
        /// Lines of log for one question.
        log_lines: Count<u32, u32>,
    }
}

impl Words for OnFault {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "OnFault";
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (Self::Default.word(), Self::Default, "The default rules take the rest of the batch over."),
        (
            Self::Settle.word(),
            Self::Settle,
            "Parked calls are settled with an error that names the policy.",
        ),
    ];
}

impl Words for Guard {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "Guard";
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            Self::Limit.word(),
            Self::Limit,
            "That no key has more executions in flight than its limit.",
        ),
        (
            Self::Order.word(),
            Self::Order,
            "And that no earlier waiting call of the key is left behind.",
        ),
        (Self::Off.word(), Self::Off, "Nothing."),
    ];
}

impl Words for PluginRun {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "PluginRun";
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("ask", Self::Ask, "A person is asked."),
        ("unattended", Self::Unattended, "It may."),
        ("deny", Self::Deny, "It may not."),
    ];
}

/// Options for a policy, by name.
pub(super) struct Options;

impl FieldType for Options {
    const SHAPE: Shape = Shape::open(Fields::NONE, &Shape::SCALAR).of_scalars();
}

/// Reads `plugins.wasm`.
pub(super) fn read_plugins(node: Node, problems: &mut Vec<Diagnostic>) -> BTreeMap<String, Plugin> {
    let Some(reader) = Reader::new("`plugins.wasm`", node, problems) else {
        return BTreeMap::new();
    };
    let mut plugins = BTreeMap::new();
    for (name, entry) in reader.rest() {
        if let Some(plugin) = read_plugin(&name, entry.node, problems) {
            plugins.insert(name, plugin);
        }
    }
    plugins
}

fn read_plugin(name: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Option<Plugin> {
    let table = node.clone();
    let mut reader = Reader::new(format!("plugin `{}`", name.escape_debug()), node, problems)?;
    let PluginTable { path, checksum, run, options, limits } = PluginTable::take(&mut reader);
    let what = reader.what.clone();
    let problems = &mut *reader.problems;
    if let Some(checksum) = &checksum
        && !is_checksum(&checksum.value)
    {
        problems.push(
            Diagnostic::error(format!(
                "{what}: `checksum` is {:?}, expected \"sha256:\" and 64 hex digits",
                checksum.value
            ))
            .at(&checksum.place, "not a SHA-256 digest"),
        );
    }
    let options =
        options.map(|entry| read_options(&what, entry.node, problems)).unwrap_or_default();
    let limits = limits.map(|entry| read_limits(&what, entry.node, problems)).unwrap_or_default();
    if path.is_none() {
        problems.push(
            Diagnostic::error(format!("{what} has no `path`"))
                .at(&table.place, "add `path = \"....wasm\"`"),
        );
    }
    reader.finish();
    let path = path?;
    Some(Plugin {
        name: name.to_owned(),
        path: path.place.source.folder().join(&path.value),
        checksum,
        run: run.map(|run| run.value).unwrap_or_default(),
        options,
        limits,
        table,
    })
}

fn is_checksum(text: &str) -> bool {
    text.strip_prefix("sha256:")
        .is_some_and(|digest| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn read_options(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Vec<Field> {
    let Some(reader) = Reader::new(format!("{what}: `options`"), node, problems) else {
        return Vec::new();
    };
    let mut options = Vec::new();
    for (name, entry) in reader.rest() {
        match entry.node.value.to_guest() {
            Some(value) => options.push(Field { name, value }),
            None => problems.push(wrong_kind(
                &format!("{what}: `options.{}`", name.escape_debug()),
                "a number of 64 bits",
                &entry.node.value,
                &entry.node.place,
            )),
        }
    }
    options.sort_by(|a, b| a.name.cmp(&b.name));
    options
}

fn read_limits(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> PluginLimits {
    let Some(mut reader) = Reader::new(format!("{what}: `limits`"), node, problems) else {
        return PluginLimits::default();
    };
    let table = LimitsTable::take(&mut reader);
    reader.finish();
    PluginLimits {
        fuel: table.fuel,
        start_fuel: table.start_fuel,
        time: table.time,
        memory: table.memory,
        table: table.table,
        instances: table.instances,
        answer: table.answer,
        file: table.file,
        log_lines: table.log_lines,
    }
}

/// A whole number, which the JSON Schema says is an `S`.
pub(super) struct Count<T, S = u64>(PhantomData<(T, S)>);

/// A number of bytes, or a text with a unit.
pub(super) struct Size<T>(PhantomData<T>);

/// A text with a unit of time.
pub(super) struct Time;

impl<T, S: InSchema> FieldType for Count<T, S> {
    const SHAPE: Shape = Shape::SCALAR;
}

impl<T> FieldType for Size<T> {
    const SHAPE: Shape = Shape::SCALAR;
}

impl FieldType for Time {}

impl<T: FromStr, S: InSchema> ReadField for Count<T, S> {
    type Value = T;

    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<T> {
        read_limit(reader, name, "a whole number", |value| match value {
            Value::Integer(text) => text.parse().ok(),
            _ => None,
        })
    }
}

impl<T: TryFrom<u64>> ReadField for Size<T> {
    type Value = T;

    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<T> {
        read_limit(reader, name, "a size like \"64 MiB\"", |value| {
            let bytes = match value {
                Value::Integer(text) => text.parse().ok()?,
                Value::String(text) => text.parse::<bytesize::ByteSize>().ok()?.as_u64(),
                _ => return None,
            };
            bytes.try_into().ok()
        })
    }
}

impl ReadField for Time {
    type Value = Duration;

    fn take(reader: &mut Reader<'_>, name: &'static str) -> Option<Duration> {
        read_limit(reader, name, "a duration like \"250ms\"", |value| match value {
            Value::String(text) => humantime::parse_duration(text).ok(),
            _ => None,
        })
    }
}

fn read_limit<T>(
    reader: &mut Reader<'_>,
    name: &'static str,
    expected: &str,
    read: impl FnOnce(&Value) -> Option<T>,
) -> Option<T> {
    let node = reader.take(name)?.node;
    let value = read(&node.value);
    if value.is_none() {
        let what = format!("{}.{name}", reader.what);
        reader.problems.push(wrong_kind(&what, expected, &node.value, &node.place));
    }
    value
}

#[cfg(feature = "schema")]
mod in_schema {
    //! What numbers, sizes and durations are in the JSON Schema.

    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde_json::Value as Json;

    use super::{Count, Options, Size, Time};
    use crate::spec::{any_of, same_in_schema};

    same_in_schema! {
        Count<T, S> => S where [T, S: JsonSchema],
        Options => BTreeMap<String, Json>,
        Time => String,
    }

    any_of! {
        Size<T> where [T], "Size",
        "A number of bytes.",
        [u64: "In bytes.", String: "With a unit, like \"64 MiB\"."]
    }
}

/// Reads `conversation.release`, which names a plugin.
pub(super) fn read_release(
    node: Node,
    plugins: &BTreeMap<String, Plugin>,
    problems: &mut Vec<Diagnostic>,
) -> Release {
    let Some(mut reader) = Reader::new("`conversation.release`", node, problems) else {
        return Release::default();
    };
    let ReleaseTable { policy: name, on_fault, guard } = ReleaseTable::take(&mut reader);
    let policy = name.and_then(|name| {
        let plugin = plugins.get(&name.value);
        if plugin.is_none() {
            let problem = Diagnostic::error(format!(
                "`conversation.release.policy` names {:?}, which is no plugin under `plugins.wasm`",
                name.value
            ))
            .at(&name.place, "no such plugin");
            reader.problems.push(match nearest(&name.value, plugins.keys().map(String::as_str)) {
                Some(known) => problem.help(format!("did you mean \"{known}\"?")),
                None => problem.help(format!("add `[plugins.wasm.{}]` with a `path`", name.value)),
            });
        }
        plugin.cloned()
    });
    reader.finish();
    Release {
        policy,
        on_fault: on_fault.map(|word| word.value).unwrap_or_default(),
        guard: guard.map(|word| word.value).unwrap_or_default(),
    }
}
