//! A scenario file as a whole, and what happens to its batch as a whole.

use std::path::Path;

use jp_policy_config::{
    Config, ConfigError, Diagnostic, Layer, Layers, Severity, Source,
    node::{Entry, Node, Value},
    parse_toml,
    reader::{Reader, wrong_kind},
};
use jp_policy_core::batch::Instant;

use super::{
    call::{CallSpec, read_calls},
    expect::{Expect, read_expect},
    values::{items, time},
};

/// A scenario, read and checked.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it is about.
    pub title: String,
    /// The configuration it runs under, or everything that is wrong with it.
    pub config: Result<Config, ConfigError>,
    /// Executions of earlier batches that have not ended when this one begins.
    pub earlier: Vec<Earlier>,
    /// The calls in written order; each operation of a fanned-out call is one of its own.
    pub calls: Vec<CallSpec>,
    /// What people do to the batch as a whole, and other things that happen.
    pub events: Vec<ScenarioEvent>,
    /// When the assistant has written the last call; nothing starts before.
    pub complete: Option<Instant>,
    /// What is expected.
    pub expect: Expect,
}

/// An execution of an earlier batch: it holds a slot until it is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// The name of its key.
    pub key: String,
    /// When it is gone.
    pub gone: Instant,
}

/// What happens to the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScenarioEvent {
    /// It is cancelled.
    Cancel(Instant),
    /// It is restarted.
    Restart(Instant),
    /// The end of this call is reported once more.
    EndAgain(Instant, String),
}

impl Scenario {
    /// Reads a scenario file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        match Source::file(path) {
            Ok(source) => Self::parse(&source),
            Err(problem) => Err(ConfigError(vec![problem])),
        }
    }

    /// Reads a scenario; everything that is wrong with it, each with its place, is the error. A field that nobody knows is
    /// wrong too: what it was meant to say would be left out of the test.
    pub fn parse(source: &Source) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let root = parse_toml(source, &mut problems);
        if !problems.is_empty() {
            return Err(ConfigError(problems));
        }
        let scenario = read(source, root, &mut problems);
        for problem in &mut problems {
            problem.severity = Severity::Error;
        }
        match scenario {
            Some(scenario) if problems.is_empty() => Ok(scenario),
            _ => Err(ConfigError(problems)),
        }
    }
}

fn read(source: &Source, root: Node, problems: &mut Vec<Diagnostic>) -> Option<Scenario> {
    let mut reader = Reader::new("scenario", root, problems)?;
    reader.ignore(SECTIONS);
    let title = reader.string("title").map(|title| title.value).unwrap_or_default();
    let layers = reader.take("config");
    let earlier = reader.take("earlier");
    let calls = reader.take("call");
    let events = reader.take("event");
    let complete = reader.take("complete");
    let expect = reader.take("expect");
    let problems = &mut *reader.problems;

    let config = read_config(source, layers, problems);
    let earlier = items(earlier, "earlier", problems)
        .into_iter()
        .filter_map(|node| read_earlier(node, config.as_ref().ok(), problems))
        .collect();
    let calls = read_calls(calls, config.as_ref().ok(), problems);
    let events = items(events, "event", problems)
        .into_iter()
        .filter_map(|node| read_event(node, &calls, problems))
        .collect();
    let complete = complete.and_then(|entry| time("`complete`", &entry.node, problems));
    let expect = expect.map(|entry| read_expect(entry.node, problems)).unwrap_or_default();
    if let Err(error) = &config
        && expect.errors.is_none()
    {
        let errors = error.0.iter().filter(|problem| problem.severity == Severity::Error);
        problems.extend(errors.cloned());
    }
    reader.finish();
    Some(Scenario { title, config, earlier, calls, events, complete, expect })
}

/// The sections of a scenario that are configuration.
const SECTIONS: &[&str] = &["conversation", "plugins", "providers"];

fn read_config(
    source: &Source,
    layers: Option<Entry>,
    problems: &mut Vec<Diagnostic>,
) -> Result<Config, ConfigError> {
    let mut all = Layers::default();
    for node in items(layers, "config", problems) {
        match node.value {
            Value::String(path) => {
                for source in Source::read(&source.folder().join(path), problems) {
                    all.source(Layer::Config, &source);
                }
            }
            other => problems.push(wrong_kind("`config`", "paths", &other, &node.place)),
        }
    }
    all.sections(Layer::Config, source, SECTIONS);
    all.build()
}

fn read_earlier(
    node: Node,
    config: Option<&Config>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Earlier> {
    let place = node.place.clone();
    let mut reader = Reader::new("earlier", node, problems)?;
    let key = reader.string("key");
    let gone = reader.take("gone");
    let problems = &mut *reader.problems;
    let gone = gone.and_then(|entry| time("earlier: `gone`", &entry.node, problems));
    if let (Some(key), Some(config)) = (&key, config)
        && !config.settings().keys.iter().any(|known| known.name == key.value)
    {
        problems.push(
            Diagnostic::error(format!(
                "earlier: no tool has key `{}` with a limit",
                key.value.escape_debug()
            ))
            .at(&key.place, "unknown"),
        );
    }
    let earlier = match (key, gone) {
        (Some(key), Some(gone)) => Some(Earlier { key: key.value, gone }),
        _ => {
            problems.push(
                Diagnostic::error("an execution of an earlier batch has a `key` and a `gone`")
                    .at(&place, "this one has not"),
            );
            None
        }
    };
    reader.finish();
    earlier
}

fn read_event(
    node: Node,
    calls: &[CallSpec],
    problems: &mut Vec<Diagnostic>,
) -> Option<ScenarioEvent> {
    let place = node.place.clone();
    let mut reader = Reader::new("event", node, problems)?;
    let at = reader.take("at");
    let cancel = reader.boolean("cancel").is_some_and(|cancel| cancel.value);
    let restart = reader.boolean("restart").is_some_and(|restart| restart.value);
    let again = reader.string("end_again");
    let problems = &mut *reader.problems;
    let at = at.and_then(|entry| time("event: `at`", &entry.node, problems));
    if let Some(name) = &again
        && !calls.iter().any(|call| call.label == name.value)
    {
        problems.push(
            Diagnostic::error(format!("event: no call is named `{}`", name.value))
                .at(&name.place, "unknown"),
        );
    }
    let event = match (at, cancel, restart, again) {
        (Some(at), true, false, None) => Some(ScenarioEvent::Cancel(at)),
        (Some(at), false, true, None) => Some(ScenarioEvent::Restart(at)),
        (Some(at), false, false, Some(call)) => Some(ScenarioEvent::EndAgain(at, call.value)),
        _ => {
            problems.push(
                Diagnostic::error(
                    "an event has an `at` and one of `cancel`, `restart`, `end_again`",
                )
                .at(&place, "this one has not"),
            );
            None
        }
    };
    reader.finish();
    event
}
