//! The calls of a batch and where each of them stands: the only place that knows.
//!
//! What may start is always derived from the calls' current states, never from marks recorded along the way. Changing one call
//! costs the logarithm of the batch's length, and the view of a question costs what it shows.

mod sorted;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use jp_policy_guest::{self as contract, Settings, State, View};
pub use jp_policy_guest::{CallId, Instant, KeyIndex, ToolIndex};

use sorted::{Sorted, SortedSet};

/// One run of a call, from its release until it has ended. Unique within the process, across batches and restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionId(u64);

impl ExecutionId {
    /// Its number, for records.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The execution of a record that has this number.
    pub(crate) fn numbered(number: u64) -> Self {
        Self(number)
    }
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Waits to be approved, or to be prepared.
    Pending,
    /// Approved; waits for its release.
    Parked,
    /// Released and not ended: holds a slot of its key.
    Running {
        /// Its execution.
        execution: ExecutionId,
        /// Whether it waits for the answer to a question. The slot stays.
        asking: bool,
    },
    /// Gave a result or a failure: the slot is free, the result may be under review.
    Ended {
        /// Whether it failed.
        failed: bool,
    },
    /// Has its response.
    Settled,
}

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a result.
    Succeeded,
    /// With a failure.
    Failed,
    /// At once, without having run: an operation of its tool call had failed, and that stops the others.
    Gated,
    /// Because it was stopped.
    Stopped,
}

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
    /// Which tool call of the batch it belongs to: operations of one fanned-out call share it.
    pub parent: u32,
    /// Its tool, as an index into the settings.
    pub tool: ToolIndex,
    /// The key that bounds it.
    pub key: Option<KeyIndex>,
    /// Where it stands.
    pub stage: Stage,
    /// Since when.
    pub since: Instant,
    /// The revision of the batch at which its stage changed last.
    changed: u64,
}

/// What a key's calls and executions amount to.
#[derive(Debug, Clone, Default)]
struct KeyState {
    /// Pending and parked calls, in written order.
    waiting: SortedSet<CallId>,
    /// Executions that hold a slot, with their call where it is one of this batch's current ones.
    running: Sorted<ExecutionId, Option<CallId>>,
    ended: u32,
    failed: u32,
    last_release: Option<Instant>,
    last_end: Option<Instant>,
}

/// An execution in flight.
#[derive(Debug, Clone, Copy)]
struct Execution {
    key: Option<KeyIndex>,
    call: Option<CallId>,
}

/// The executions that are still in flight when a batch is over, by the name of their key. Slots outlive the batch.
#[derive(Debug, Clone, Default)]
pub struct Carried {
    executions: BTreeMap<ExecutionId, Option<String>>,
    next: u64,
}

impl Carried {
    /// Executions that are in flight, one for each of these keys, by name; in the order of their ids.
    pub fn of(keys: impl IntoIterator<Item = Option<String>>) -> Self {
        let executions: BTreeMap<_, _> = (0..).map(ExecutionId).zip(keys).collect();
        Self { next: executions.len() as u64, executions }
    }

    /// Their ids, in ascending order.
    pub fn executions(&self) -> impl Iterator<Item = ExecutionId> {
        self.executions.keys().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.executions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.executions.is_empty()
    }

    /// An execution that ended between two batches. `false`: it was not in flight.
    pub fn end(&mut self, execution: ExecutionId) -> bool {
        self.executions.remove(&execution).is_some()
    }
}

/// What the settings say of tools and keys, each at its index.
#[derive(Debug)]
struct Limits {
    key_of_tool: Vec<Option<KeyIndex>>,
    name_of_key: Vec<String>,
    of_key: Vec<u32>,
}

/// The batch.
#[derive(Debug, Clone)]
pub struct Batch {
    calls: Vec<Call>,
    keys: Vec<KeyState>,
    limits: Arc<Limits>,
    /// Keys that have a waiting call and a free slot.
    ready: SortedSet<KeyIndex>,
    /// Keys that have a waiting call.
    waiting: SortedSet<KeyIndex>,
    /// Parked calls without a key.
    unkeyed: SortedSet<CallId>,
    /// Calls that are pending, parked or running.
    active: SortedSet<CallId>,
    executions: Sorted<ExecutionId, Execution>,
    next_execution: u64,
    pending: usize,
    parked: usize,
    unsettled: usize,
    revision: u64,
}

