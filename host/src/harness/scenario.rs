//! Scenario files: a configuration, a batch, what each call does, what people do, and what is expected.
//!
//! ```toml
//! title = "A question keeps the slot"
//!
//! [conversation.tools.deploy]      # configuration, as a user writes it
//! concurrency = 1
//!
//! [[call]]                         # in written order
//! name = "A"
//! tool = "deploy"
//! does = "1s ask 2s"               # runs 1 s, asks, runs 2 s more; "fail" at the end makes it fail
//! answered = 10                    # a number is seconds since the batch was handed over
//!
//! [[call]]
//! name = "B"
//! tool = "deploy"                  # does = "1s" where nothing is said
//!
//! [expect]
//! starts = "A@0 B@12"
//! ends = "A!12 B!13"
//! parked = "B [0,12)"
//! ```

use std::{collections::BTreeMap, path::Path};

use crate::{
    batch::Instant,
    config::{
        Config, ConfigError, Diagnostic, Located, Place, Source,
        node::{Entry, Node, Value, parse_toml},
        reader::{Reader, wrong_kind},
    },
};

/// A scenario, read and checked.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it is about.
    pub title: String,
    /// The configuration it runs under, or everything that is wrong with it.
    pub config: Result<Config, ConfigError>,
    /// The calls in written order; each operation of a fanned-out call is one of its own.
    pub calls: Vec<CallSpec>,
    /// What people do to the batch as a whole, and other things that happen.
    pub events: Vec<ScenarioEvent>,
    /// When the assistant has written the last call; nothing starts before.
    pub complete: Option<Instant>,
    /// What is expected.
    pub expect: Expect,
}

/// A call of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct CallSpec {
    /// What timelines call it.
    pub label: String,
    /// The tool it calls.
    pub tool: String,
    /// Which tool call it belongs to.
    pub parent: u32,
    /// Its arguments, as JSON text.
    pub arguments: String,
    /// When it comes in.
    pub arrives: Instant,
    /// What becomes of it before it can start.
    pub decision: PersonEvent,
    /// What it does once released; more than one phase where it asks in between.
    pub phases: Vec<Phase>,
    /// Whether it fails in the end.
    pub fails: bool,
    /// When its questions are answered, by whichever run asks then.
    pub answered: Vec<Instant>,
    /// How long after they are asked its questions are answered, one after the other, whenever that is.
    pub answered_after: Vec<Instant>,
    /// When its result has been reviewed.
    pub reviewed: Option<Instant>,
    /// When it is really gone, if it is stopped before.
    pub gone: Option<Instant>,
}

/// What a person decides about a call before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonEvent {
    /// Approved then.
    Approved(Instant),
    /// Rejected, skipped, or found unavailable then.
    NotRun(Instant),
    /// Never decided.
    Never,
}

/// A stretch of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// How long it runs, in nanoseconds.
    pub takes: Instant,
    /// Whether it asks a question then.
    pub asks: bool,
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

/// What is expected; what is not given is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expect {
    /// `A@0 B@2`
    pub starts: Option<String>,
    /// `A!2 B!4`
    pub ends: Option<String>,
    /// `B [0,2)`; an empty text: nothing was parked.
    pub parked: Option<String>,
    /// `A ok@2, B error@4`
    pub responses: Option<String>,
    /// When the last call has its response.
    pub settled: Option<Instant>,
    /// The most executions at once, by key.
    pub peaks: BTreeMap<String, u32>,
    /// The kinds of the policy's faults, in order.
    pub faults: Option<Vec<String>>,
    /// What is wrong with the configuration, or what the policy refuses of it: the messages of all errors.
    pub errors: Option<Vec<String>>,
    /// The messages of all warnings.
    pub warnings: Option<Vec<String>>,
}

impl Scenario {
    /// Reads a scenario file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let sources = Source::read(path, &mut problems);
        match sources.as_slice() {
            [source] if problems.is_empty() => Self::parse(source),
            _ => Err(ConfigError(problems)),
        }
    }

    /// Reads a scenario; everything that is wrong with it, each with its place, is the error.
    pub fn parse(source: &Source) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let root = parse_toml(source, &mut problems);
        let scenario = read(source, root, &mut problems);
        match scenario {
            Some(scenario) if problems.is_empty() => Ok(scenario),
            _ => Err(ConfigError(problems)),
        }
    }
}

