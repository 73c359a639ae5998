//! A recorded batch as a scenario: the same calls, arrivals, decisions of people, durations and answers.

use std::{
    collections::{HashMap, HashSet},
    fmt::{self, Write as _},
};

use jp_policy_config::{
    Config, ConfigError, Source,
    toml_literal::{inline_table, json, key, quoted},
};
use jp_policy_core::{
    batch::{CallId, End, Instant},
    record::{CallRecord, FanOutHeader, Header, Record, Run},
    scheduler::Settlement,
};
use jp_policy_guest::ToolIndex;
use jp_policy_report::text::duration;
use serde_json::Value as Json;

use super::scenario::{
    Behaviour, CallSpec, Ending, Expect, PersonEvent, Phase, Scenario, ScenarioEvent,
};

/// The configuration that a record was made under, as far as it decides about releases. The policy's file is its plugin, where the
/// record names one; it is not looked at.
pub fn recorded_config(header: &Header) -> Result<Config, ConfigError> {
    let mut out = String::new();
    for tool in &header.tools {
        let _ = writeln!(out, "[conversation.tools.{}]", key(&tool.name));
        if let Some(known) = tool.key.and_then(|key| header.keys.get(key as usize)) {
            let own = [("key", quoted(&known.name)), ("limit", known.limit.to_string())];
            let further = known.fields.iter().filter(|(_, value)| !value.is_null());
            let further = further.map(|(name, value)| (name.as_str(), json(value)));
            let _ = writeln!(out, "concurrency = {}", inline_table(own.into_iter().chain(further)));
        }
        match tool.fan_out {
            Some(FanOutHeader::Continue) => out.push_str("fan_out = true\n"),
            Some(FanOutHeader::Stop) => out.push_str("fan_out = { on_error = \"stop\" }\n"),
            None => {}
        }
    }
    let _ = writeln!(
        out,
        "[conversation.release]\nguard = {}\non_fault = {}",
        quoted(&header.guard),
        quoted(&header.on_fault)
    );
    if let Some(path) = &header.policy.path {
        let name = &header.policy.name;
        let _ = writeln!(out, "policy = {}\n[plugins.wasm.{}]", quoted(name), key(name));
        let options = Json::Object(header.options.clone());
        let _ = writeln!(out, "path = {}\noptions = {}", quoted(path), json(&options));
    }
    Config::from_sources(&[Source::new("the record's configuration", out)])
}

/// How long a call is taken to run where the record has no run of any call.
const SECOND: Instant = 1_000_000_000;

/// A scenario of a record, and what it takes for granted.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What happened, as far as it did not hang on the policy.
    pub scenario: Scenario,
    /// What the record does not tell.
    pub assumed: Vec<Assumed>,
}

/// Something about a call that its record does not tell, and what is taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumed {
    /// The call.
    pub call: CallId,
    /// What is taken.
    pub what: Assumption,
}

/// What is taken for something that a record does not tell. As text it continues "call 3 ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assumption {
    /// It never ran.
    NeverRan {
        /// How long it is taken to run.
        takes: Instant,
        /// Whether that is the median of its own tool's runs; else of all runs, or nothing at all.
        own: bool,
    },
    /// It was stopped.
    Stopped {
        /// How long it had run, which is taken for all it needs.
        after: Instant,
    },
    /// It still ran when the record ends.
    Running {
        /// How long it had run, which is taken for all it needs.
        after: Instant,
    },
    /// It asked a question that was never answered, and is not here.
    Unanswered,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverRan { takes, own } => {
                let of = if *own { "as its tool's others do" } else { "as the other calls do" };
                write!(f, "never ran: taken to run {}, {of}", duration(*takes))
            }
            Self::Stopped { after } => {
                write!(f, "was stopped: taken to end by itself after {}", duration(*after))
            }
            Self::Running { after } => {
                write!(f, "still ran at the end: taken to run {}", duration(*after))
            }
            Self::Unanswered => f.write_str("has a question that nobody answered: nobody does"),
        }
    }
}

