//! How a batch came to a position of the search, and the scenario that takes it there again.

use std::{collections::BTreeMap, sync::Arc};

use jp_policy_config::Config;
use jp_policy_core::batch::{CallId, Instant};

use super::shapes::{BatchShape, label, tool};
use crate::{Behaviour, CallSpec, Ending, Expect, PersonEvent, Phase, Scenario, ScenarioEvent};

/// Something that happens to a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// The next call comes in.
    Arrive(CallId),
    /// A person approves it.
    Approve(CallId),
    /// A person rejects it.
    Reject(CallId),
    /// Its execution ends.
    End {
        call: CallId,
        failed: bool,
    },
    /// Its execution asks something.
    Ask(CallId),
    /// It has its answer.
    Answer(CallId),
    /// A stopped execution of it is gone.
    Gone(CallId),
    Cancel,
    Restart,
    /// The policy's wake-up is due.
    Wake,
    /// What has happened at this instant is over: the policy is asked.
    Decide,
}

/// One step of a history, with those before it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) at: Instant,
    pub(super) action: Action,
    /// Calls that were started by it.
    pub(super) released: Vec<CallId>,
    pub(super) before: History,
}

/// Where a state comes from; none: it is the first.
pub(super) type History = Option<Arc<Step>>;

/// How long an execution goes on that nothing ends.
const FOREVER: Instant = 10_000_000_000;

/// The scenario of a history that ended at this time.
pub(super) fn scenario(
    history: &History,
    shape: &BatchShape,
    config: Config,
    until: Instant,
) -> Scenario {
    let mut steps = Vec::new();
    let mut step = history.as_ref();
    while let Some(this) = step {
        steps.push(this);
        step = this.before.as_ref();
    }
    let mut builder = ScenarioBuilder::default();
    for step in steps.into_iter().rev() {
        builder.apply(step);
    }
    let calls = builder.calls.into_iter().map(|(id, call)| {
        let place = id as usize;
        call.spec(label(place), tool(shape.calls.get(place).copied().flatten()), id, until)
    });
    Scenario {
        title: String::new(),
        config: Ok(config),
        earlier: Vec::new(),
        calls: calls.collect(),
        events: builder.events,
        complete: None,
        expect: Expect::default(),
    }
}

#[derive(Default)]
struct ScenarioBuilder {
    calls: BTreeMap<CallId, CallBuilder>,
    events: Vec<ScenarioEvent>,
}

#[derive(Default)]
struct CallBuilder {
    arrives: Instant,
    approved: Vec<Instant>,
    rejected: Option<Instant>,
    answered: Vec<Instant>,
    gone: Vec<Instant>,
    runs: Vec<Behaviour>,
    /// Since when the phase runs that runs now.
    since: Option<Instant>,
    /// An execution of it has not ended.
    live: bool,
    /// One was told to stop and is not gone.
    stops: bool,
}

impl ScenarioBuilder {
    fn apply(&mut self, step: &Step) {
        let at = step.at;
        match step.action {
            Action::Arrive(call) => self.call(call).arrives = at,
            Action::Approve(call) => self.call(call).approved.push(at),
            Action::Reject(call) => self.call(call).rejected = Some(at),
            Action::End { call, failed } => {
                let call = self.call(call);
                call.live = false;
                call.phase(at, false, failed);
            }
            Action::Ask(call) => self.call(call).phase(at, true, false),
            Action::Answer(call) => {
                let call = self.call(call);
                call.answered.push(at);
                call.since = Some(at);
            }
            Action::Gone(call) => {
                let call = self.call(call);
                call.gone.push(at);
                call.stops = false;
            }
            Action::Cancel => {
                self.stop();
                self.events.push(ScenarioEvent::Cancel(at));
            }
            Action::Restart => {
                self.stop();
                self.events.push(ScenarioEvent::Restart(at));
            }
            Action::Wake | Action::Decide => {}
        }
        for &call in &step.released {
            let call = self.call(call);
            // A run that was detached by a restart has its behaviour already, or never had another.
            call.on(at);
            call.runs.push(Behaviour { phases: Vec::new(), ending: Ending::Succeeds });
            call.since = Some(at);
            call.live = true;
        }
    }

    /// All that runs is told to stop.
    fn stop(&mut self) {
        for call in self.calls.values_mut().filter(|call| call.live) {
            call.stops = true;
            call.live = false;
        }
    }

    fn call(&mut self, call: CallId) -> &mut CallBuilder {
        self.calls.entry(call).or_default()
    }
}

impl CallBuilder {
    fn phase(&mut self, at: Instant, asks: bool, fails: bool) {
        if let (Some(since), Some(run)) = (self.since.take(), self.runs.last_mut()) {
            run.phases.push(Phase { takes: at.saturating_sub(since), asks });
            run.ending = if fails { Ending::Fails } else { Ending::Succeeds };
        }
    }

    /// The run that runs goes on for longer than anybody looks.
    fn on(&mut self, until: Instant) {
        if let Some(since) = self.since {
            self.phase(since.max(until).saturating_add(FOREVER), false, false);
        } else if let Some(run) = self.runs.last_mut()
            && run.phases.last().is_some_and(|phase| phase.asks)
        {
            run.phases.push(Phase { takes: FOREVER, asks: false });
        }
    }

    fn spec(mut self, label: String, tool: String, parent: u32, until: Instant) -> CallSpec {
        self.on(until);
        if self.stops {
            self.gone.push(until.saturating_add(FOREVER));
        }
        let decision = match self.rejected {
            Some(at) => PersonEvent::NotRun(at),
            None if self.approved.is_empty() => PersonEvent::Never,
            None => PersonEvent::Approved(self.approved),
        };
        if self.runs.is_empty() {
            let phases = vec![Phase { takes: 1_000_000_000, asks: false }];
            self.runs.push(Behaviour { phases, ending: Ending::Succeeds });
        }
        CallSpec {
            label,
            tool,
            parent,
            arguments: "{}".to_owned(),
            arrives: self.arrives,
            decision,
            runs: self.runs,
            answered: self.answered,
            answered_after: Vec::new(),
            reviewed: None,
            gone: self.gone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wake-up may be set for the end of time, and what happens then has no room behind it.
    #[test]
    fn a_history_that_ends_with_time_itself_has_a_scenario() {
        let end = Instant::MAX;
        let steps = [
            (0, Action::Arrive(0), vec![]),
            (0, Action::Approve(0), vec![]),
            (0, Action::Decide, vec![0]),
            (end, Action::Restart, vec![]),
        ];
        let history = steps.into_iter().fold(None, |before, (at, action, released)| {
            Some(Arc::new(Step { at, action, released, before }))
        });
        let shape = BatchShape { calls: vec![None], limits: vec![] };
        let scenario = scenario(&history, &shape, Config::default(), end);
        let call = &scenario.calls[0];
        assert_eq!(call.runs[0].phases, [Phase { takes: end, asks: false }]);
        assert_eq!(call.gone, [end]);
    }
}