impl Batch {
    /// An empty batch under these settings, with what earlier batches left in flight.
    ///
    /// A tool whose key the settings do not have is taken for one without a key; [`check`](crate::settings::check) finds such
    /// settings.
    pub fn new(settings: &Settings, carried: Carried) -> Self {
        let limits = Limits {
            key_of_tool: settings
                .tools
                .iter()
                .map(|tool| tool.key.filter(|key| (*key as usize) < settings.keys.len()))
                .collect(),
            name_of_key: settings.keys.iter().map(|key| key.name.clone()).collect(),
            of_key: settings.keys.iter().map(|key| key.limit).collect(),
        };
        let mut batch = Self {
            calls: Vec::new(),
            keys: vec![KeyState::default(); limits.of_key.len()],
            limits: Arc::new(limits),
            ready: SortedSet::default(),
            waiting: SortedSet::default(),
            unkeyed: SortedSet::default(),
            active: SortedSet::default(),
            executions: Sorted::default(),
            next_execution: carried.next,
            pending: 0,
            parked: 0,
            unsettled: 0,
            revision: 0,
        };
        let keys: HashMap<&str, KeyIndex> = if carried.is_empty() {
            HashMap::new()
        } else {
            settings.keys.iter().map(|key| key.name.as_str()).zip(0..).collect()
        };
        for (execution, name) in carried.executions {
            let key = name.and_then(|name| keys.get(name.as_str()).copied());
            if let Some(key) = key {
                batch.keys[key as usize].running.put(execution, None);
            }
            batch.executions.put(execution, Execution { key, call: None });
        }
        batch
    }

    /// What is still in flight, for the next batch.
    pub fn into_carried(self) -> Carried {
        let names = &self.limits.name_of_key;
        let name = |key: Option<KeyIndex>| key.and_then(|key| names.get(key as usize).cloned());
        Carried {
            executions: self
                .executions
                .iter()
                .map(|(id, execution)| (id, name(execution.key)))
                .collect(),
            next: self.next_execution,
        }
    }

    /// A call, if the batch has it.
    pub fn get(&self, call: CallId) -> Option<&Call> {
        self.calls.get(call as usize)
    }

    /// All calls in written order.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The limit of a key.
    pub fn limit(&self, key: KeyIndex) -> u32 {
        self.limits().get(key as usize).copied().unwrap_or(0)
    }

    /// The limits of all keys, each at its index.
    pub fn limits(&self) -> &[u32] {
        &self.limits.of_key
    }

    /// The name of a key.
    pub fn key_name(&self, key: KeyIndex) -> &str {
        self.limits.name_of_key.get(key as usize).map_or("", String::as_str)
    }

    /// Executions that hold a slot of a key.
    pub fn running(&self, key: KeyIndex) -> usize {
        self.keys.get(key as usize).map_or(0, |key| key.running.len())
    }

    /// The calls that hold a slot of a key, in written order. Executions of earlier batches, or from before a restart, have
    /// no call here.
    pub fn holders(&self, key: KeyIndex) -> Vec<CallId> {
        let mut holders: Vec<CallId> = self
            .keys
            .get(key as usize)
            .into_iter()
            .flat_map(|key| key.running.iter().filter_map(|(_, call)| *call))
            .collect();
        holders.sort_unstable();
        holders
    }

    /// The pending and parked calls of a key, in written order.
    pub fn waiting(&self, key: KeyIndex) -> impl Iterator<Item = CallId> {
        self.keys.get(key as usize).into_iter().flat_map(|key| key.waiting.keys())
    }

    /// The executions in flight, those of earlier batches and from before a restart among them.
    pub fn in_flight(&self) -> usize {
        self.executions.len()
    }

    /// The execution's call, if it is the current one of a call of this batch.
    pub fn call_of(&self, execution: ExecutionId) -> Option<CallId> {
        self.executions.get(execution)?.call
    }

