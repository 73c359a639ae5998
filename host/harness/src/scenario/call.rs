//! The calls of a scenario, in written order.

use std::collections::HashSet;

use jp_policy_config::{
    Config, Diagnostic, Located, Place,
    node::{Entry, Node, Value},
    reader::{Reader, wrong_kind},
};
use jp_policy_core::batch::Instant;

use super::{
    behaviour::{Behaviour, read_runs},
    values::{count, items, time, times},
};

/// The most copies of one call: a longer batch shows nothing new, and a misplaced digit should not fill the memory.
const MOST_COPIES: u32 = 100_000;

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
    /// What it does once released: the first entry in its first run, the next one after a restart, the last one in all
    /// further runs. Without any it ends at once.
    pub runs: Vec<Behaviour>,
    /// When its questions are answered, by whichever run asks then.
    pub answered: Vec<Instant>,
    /// How long after they are asked its questions are answered, one after the other, whenever that is.
    pub answered_after: Vec<Instant>,
    /// When its result has been reviewed.
    pub reviewed: Option<Instant>,
    /// When it is really gone, if it is stopped before: the earliest of these that is not past. Without one, at once.
    pub gone: Vec<Instant>,
}

impl CallSpec {
    /// What its run with this number does, from 0.
    pub fn behaviour(&self, run: usize) -> Option<&Behaviour> {
        self.runs.get(run).or(self.runs.last())
    }
}

/// What a person decides about a call before it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonEvent {
    /// Approved then. More than one: each approves the call if it is pending at that instant. After a restart the call waits
    /// for the next one; if none is to come it is approved again at once.
    Approved(Vec<Instant>),
    /// Rejected, skipped, or found unavailable then.
    NotRun(Instant),
    /// Never decided.
    Never,
}