/// The scenario of a record under the configuration it was made with. `arguments` are the calls' arguments in written order, as
/// JSON text, as far as they are known.
///
/// Decisions of people, arrivals, a cancel and restarts keep their instants; a run keeps its length, and a question the time its
/// answer took.
pub fn recorded_scenario(record: &Record, config: &Config, arguments: &[String]) -> Recorded {
    let mut config = config.clone();
    let mut assumed = Vec::new();
    let mut labels = Labels::default();
    let tools: Vec<String> = config.tools.keys().cloned().collect();
    let medians = Medians::new(record);
    let mut calls = Vec::new();
    for (id, call) in (0..).zip(&record.calls) {
        let tool = tools.get(call.tool as usize).cloned();
        calls.push(CallSpec {
            label: labels.unique(call, id),
            tool: tool.unwrap_or_else(|| UNKNOWN.to_owned()),
            parent: call.parent,
            arguments: arguments.get(id as usize).cloned().unwrap_or_else(|| "{}".to_owned()),
            arrives: call.submitted,
            decision: decision(call),
            ..spec(record, &medians, id, call, &mut assumed)
        });
    }
    if calls.iter().any(|call| call.tool == UNKNOWN) {
        let text = format!("[conversation.tools.{UNKNOWN}]\n");
        let known = Config::from_sources(&[Source::new("", text)]).unwrap_or_default();
        for (name, tool) in known.tools {
            config.tools.entry(name).or_insert(tool);
        }
    }
    let mut events: Vec<ScenarioEvent> =
        record.restarts.iter().copied().map(ScenarioEvent::Restart).collect();
    events.extend(record.cancelled.map(ScenarioEvent::Cancel));
    let scenario = Scenario {
        title: String::new(),
        config: Ok(config),
        earlier: Vec::new(),
        calls,
        events,
        complete: None,
        expect: Expect::default(),
    };
    Recorded { scenario, assumed }
}

/// The tool of calls whose tool is not configured: they are settled at once, but a scenario's calls have one.
const UNKNOWN: &str = "unknown";

/// The labels so far, with the number that the next call of the same label gets.
#[derive(Default)]
struct Labels {
    taken: HashSet<String>,
    numbers: HashMap<String, u64>,
}

impl Labels {
    /// A label that no other call has.
    fn unique(&mut self, call: &CallRecord, id: CallId) -> String {
        let label = match &*call.label {
            "" => format!("call {}", u64::from(id) + 1),
            label => label.to_owned(),
        };
        let mut free = label.clone();
        while !self.taken.insert(free.clone()) {
            let number = self.numbers.entry(label.clone()).or_insert(1);
            *number += 1;
            free = format!("{label} #{number}");
        }
        free
    }
}

fn decision(call: &CallRecord) -> PersonEvent {
    match (call.parked.first(), call.settled) {
        (Some(_), _) => PersonEvent::Approved(call.parked.iter().map(|span| span.from).collect()),
        // What had its response when the batch was gone on with does not run either.
        (None, Some((at, Settlement::NotRun | Settlement::Responded))) => PersonEvent::NotRun(at),
        (None, _) => PersonEvent::Never,
    }
}

/// What a call does once released; the rest of it is the caller's.
fn spec(
    record: &Record,
    medians: &Medians,
    id: CallId,
    call: &CallRecord,
    assumed: &mut Vec<Assumed>,
) -> CallSpec {
    let run = call.runs.iter().rfind(|run| !run.gated);
    let takes = run.map(|run| length(record, run));
    let was_stopped = |run: &Run| run.end == Some(End::Stopped) && !was_dismissed(record, run);
    let what = match run {
        Some(run) if run.asks.iter().any(|ask| ask.to.is_none()) => Some(Assumption::Unanswered),
        Some(run) if was_stopped(run) => Some(Assumption::Stopped { after: takes.unwrap_or(0) }),
        Some(Run { end: None, .. }) => Some(Assumption::Running { after: takes.unwrap_or(0) }),
        Some(_) => None,
        None if call.parked.is_empty() => None,
        None => Some(medians.never_ran(call)),
    };
    assumed.extend(what.map(|what| Assumed { call: id, what }));
    let runs: Vec<Behaviour> = call
        .runs
        .iter()
        .filter(|run| !run.gated)
        .map(|run| Behaviour {
            phases: phases(record, run),
            ending: match run.end {
                _ if was_dismissed(record, run) => Ending::Dismissed,
                Some(End::Failed) => Ending::Fails,
                _ => Ending::Succeeds,
            },
        })
        .collect();
    let takes = match what {
        Some(Assumption::NeverRan { takes, .. }) => takes,
        _ => SECOND,
    };
    let never = Behaviour { phases: vec![Phase { takes, asks: false }], ending: Ending::Succeeds };
    let asks = call.runs.iter().flat_map(|run| &run.asks);
    let stopped = call.runs.iter().filter(|run| was_stopped(run));
    CallSpec {
        label: String::new(),
        tool: String::new(),
        parent: 0,
        arguments: String::new(),
        arrives: 0,
        decision: PersonEvent::Never,
        runs: if runs.is_empty() { vec![never] } else { runs },
        answered: Vec::new(),
        answered_after: asks.map_while(|ask| Some(ask.to?.saturating_sub(ask.from))).collect(),
        // How long a result is reviewed changes nothing for other calls, unless a restart comes in between.
        reviewed: match call.settled {
            Some((at, Settlement::Responded)) => {
                Some(at).filter(|at| restarted_before(record, call, *at))
            }
            _ => None,
        },
        gone: stopped.filter_map(|run| run.span.to).collect(),
    }
}