    /// How many calls wait for approval.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// How many calls wait for their release.
    pub fn parked(&self) -> usize {
        self.parked
    }

    /// How many calls have no response yet.
    pub fn unsettled(&self) -> usize {
        self.unsettled
    }

    /// Counts the changes of the batch.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the call is as it was at that revision.
    pub fn unchanged_since(&self, call: &Call, revision: u64) -> bool {
        call.changed <= revision
    }

    /// Makes room for so many more calls.
    pub fn reserve(&mut self, more: usize) {
        self.calls.reserve(more);
    }

    /// Adds a call at the end of the written order; it is pending.
    ///
    /// # Panics
    ///
    /// With more than 2^32 calls.
    pub fn add(&mut self, now: Instant, tool: ToolIndex, parent: u32) -> CallId {
        let id = CallId::try_from(self.calls.len()).expect("a batch has fewer than 2^32 calls");
        let key = self.limits.key_of_tool.get(tool as usize).copied().flatten();
        self.unsettled += 1;
        // Put in as settled, which nothing counts, and moved from there.
        self.calls.push(Call { parent, tool, key, stage: Stage::Settled, since: now, changed: 0 });
        self.set(now, id, Stage::Pending);
        id
    }

    /// Pending to parked.
    pub fn park(&mut self, now: Instant, call: CallId) -> bool {
        self.change(now, call, Stage::Parked, |stage| stage == Stage::Pending)
    }

    /// Parked to running.
    pub fn release(&mut self, now: Instant, call: CallId) -> Option<ExecutionId> {
        let execution = ExecutionId(self.next_execution);
        let running = Stage::Running { execution, asking: false };
        if !self.change(now, call, running, |stage| stage == Stage::Parked) {
            return None;
        }
        self.next_execution += 1;
        let key = self.get(call)?.key;
        self.executions.put(execution, Execution { key, call: Some(call) });
        if let Some(key) = key {
            let state = &mut self.keys[key as usize];
            state.running.put(execution, Some(call));
            state.last_release = Some(now);
            self.refresh(key);
        }
        Some(execution)
    }

    /// Whether a running call waits for an answer.
    pub fn set_asking(
        &mut self,
        now: Instant,
        execution: ExecutionId,
        asking: bool,
    ) -> Option<CallId> {
        let call = self.call_of(execution)?;
        self.change(now, call, Stage::Running { execution, asking }, |stage| {
            matches!(stage, Stage::Running { execution: current, asking: was } if current == execution && was != asking)
        })
        .then_some(call)
    }

    /// An execution has ended: its slot is free. `None`: it was not in flight, as with a notice that comes twice.
    /// `Some(None)`: it belonged to no current call.
    pub fn end(
        &mut self,
        now: Instant,
        execution: ExecutionId,
        end: End,
    ) -> Option<Option<CallId>> {
        let ended = self.executions.take(execution)?;
        if let Some(key) = ended.key {
            let state = &mut self.keys[key as usize];
            state.running.take(execution);
            state.ended += 1;
            state.failed += u32::from(matches!(end, End::Failed | End::Gated));
            state.last_end = Some(now);
            self.refresh(key);
        }
        if let Some(call) = ended.call {
            self.set(now, call, Stage::Ended { failed: end != End::Succeeded });
        } else {
            self.revision += 1;
        }
        Some(ended.call)
    }

    /// The call has its response. Not for a running call: it has to end first.
    pub fn settle(&mut self, now: Instant, call: CallId) -> bool {
        let settled = self.change(now, call, Stage::Settled, |stage| {
            matches!(stage, Stage::Pending | Stage::Parked | Stage::Ended { .. })
        });
        self.unsettled -= usize::from(settled);
        settled
    }