fn read(source: &Source, root: Node, problems: &mut Vec<Diagnostic>) -> Option<Scenario> {
    let mut reader = Reader::new("scenario", root, problems)?;
    reader.ignore(&["conversation", "plugins", "providers"]);
    let title = reader.string("title").map(|title| title.value).unwrap_or_default();
    let layers = reader.take("config");
    let calls = reader.take("call");
    let events = reader.take("event");
    let complete = reader.take("complete");
    let expect = reader.take("expect");
    let problems = &mut *reader.problems;

    let config = read_config(source, layers, problems);
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
        problems.extend(error.0.iter().cloned());
    }
    reader.finish();
    Some(Scenario { title, config, calls, events, complete, expect })
}

fn read_config(
    source: &Source,
    layers: Option<Entry>,
    problems: &mut Vec<Diagnostic>,
) -> Result<Config, ConfigError> {
    let mut sources = Vec::new();
    for node in items(layers, "config", problems) {
        match node.value {
            Value::String(path) => {
                sources.extend(Source::read(&source.folder().join(path), problems));
            }
            other => problems.push(wrong_kind("`config`", "paths", &other, &node.place)),
        }
    }
    sources.push(source.clone());
    Config::from_sources(&sources)
}

fn read_calls(
    calls: Option<Entry>,
    config: Option<&Config>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<CallSpec> {
    let mut read: Vec<CallSpec> = Vec::new();
    let mut next = 0;
    for node in items(calls, "call", problems) {
        let place = node.place.clone();
        let Some((sibling, mut calls)) = read_call(node, next, problems) else {
            continue;
        };
        match sibling {
            None => next += 1,
            Some(name) => match read.iter().find(|call| call.label == name.value) {
                Some(sibling) => calls.iter_mut().for_each(|call| call.parent = sibling.parent),
                None => problems.push(
                    Diagnostic::error(format!(
                        "`parent`: no earlier call is named `{}`",
                        name.value
                    ))
                    .at(&name.place, "unknown"),
                ),
            },
        }
        for call in &calls {
            check_call(call, &read, config, &place, problems);
        }
        read.extend(calls);
    }
    read
}

fn check_call(
    call: &CallSpec,
    earlier: &[CallSpec],
    config: Option<&Config>,
    place: &Place,
    problems: &mut Vec<Diagnostic>,
) {
    let label = &call.label;
    let mut wrong =
        |message: String, label: &str| problems.push(Diagnostic::error(message).at(place, label));
    if config.is_some_and(|config| !config.tools.contains_key(&call.tool)) {
        wrong(
            format!(
                "call `{label}` calls tool `{}`, which `conversation.tools` does not have",
                call.tool
            ),
            "unknown tool",
        );
    }
    if earlier.iter().any(|other| other.label == *label) {
        wrong(format!("two calls are named `{label}`"), "the second");
    }
    if earlier.last().is_some_and(|last| last.arrives > call.arrives) {
        wrong(
            format!("call `{label}` arrives before a call that is written before it"),
            "arrives too early",
        );
    }
}

/// A call, or the operations of one, and the earlier call of the same tool call, if one is named.
type Read = (Option<Located<String>>, Vec<CallSpec>);

fn read_call(node: Node, parent: u32, problems: &mut Vec<Diagnostic>) -> Option<Read> {
    let place = node.place.clone();
    let mut reader = Reader::new("call", node, problems)?;
    let name = reader.string("name");
    if let Some(name) = &name {
        reader.what = format!("call `{}`", name.value);
    }
    let what = reader.what.clone();
    let tool = reader.string("tool");
    let does = reader.string("does");
    let operations = reader.take("operations");
    let arguments = reader.take("arguments");
    let [arrives, approved, rejected, reviewed, gone] =
        ["arrives", "approved", "rejected", "reviewed", "gone"].map(|field| reader.take(field));
    let undecided = reader.boolean("undecided");
    let sibling = reader.string("parent");
    let [answered, answered_after] =
        ["answered", "answered_after"].map(|field| (field, reader.take(field)));
    let copies = reader.take("copies");
    let problems = &mut *reader.problems;
    let mut at = |field: &str, entry: Option<Entry>| {
        entry.and_then(|entry| time(&format!("{what}: `{field}`"), &entry.node, problems))
    };
    let arrives = at("arrives", arrives).unwrap_or(0);
    let approved = at("approved", approved);
    let rejected = at("rejected", rejected);
    let (reviewed, gone) = (at("reviewed", reviewed), at("gone", gone));
    let mut times = |(field, entry): (&str, Option<Entry>)| -> Vec<Instant> {
        let what = format!("{what}: `{field}`");
        match entry {
            Some(Entry { node: Node { value: Value::Array(items), .. }, .. }) => {
                items.iter().filter_map(|item| time(&what, item, problems)).collect()
            }
            Some(entry) => time(&what, &entry.node, problems).into_iter().collect(),
            None => Vec::new(),
        }
    };
    let (answered, answered_after) = (times(answered), times(answered_after));
    let copies =
        copies.and_then(|entry| count(&format!("{what}: `copies`"), &entry.node, problems));
    for (field, given) in [("name", name.is_some()), ("tool", tool.is_some())] {
        if !given {
            problems.push(
                Diagnostic::error(format!("{what} has no `{field}`")).at(&place, "expected here"),
            );
        }
    }
    let decision = match (undecided.is_some_and(|undecided| undecided.value), rejected, approved) {
        (true, ..) => PersonEvent::Never,
        (_, Some(at), _) => PersonEvent::NotRun(at.max(arrives)),
        (_, None, at) => PersonEvent::Approved(at.unwrap_or(0).max(arrives)),
    };
    let mut bodies = Vec::new();
    match operations {
        Some(entry) => bodies.extend(read_operations(&what, entry.node, problems)),
        None => {
            let (phases, fails) = match &does {
                Some(does) => read_phases(&what, does, problems)?,
                None => (vec![Phase { takes: SECOND, asks: false }], false),
            };
            let name = name.as_ref().map(|name| name.value.clone()).unwrap_or_default();
            match copies {
                Some(copies) => bodies
                    .extend((1..=copies).map(|n| (format!("{name}{n}"), phases.clone(), fails))),
                None => bodies.push((name, phases, fails)),
            }
        }
    }
    reader.finish();
    let (_, tool) = (name?, tool?.value);
    let arguments =
        arguments.map_or_else(|| "{}".to_owned(), |entry| entry.node.value.to_json().to_string());
    let calls = bodies.into_iter().map(|(label, phases, fails)| CallSpec {
        label,
        tool: tool.clone(),
        parent,
        arguments: arguments.clone(),
        arrives,
        decision,
        phases,
        fails,
        answered: answered.clone(),
        answered_after: answered_after.clone(),
        reviewed,
        gone,
    });
    Some((sibling, calls.collect()))
}

const SECOND: Instant = 1_000_000_000;

type Body = (String, Vec<Phase>, bool);

fn read_operations(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Vec<Body> {
    let place = node.place.clone();
    let Value::Table(operations) = node.value else {
        let expected = "a table of operations and what they do";
        problems.push(wrong_kind(&format!("{what}: `operations`"), expected, &node.value, &place));
        return Vec::new();
    };
    let mut bodies = Vec::new();
    for (name, entry) in operations {
        let what = format!("{what}: operation `{name}`");
        match entry.node.value {
            Value::String(does) => {
                let does = Located { value: does, place: entry.node.place };
                if let Some((phases, fails)) = read_phases(&what, &does, problems) {
                    bodies.push((name, phases, fails));
                }
            }
            other => problems.push(wrong_kind(&what, "a string", &other, &entry.node.place)),
        }
    }
    bodies
}

/// Reads `1s ask 2s fail`.
fn read_phases(
    what: &str,
    does: &Located<String>,
    problems: &mut Vec<Diagnostic>,
) -> Option<(Vec<Phase>, bool)> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut fails = false;
    for word in does.value.split_whitespace() {
        let last_asks = phases.last().is_none_or(|phase| phase.asks);
        let understood = match word {
            _ if fails => false,
            "fail" => {
                fails = true;
                true
            }
            "ask" => match phases.last_mut() {
                Some(phase) if !phase.asks => {
                    phase.asks = true;
                    true
                }
                _ => {
                    phases.push(Phase { takes: 0, asks: true });
                    true
                }
            },
            _ if !last_asks => false,
            time => match humantime::parse_duration(time)
                .map(|time| Instant::try_from(time.as_nanos()))
            {
                Ok(Ok(takes)) => {
                    phases.push(Phase { takes, asks: false });
                    true
                }
                _ => false,
            },
        };
        if !understood {
            problems.push(
                Diagnostic::error(format!(
                    "{what}: does {:?}, and `{word}` is not understood there",
                    does.value
                ))
                .at(
                    &does.place,
                    "expected durations with `ask` between them, and `fail` at the end",
                )
                .help("for instance \"1s ask 500ms fail\""),
            );
            return None;
        }
    }
    if phases.last().is_none_or(|phase| phase.asks) {
        phases.push(Phase { takes: 0, asks: false });
    }
    Some((phases, fails))
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

fn read_expect(node: Node, problems: &mut Vec<Diagnostic>) -> Expect {
    let Some(mut reader) = Reader::new("expect", node, problems) else {
        return Expect::default();
    };
    let [starts, ends, parked, responses] =
        ["starts", "ends", "parked", "responses"].map(|field| reader.string(field));
    let settled = reader.take("settled");
    let peaks = reader.take("peaks");
    let lists = ["faults", "errors", "warnings"].map(|field| (field, reader.take(field)));
    let problems = &mut *reader.problems;
    let settled = settled.and_then(|entry| time("expect: `settled`", &entry.node, problems));
    let peaks = peaks.map(|entry| read_peaks(entry.node, problems)).unwrap_or_default();
    let [faults, errors, warnings] = lists.map(|(field, entry)| {
        let entry = entry?;
        let mut texts = Vec::new();
        for item in items(Some(entry), field, problems) {
            match item.value {
                Value::String(text) => texts.push(text),
                other => problems.push(wrong_kind(
                    &format!("expect: `{field}`"),
                    "strings",
                    &other,
                    &item.place,
                )),
            }
        }
        Some(texts)
    });
    reader.finish();
    let text = |text: Option<Located<String>>| text.map(|text| text.value);
    Expect {
        starts: text(starts),
        ends: text(ends),
        parked: text(parked),
        responses: text(responses),
        settled,
        peaks,
        faults,
        errors,
        warnings,
    }
}

fn read_peaks(node: Node, problems: &mut Vec<Diagnostic>) -> BTreeMap<String, u32> {
    let place = node.place.clone();
    let Value::Table(peaks) = node.value else {
        problems.push(wrong_kind(
            "expect: `peaks`",
            "a table of keys and numbers",
            &node.value,
            &place,
        ));
        return BTreeMap::new();
    };
    let peak = |(key, entry): (String, Entry)| {
        Some((key, count("expect: `peaks`", &entry.node, problems)?))
    };
    peaks.into_iter().filter_map(peak).collect()
}

fn items(entry: Option<Entry>, what: &str, problems: &mut Vec<Diagnostic>) -> Vec<Node> {
    match entry.map(|entry| entry.node) {
        None => Vec::new(),
        Some(Node { value: Value::Array(items), .. }) => items,
        Some(other) => {
            problems.push(wrong_kind(&format!("`{what}`"), "an array", &other.value, &other.place));
            Vec::new()
        }
    }
}

fn count(what: &str, node: &Node, problems: &mut Vec<Diagnostic>) -> Option<u32> {
    if let Value::Integer(text) = &node.value
        && let Ok(number) = text.parse()
    {
        return Some(number);
    }
    problems.push(wrong_kind(what, "a number", &node.value, &node.place));
    None
}

/// Seconds as a number, or a duration like "250ms".
fn time(what: &str, node: &Node, problems: &mut Vec<Diagnostic>) -> Option<Instant> {
    let duration = match &node.value {
        Value::Integer(text) | Value::Float(text) => text
            .parse()
            .ok()
            .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok()),
        Value::String(text) => humantime::parse_duration(text).ok(),
        _ => None,
    };
    let at = duration.and_then(|duration| Instant::try_from(duration.as_nanos()).ok());
    if at.is_none() {
        problems.push(wrong_kind(
            what,
            "seconds, or a duration like \"250ms\"",
            &node.value,
            &node.place,
        ));
    }
    at
}