/// Whether the batch was restarted after this call had ended and before it had its response then.
fn restarted_before(record: &Record, call: &CallRecord, settled: Instant) -> bool {
    let ended = call.runs.iter().filter_map(|run| run.span.to).min();
    let ended = ended.unwrap_or(settled);
    record.restarts.iter().any(|at| (ended..settled).contains(at))
}

/// From release to end; to the end of the record, where it has none. What was stopped would have gone on for a moment more.
fn length(record: &Record, run: &Run) -> Instant {
    let length = run.span.to.unwrap_or(record.until).saturating_sub(run.span.from);
    length.saturating_add(Instant::from(run.end == Some(End::Stopped)))
}

/// Whether it ended with a question, and not because the batch was cancelled or restarted meanwhile.
fn was_dismissed(record: &Record, run: &Run) -> bool {
    let Some(end) = run.span.to.filter(|_| run.end == Some(End::Stopped)) else {
        return false;
    };
    let stopped = record.cancelled.iter().chain(&record.restarts).any(|at| *at == end);
    !stopped && run.asks.last().is_some_and(|ask| ask.to == Some(end))
}

fn phases(record: &Record, run: &Run) -> Vec<Phase> {
    let mut phases = Vec::new();
    let mut from = run.span.from;
    for ask in &run.asks {
        phases.push(Phase { takes: ask.from.saturating_sub(from), asks: true });
        from = ask.to.unwrap_or(ask.from);
    }
    if was_dismissed(record, run) {
        return phases;
    }
    let to = run.span.from.saturating_add(length(record, run));
    phases.push(Phase { takes: to.saturating_sub(from), asks: false });
    phases
}

/// How long calls ran that came to an end by themselves: the median of each tool, and that of all.
struct Medians {
    by_tool: HashMap<ToolIndex, Instant>,
    all: Option<Instant>,
}

impl Medians {
    fn new(record: &Record) -> Self {
        let mut lengths: HashMap<ToolIndex, Vec<Instant>> = HashMap::new();
        for call in &record.calls {
            let ended = |run: &&Run| !run.gated && run.end.is_some_and(|end| end != End::Stopped);
            let ended = call.runs.iter().filter(ended).map(|run| length(record, run));
            lengths.entry(call.tool).or_default().extend(ended);
        }
        let all = median(lengths.values().flatten().copied().collect());
        let by_tool = lengths.into_iter();
        let by_tool = by_tool.filter_map(|(tool, lengths)| Some((tool, median(lengths)?)));
        Self { by_tool: by_tool.collect(), all }
    }

    /// What is taken for a call that never ran.
    fn never_ran(&self, call: &CallRecord) -> Assumption {
        match self.by_tool.get(&call.tool) {
            Some(takes) => Assumption::NeverRan { takes: *takes, own: true },
            None => Assumption::NeverRan { takes: self.all.unwrap_or(SECOND), own: false },
        }
    }
}

fn median(mut lengths: Vec<Instant>) -> Option<Instant> {
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}

#[cfg(test)]
#[path = "recorded_tests.rs"]
mod tests;
