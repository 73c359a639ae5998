//! `conversation.release` and `plugins.wasm`: which policy releases the calls of a batch, and what it may cost.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use jp_policy_core::policy::{Guard, OnFault, PluginLimits};
use jp_policy_guest::Field;

use super::{
    diagnostic::Diagnostic,
    node::{Node, Value},
    reader::{Reader, wrong_kind},
    source::Located,
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
    let path = reader.string("path");
    let checksum = reader.string("checksum");
    let run = reader.word(
        "run",
        &[
            ("ask", PluginRun::Ask),
            ("unattended", PluginRun::Unattended),
            ("deny", PluginRun::Deny),
        ],
    );
    let options = reader.take("options");
    let limits = reader.take("limits");
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
    let limits = PluginLimits {
        fuel: limit(&mut reader, "fuel", COUNT, count),
        start_fuel: limit(&mut reader, "start_fuel", COUNT, count),
        time: limit(&mut reader, "time", "a duration like \"250ms\"", duration),
        memory: limit(&mut reader, "memory", SIZE, size),
        table: limit(&mut reader, "table", COUNT, count),
        instances: limit(&mut reader, "instances", COUNT, count),
        answer: limit(&mut reader, "answer", SIZE, size),
        file: limit(&mut reader, "file", SIZE, size),
        log_lines: limit(&mut reader, "log_lines", COUNT, count),
    };
    reader.finish();
    limits
}

const COUNT: &str = "a whole number";
const SIZE: &str = "a size like \"64 MiB\"";

fn count<T: std::str::FromStr>(value: &Value) -> Option<T> {
    match value {
        Value::Integer(text) => text.parse().ok(),
        _ => None,
    }
}

fn size<T: TryFrom<u64>>(value: &Value) -> Option<T> {
    let bytes = match value {
        Value::Integer(text) => text.parse().ok()?,
        Value::String(text) => text.parse::<bytesize::ByteSize>().ok()?.as_u64(),
        _ => return None,
    };
    bytes.try_into().ok()
}

fn duration(value: &Value) -> Option<Duration> {
    match value {
        Value::String(text) => humantime::parse_duration(text).ok(),
        _ => None,
    }
}

fn limit<T>(
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

/// Reads `conversation.release`, which names a plugin.
pub(super) fn read_release(
    node: Node,
    plugins: &BTreeMap<String, Plugin>,
    problems: &mut Vec<Diagnostic>,
) -> Release {
    let Some(mut reader) = Reader::new("`conversation.release`", node, problems) else {
        return Release::default();
    };
    let name = reader.string("policy");
    let on_faults = [OnFault::Default, OnFault::Settle].map(|value| (value.word(), value));
    let on_fault = reader.word("on_fault", &on_faults);
    let guards = [Guard::Limit, Guard::Order, Guard::Off].map(|value| (value.word(), value));
    let guard = reader.word("guard", &guards);
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