    /// A call without a response is prepared again: it is pending, and its execution, if one runs, holds its slot as nobody's
    /// until it has ended. Returns that execution.
    pub fn reset(&mut self, now: Instant, call: CallId) -> Option<ExecutionId> {
        let stage = self.get(call)?.stage;
        if matches!(stage, Stage::Settled | Stage::Pending) {
            return None;
        }
        let key = self.get(call)?.key;
        self.set(now, call, Stage::Pending);
        let Stage::Running { execution, .. } = stage else {
            return None;
        };
        self.executions.put(execution, Execution { key, call: None });
        if let Some(key) = key {
            self.keys[key as usize].running.put(execution, None);
        }
        Some(execution)
    }

    /// What a policy sees.
    pub fn view(&self, now: Instant, view: View) -> contract::Batch {
        let shown = match view {
            View::Front => &self.ready,
            View::Full => &self.waiting,
        };
        let mut calls: Vec<CallId> = match view {
            View::Full => self.active.keys().collect(),
            View::Front => {
                let front = shown.keys().flat_map(|key| self.waiting(key).take(self.free(key)));
                self.unkeyed.keys().chain(front).collect()
            }
        };
        calls.sort_unstable();
        contract::Batch {
            now,
            running: count(self.executions.len()),
            keys: shown.keys().map(|key| self.usage(key)).collect(),
            calls: calls.iter().filter_map(|id| self.show(*id)).collect(),
        }
    }

    /// A key's numbers.
    ///
    /// # Panics
    ///
    /// With an index that the settings do not have.
    pub fn usage(&self, key: KeyIndex) -> contract::Usage {
        let state = &self.keys[key as usize];
        contract::Usage {
            key,
            running: count(state.running.len()),
            waiting: count(state.waiting.len()),
            ended: state.ended,
            failed: state.failed,
            last_release: state.last_release,
            last_end: state.last_end,
        }
    }

    fn show(&self, id: CallId) -> Option<contract::Call> {
        let call = self.get(id)?;
        let state = match call.stage {
            Stage::Pending => State::Pending,
            Stage::Parked => State::Parked,
            Stage::Running { .. } => State::Running,
            Stage::Ended { .. } | Stage::Settled => return None,
        };
        Some(contract::Call {
            id,
            parent: call.parent,
            tool: call.tool,
            key: call.key,
            state,
            since: call.since,
        })
    }

    fn change(
        &mut self,
        now: Instant,
        call: CallId,
        to: Stage,
        from: impl Fn(Stage) -> bool,
    ) -> bool {
        let may = self.get(call).is_some_and(|call| from(call.stage));
        if may {
            self.set(now, call, to);
        }
        may
    }

    /// Moves a call and keeps the indexes in step.
    fn set(&mut self, now: Instant, id: CallId, to: Stage) {
        let call = &mut self.calls[id as usize];
        let from = std::mem::replace(&mut call.stage, to);
        let key = call.key;
        self.revision += 1;
        call.changed = self.revision;
        if !matches!((from, to), (Stage::Running { .. }, Stage::Running { .. })) {
            call.since = now;
        }
        self.pending -= usize::from(from == Stage::Pending);
        self.pending += usize::from(to == Stage::Pending);
        self.parked -= usize::from(from == Stage::Parked);
        self.parked += usize::from(to == Stage::Parked);
        let waits = |stage| matches!(stage, Stage::Pending | Stage::Parked);
        let runs = |stage| matches!(stage, Stage::Running { .. });
        let active = |stage| waits(stage) || runs(stage);
        // Most steps change one index at most, and each of them is as long as the batch.
        if active(from) != active(to) {
            self.active.set(id, active(to));
        }
        match key {
            None if from == Stage::Parked || to == Stage::Parked => {
                self.unkeyed.set(id, to == Stage::Parked);
            }
            Some(key) if waits(from) != waits(to) => {
                self.keys[key as usize].waiting.set(id, waits(to));
                self.refresh(key);
            }
            _ => {}
        }
    }

    /// Slots of a key that nothing holds.
    fn free(&self, key: KeyIndex) -> usize {
        (self.limit(key) as usize).saturating_sub(self.running(key))
    }

    fn refresh(&mut self, key: KeyIndex) {
        let waits = !self.keys[key as usize].waiting.is_empty();
        let ready = waits && self.free(key) > 0;
        self.waiting.set(key, waits);
        self.ready.set(key, ready);
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