/// Reads all calls; what is wrong with one does not keep the others from being read.
pub(super) fn read_calls(
    calls: Option<Entry>,
    config: Option<&Config>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<CallSpec> {
    let mut read: Vec<CallSpec> = Vec::new();
    let mut labels = HashSet::new();
    let mut next = 0;
    for node in items(calls, "call", problems) {
        let place = node.place.clone();
        let Some((sibling, mut calls)) = read_call(node, next, config, problems) else {
            continue;
        };
        match sibling {
            None => next += 1,
            Some(name) => match read.iter().find(|call| call.label == name.value) {
                Some(sibling) => calls.iter_mut().for_each(|call| call.parent = sibling.parent),
                None => problems.push(
                    Diagnostic::error(format!(
                        "`parent`: no earlier call is named `{}`",
                        name.value.escape_debug()
                    ))
                    .at(&name.place, "unknown"),
                ),
            },
        }
        for call in calls {
            let label = &call.label;
            if !labels.insert(label.clone()) {
                problems.push(
                    Diagnostic::error(format!("two calls are named `{}`", label.escape_debug()))
                        .at(&place, "the second"),
                );
            }
            if read.last().is_some_and(|last| last.arrives > call.arrives) {
                problems.push(
                    Diagnostic::error(format!(
                        "call `{}` arrives before a call that is written before it",
                        label.escape_debug()
                    ))
                    .at(&place, "arrives too early")
                    .help("calls stand in the order in which they arrive"),
                );
            }
            read.push(call);
        }
    }
    read
}

/// A call, or the operations of one, and the earlier call of the same tool call, if one is named.
type Read = (Option<Located<String>>, Vec<CallSpec>);

fn read_call(
    node: Node,
    parent: u32,
    config: Option<&Config>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Read> {
    let place = node.place.clone();
    let mut reader = Reader::new("call", node, problems)?;
    let name = reader.string("name");
    if let Some(name) = &name {
        reader.what = format!("call `{}`", name.value.escape_debug());
    }
    let what = reader.what.clone();
    let tool = reader.string("tool");
    let bodies = Bodies {
        does: reader.take("does"),
        operations: reader.take("operations"),
        copies: reader.take("copies"),
    };
    let arguments = reader.take("arguments");
    let [arrives, reviewed] = ["arrives", "reviewed"].map(|field| reader.take(field));
    let [answered, answered_after, gone] =
        ["answered", "answered_after", "gone"].map(|field| reader.take(field));
    let sibling = reader.string("parent");
    let decision = Decision {
        approved: reader.take("approved"),
        rejected: reader.take("rejected"),
        undecided: reader.boolean("undecided"),
    };
    let problems = &mut *reader.problems;

    for (field, given) in [("name", name.is_some()), ("tool", tool.is_some())] {
        if !given {
            problems.push(
                Diagnostic::error(format!("{what} has no `{field}`")).at(&place, "expected here"),
            );
        }
    }
    let mut at = |field: &str, entry: Option<Entry>| {
        entry.and_then(|entry| time(&format!("{what}: `{field}`"), &entry.node, problems))
    };
    let (arrives, reviewed) = (at("arrives", arrives).unwrap_or(0), at("reviewed", reviewed));
    let mut several = |field: &str, entry: Option<Entry>| {
        let what = format!("{what}: `{field}`");
        entry.map(|entry| times(&what, entry.node, problems)).unwrap_or_default()
    };
    let (answered, gone) = (several("answered", answered), several("gone", gone));
    let answered_after = several("answered_after", answered_after);
    let decision = decision.read(&what, arrives, problems);
    if let (Some(tool), Some(config)) = (&tool, config) {
        check_tool(&what, tool, &bodies, config, problems);
    }
    let bodies = bodies.read(&what, name.as_ref().map(|name| name.value.as_str()), problems);
    reader.finish();

    let (_, tool) = (name?, tool?.value);
    let arguments =
        arguments.map_or_else(|| "{}".to_owned(), |entry| entry.node.value.to_json().to_string());
    let calls = bodies?.into_iter().map(|(label, runs)| CallSpec {
        label,
        tool: tool.clone(),
        parent,
        arguments: arguments.clone(),
        arrives,
        decision: decision.clone(),
        runs,
        answered: answered.clone(),
        answered_after: answered_after.clone(),
        reviewed,
        gone: gone.clone(),
    });
    Some((sibling, calls.collect()))
}

fn check_tool(
    what: &str,
    tool: &Located<String>,
    bodies: &Bodies,
    config: &Config,
    problems: &mut Vec<Diagnostic>,
) {
    let name = tool.value.escape_debug();
    let Some(known) = config.tools.get(&tool.value) else {
        problems.push(
            Diagnostic::error(format!(
                "{what} calls tool `{name}`, which `conversation.tools` does not have"
            ))
            .at(&tool.place, "unknown tool"),
        );
        return;
    };
    if let Some(operations) = &bodies.operations
        && !known.fan_out.as_ref().is_some_and(|fan_out| fan_out.enabled)
    {
        problems.push(
            Diagnostic::error(format!(
                "{what} has `operations`, and tool `{name}` does not fan out"
            ))
            .at(&operations.name, "operations of a fanned-out call")
            .at(&tool.place, "its tool")
            .help(format!("set `conversation.tools.{name}.fan_out = true`")),
        );
    }
}

/// The fields that say what becomes of a call before it starts; at most one of them may.
struct Decision {
    approved: Option<Entry>,
    rejected: Option<Entry>,
    undecided: Option<Located<bool>>,
}

impl Decision {
    fn read(self, what: &str, arrives: Instant, problems: &mut Vec<Diagnostic>) -> PersonEvent {
        let undecided = self.undecided.filter(|undecided| undecided.value);
        let given = [
            ("approved", self.approved.as_ref().map(|entry| &entry.name)),
            ("rejected", self.rejected.as_ref().map(|entry| &entry.name)),
            ("undecided", undecided.as_ref().map(|undecided| &undecided.place)),
        ];
        let given: Vec<(&str, &Place)> =
            given.into_iter().filter_map(|(field, place)| Some((field, place?))).collect();
        if let [(first, place), (second, other), ..] = given[..] {
            problems.push(
                Diagnostic::error(format!("{what} has both `{first}` and `{second}`"))
                    .at(other, "only one of them can be")
                    .at(place, "the other")
                    .help("of `approved`, `rejected` and `undecided` a call has at most one"),
            );
        }
        if let Some(rejected) = self.rejected {
            let at = time(&format!("{what}: `rejected`"), &rejected.node, problems);
            return PersonEvent::NotRun(at.unwrap_or(0).max(arrives));
        }
        if undecided.is_some() {
            return PersonEvent::Never;
        }
        let approved = self.approved.map_or_else(
            || vec![arrives],
            |entry| times(&format!("{what}: `approved`"), entry.node, problems),
        );
        PersonEvent::Approved(approved.into_iter().map(|at| at.max(arrives)).collect())
    }
}

/// The fields that say what a call does, and how many calls it stands for.
struct Bodies {
    does: Option<Entry>,
    operations: Option<Entry>,
    copies: Option<Entry>,
}

/// A call's label, and what its runs do.
type Body = (String, Vec<Behaviour>);

impl Bodies {
    fn read(
        self,
        what: &str,
        name: Option<&str>,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<Vec<Body>> {
        if let Some(operations) = self.operations {
            for (field, entry) in [("does", &self.does), ("copies", &self.copies)] {
                if let Some(entry) = entry {
                    problems.push(
                        Diagnostic::error(format!("{what} has both `operations` and `{field}`"))
                            .at(&entry.name, "says nothing about the operations")
                            .at(&operations.name, "these are the calls")
                            .help("each operation says itself what it does"),
                    );
                }
            }
            return read_operations(what, operations.node, problems);
        }
        let runs = match self.does {
            Some(does) => read_runs(&format!("{what}: `does`"), does.node, problems),
            None => Some(vec![Behaviour::default()]),
        };
        let copies = match self.copies {
            Some(entry) => Some(read_copies(what, &entry.node, problems)?),
            None => None,
        };
        let (name, runs) = (name?, runs?);
        Some(match copies {
            Some(copies) => (1..=copies).map(|n| (format!("{name}{n}"), runs.clone())).collect(),
            None => vec![(name.to_owned(), runs)],
        })
    }
}

fn read_copies(what: &str, node: &Node, problems: &mut Vec<Diagnostic>) -> Option<u32> {
    let what = format!("{what}: `copies`");
    let copies = count(&what, node, problems)?;
    if (1..=MOST_COPIES).contains(&copies) {
        return Some(copies);
    }
    problems.push(
        Diagnostic::error(format!("{what} is {copies}, expected 1 to {MOST_COPIES}"))
            .at(&node.place, "how many calls there are"),
    );
    None
}

fn read_operations(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Option<Vec<Body>> {
    let place = node.place;
    let operations = match node.value {
        Value::Table(operations) => operations,
        other => {
            let expected = "a table of operations and what they do";
            problems.push(wrong_kind(&format!("{what}: `operations`"), expected, &other, &place));
            return None;
        }
    };
    if operations.is_empty() {
        problems.push(
            Diagnostic::error(format!("{what}: `operations` is empty"))
                .at(&place, "expected at least one operation")
                .help("for instance { f1 = \"1s\", f2 = \"1s fail\" }"),
        );
    }
    let mut bodies = Vec::new();
    for (name, entry) in operations {
        let what = format!("{what}: operation `{}`", name.escape_debug());
        bodies.extend(read_runs(&what, entry.node, problems).map(|runs| (name, runs)));
    }
    Some(bodies)
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
