//! The record of a batch in memory: what happened when, built from the scheduler's events and nothing else.
//!
//! The live program and the simulator keep the same record, so whatever shows one shows the other.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use jp_policy_guest::{KeyIndex, Settings, ToolIndex};
use smallvec::SmallVec;

use crate::{
    batch::{CallId, End, ExecutionId, Instant},
    description::CallDescription,
    policy::Fault,
    scheduler::{Event, EventKind, Settlement},
};

/// A stretch of time; open while it has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub to: Option<Instant>,
}

impl Span {
    fn open(from: Instant) -> Self {
        Self { from, to: None }
    }

    fn close(&mut self, at: Instant) {
        self.to.get_or_insert(at);
    }
}

/// One execution of a call.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its id.
    pub execution: ExecutionId,
    /// From its release until it has ended.
    pub span: Span,
    /// How it ended.
    pub end: Option<End>,
    /// When it waited for answers.
    pub asks: Vec<Span>,
    /// Released, but not run: a fan-out that stops on errors had failed before.
    pub gated: bool,
}

/// What happened to a call. Almost always it is parked once and run once, and that stands in the record itself.
#[derive(Debug, Clone)]
pub struct CallRecord {
    /// What it is called: its tool's name, or what a scenario calls it.
    pub label: Arc<str>,
    /// Its tool.
    pub tool: ToolIndex,
    /// The key that bounds it.
    pub key: Option<KeyIndex>,
    /// The tool call it belongs to.
    pub parent: u32,
    /// When it came in.
    pub submitted: Instant,
    /// When it was parked; more than once after a restart.
    pub parked: SmallVec<[Span; 1]>,
    /// Its executions; more than one after a restart.
    pub runs: SmallVec<[Run; 1]>,
    /// When and how it came to its response.
    pub settled: Option<(Instant, Settlement)>,
}

impl CallRecord {
    /// Whether its last execution succeeded.
    pub fn succeeded(&self) -> bool {
        self.runs.last().is_some_and(|run| run.end == Some(End::Succeeded))
            && matches!(self.settled, Some((_, Settlement::Responded)))
    }
}

/// The record of one batch.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The calls in written order.
    pub calls: Vec<CallRecord>,
    /// The names of the keys, by index.
    pub keys: Vec<String>,
    /// The most executions at once, by key.
    pub peaks: Vec<u32>,
    /// How often the policy was asked.
    pub decisions: u64,
    /// What it did that could not be accepted.
    pub faults: Vec<Fault>,
    /// When it was cancelled.
    pub cancelled: Option<Instant>,
    /// When it was restarted.
    pub restarts: Vec<Instant>,
    /// When the last thing happened.
    pub until: Instant,
    running: Vec<u32>,
    /// The calls of executions from before a restart: for the scheduler they are nobody's.
    earlier: HashMap<ExecutionId, CallId>,
}

impl Record {
    /// An empty record under these settings.
    pub fn new(settings: &Settings) -> Self {
        Self::of_keys(settings.keys.iter().map(|key| key.name.clone()).collect())
    }

    /// An empty record with these keys.
    pub(super) fn of_keys(keys: Vec<String>) -> Self {
        Self { peaks: vec![0; keys.len()], running: vec![0; keys.len()], keys, ..Self::default() }
    }

    /// Makes room for so many more calls.
    pub fn reserve(&mut self, more: usize) {
        self.calls.reserve(more);
    }

    /// The most executions at once of each key, by its name.
    pub fn peaks_by_key(&self) -> BTreeMap<&str, u32> {
        self.keys.iter().map(String::as_str).zip(self.peaks.iter().copied()).collect()
    }

    /// Takes an event in. `describe` tells what a call is; it is asked when the call comes in, and when it is approved, since a
    /// person may have edited it.
    pub fn observe(
        &mut self,
        event: &Event,
        describe: impl FnOnce(CallId) -> Option<CallDescription>,
    ) {
        let at = event.at;
        self.until = self.until.max(at);
        match &event.kind {
            EventKind::Submitted(call) => {
                if let Some(description) = describe(*call) {
                    self.submit(at, description);
                }
            }
            EventKind::Parked(call) => {
                let label = describe(*call).map(|description| description.label);
                self.with(*call, |call| {
                    call.label = label.unwrap_or_else(|| call.label.clone());
                    call.parked.push(Span::open(at));
                });
            }
            EventKind::Released(call, execution) => {
                self.count(*call, 1);
                self.with(*call, |call| {
                    call.close_parked(at);
                    call.runs.push(Run {
                        execution: *execution,
                        span: Span::open(at),
                        end: None,
                        asks: Vec::new(),
                        gated: false,
                    });
                });
            }
            EventKind::Asked(call) => self.with(*call, |call| {
                if let Some(run) = call.runs.last_mut() {
                    run.asks.push(Span::open(at));
                }
            }),
            EventKind::Answered(call) => self.with(*call, |call| call.close_ask(at)),
            EventKind::Ended(call, execution, end) => {
                let Some(call) = call.or_else(|| self.earlier.remove(execution)) else {
                    return;
                };
                self.count(call, -1);
                self.with(call, |call| {
                    if let Some(run) = call.runs.iter_mut().find(|run| run.execution == *execution)
                    {
                        run.span.close(at);
                        run.gated = *end == End::Gated;
                        run.end = Some(if run.gated { End::Failed } else { *end });
                        if let Some(ask) = run.asks.last_mut() {
                            ask.close(at);
                        }
                    }
                });
            }
            EventKind::Settled(call, how) => self.with(*call, |call| {
                call.close_parked(at);
                call.settled = Some((at, *how));
            }),
            EventKind::Restarted(call) => {
                if self.restarts.last() != Some(&at) {
                    self.restarts.push(at);
                }
                let running = self.calls.get(*call as usize).and_then(|call| call.runs.last());
                if let Some(run) = running.filter(|run| run.end.is_none()) {
                    self.earlier.insert(run.execution, *call);
                }
                self.with(*call, |call| {
                    call.close_parked(at);
                    call.close_ask(at);
                });
            }
            EventKind::Cancelled => self.cancelled = Some(at),
            EventKind::Decided(_) => self.decisions += 1,
            EventKind::Fault(fault) => self.faults.push((**fault).clone()),
            EventKind::Stop(_) => {}
        }
    }

    /// A call comes in, at the end of the written order.
    fn submit(&mut self, at: Instant, description: CallDescription) {
        let CallDescription { label, tool, key, parent } = description;
        self.calls.push(CallRecord {
            label,
            tool,
            key,
            parent,
            submitted: at,
            parked: SmallVec::new(),
            runs: SmallVec::new(),
            settled: None,
        });
    }

    fn with(&mut self, call: CallId, change: impl FnOnce(&mut CallRecord)) {
        if let Some(call) = self.calls.get_mut(call as usize) {
            change(call);
        }
    }

    fn count(&mut self, call: CallId, by: i32) {
        let Some(key) = self.calls.get(call as usize).and_then(|call| call.key) else {
            return;
        };
        if let Some(running) = self.running.get_mut(key as usize) {
            *running = running.saturating_add_signed(by);
            self.peaks[key as usize] = self.peaks[key as usize].max(*running);
        }
    }
}

impl CallRecord {
    fn close_parked(&mut self, at: Instant) {
        if let Some(parked) = self.parked.last_mut() {
            parked.close(at);
        }
    }

    fn close_ask(&mut self, at: Instant) {
        if let Some(ask) = self.runs.last_mut().and_then(|run| run.asks.last_mut()) {
            ask.close(at);
        }
    }
}
