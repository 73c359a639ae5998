//! What a call does once it is released: `1s ask 2s fail`, or a list of these for the runs after restarts.

use jp_policy_config::{
    Diagnostic, Located,
    node::{Node, Value},
    reader::wrong_kind,
};
use jp_policy_core::batch::Instant;

use super::values::one_or_more;

/// What one run of a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    /// The stretches of the run; more than one where it asks in between. The last one does not ask, unless its question is
    /// dismissed.
    pub phases: Vec<Phase>,
    /// How it comes out in the end.
    pub ending: Ending,
}

impl Behaviour {
    /// Whether the question at the end of this phase is one that is dismissed.
    pub fn is_dismissed(&self, phase: usize) -> bool {
        self.ending == Ending::Dismissed && self.phases.len() == phase + 1
    }
}

/// How a run comes out, if nothing stops it before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// With a result.
    #[default]
    Succeeds,
    /// With a failure.
    Fails,
    /// With its last question, which a person dismisses instead of answering it.
    Dismissed,
}

/// A stretch of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// How long it runs, in nanoseconds.
    pub takes: Instant,
    /// Whether it asks a question then.
    pub asks: bool,
}

/// A second, and a success: what a call does where nothing is said.
impl Default for Behaviour {
    fn default() -> Self {
        const SECOND: Instant = 1_000_000_000;
        Self { phases: vec![Phase { takes: SECOND, asks: false }], ending: Ending::Succeeds }
    }
}

/// Reads what the first run does, the second, ...; none where it can't be read.
pub(super) fn read_runs(
    what: &str,
    node: Node,
    problems: &mut Vec<Diagnostic>,
) -> Option<Vec<Behaviour>> {
    let mut runs = Vec::new();
    let nodes = one_or_more(what, node, problems);
    let expected = nodes.len();
    for node in nodes {
        match node.value {
            Value::String(value) => {
                runs.extend(read_run(what, &Located { value, place: node.place }, problems));
            }
            other => {
                let expected = "a text like \"1s ask 500ms fail\", or a list of them";
                problems.push(wrong_kind(what, expected, &other, &node.place));
            }
        }
    }
    (!runs.is_empty() && runs.len() == expected).then_some(runs)
}

/// Reads `1s ask 2s fail`.
fn read_run(
    what: &str,
    does: &Located<String>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Behaviour> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut ending = Ending::Succeeds;
    for word in does.value.split_whitespace() {
        if !read_word(word, &mut phases, &mut ending) {
            problems.push(
                Diagnostic::error(format!(
                    "{what} is {:?}, and `{}` is not understood there",
                    does.value,
                    word.escape_debug()
                ))
                .at(
                    &does.place,
                    "expected durations with `ask` between them, and `fail` at the end, or `dismissed` after the last `ask`",
                )
                .help("for instance \"1s ask 500ms fail\""),
            );
            return None;
        }
    }
    if ending != Ending::Dismissed && phases.last().is_none_or(|phase| phase.asks) {
        phases.push(Phase { takes: 0, asks: false });
    }
    Some(Behaviour { phases, ending })
}

/// Takes the next word in. `false`: it can't stand there.
fn read_word(word: &str, phases: &mut Vec<Phase>, ending: &mut Ending) -> bool {
    match word {
        _ if *ending != Ending::Succeeds => false,
        "fail" => {
            *ending = Ending::Fails;
            true
        }
        "dismissed" => {
            *ending = Ending::Dismissed;
            phases.last().is_some_and(|phase| phase.asks)
        }
        "ask" => {
            match phases.last_mut() {
                Some(phase) if !phase.asks => phase.asks = true,
                _ => phases.push(Phase { takes: 0, asks: true }),
            }
            true
        }
        _ if phases.last().is_some_and(|phase| !phase.asks) => false,
        time => {
            let takes = humantime::parse_duration(time).map(|time| time.as_nanos());
            let takes = takes.ok().and_then(|takes| Instant::try_from(takes).ok());
            phases.extend(takes.map(|takes| Phase { takes, asks: false }));
            takes.is_some()
        }
    }
}
