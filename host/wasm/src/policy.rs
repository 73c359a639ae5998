//! The policy of one batch: a configured instance. Where the caller can't wait, it is asked with a small budget; if that budget cuts it
//! off, a fresh instance takes its place.

use std::{
    sync::Arc,
    time::{Duration, Instant as Clock},
};

use jp_policy_core::{
    policy::{Arguments, FaultKind, Policy, Refusal, Spent},
    text::clean_to,
};
use jp_policy_guest::{Batch, CallId, Decision, Settings, View};

use super::{
    budget::Cost,
    instance::{Instance, MESSAGE},
    loaded::Loaded,
};

/// What a question may cost where the caller can't wait: a fraction of a millisecond's instructions, and at most two ticks of the clock
/// where instructions say little about the time.
const QUICK: Cost = Cost { fuel: 400_000, time: Duration::from_millis(10) };

/// How much of that the last question may have cost for the next to be asked so: the next may show more calls.
const QUICK_SHARE: u32 = 4;

/// Makes configured instances for one batch.
struct InstanceFactory {
    loaded: Arc<Loaded>,
    settings: Settings,
    arguments: Arguments,
}

impl InstanceFactory {
    fn make(&self) -> Result<(Instance, View), Refusal> {
        let started = Instance::start(&self.loaded, self.arguments.clone());
        let mut instance = started.map_err(Refusal::Fault)?;
        let view = instance.configure(&self.settings)?;
        Ok((instance, view))
    }

    /// Makes another instance in place of one that can't be entered again.
    fn replace(&self) -> Result<Instance, FaultKind> {
        self.make().map(|(instance, _)| instance).map_err(|refusal| match refusal {
            Refusal::Fault(fault) => fault,
            Refusal::Settings(_) | Refusal::Unloadable(_) => FaultKind::Error {
                message: "it refuses the settings that it took before".to_owned(),
            },
        })
    }
}

/// The policy of one batch. After a fault it is never entered again: the scheduler drops it.
pub(super) struct ComponentPolicy {
    factory: InstanceFactory,
    instance: Instance,
    view: View,
    pace: Pace,
    explainer: Explainer,
}

/// How quickly a policy has answered so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// It is not known, or the last answer took a while.
    Unknown,
    /// The last answer came at once.
    Quick,
    /// It was cut off by the small budget: there has to be time for it from now on, and another instance first.
    CutOff,
    /// There has to be time for it.
    Slow,
}

/// Reasons come from an instance of their own, so that a trap there costs an explanation and not the policy.
struct Explainer {
    instance: Option<Instance>,
    failed: bool,
}

impl ComponentPolicy {
    pub(super) fn new(
        loaded: Arc<Loaded>,
        settings: &Settings,
        arguments: Arguments,
    ) -> Result<Self, Refusal> {
        let factory = InstanceFactory { loaded, settings: settings.clone(), arguments };
        let (instance, view) = factory.make()?;
        let explainer = Explainer { instance: None, failed: !instance.explains() };
        Ok(Self { factory, instance, view, pace: Pace::Unknown, explainer })
    }

    /// Asks, and notes how long the answer took.
    fn ask(&mut self, batch: &Batch, cost: Cost) -> Result<Decision, FaultKind> {
        let start = Clock::now();
        let answer = self.instance.release(batch, cost);
        let quick = self.instance.spent().fuel <= QUICK.fuel / u64::from(QUICK_SHARE)
            && start.elapsed() <= QUICK.time / QUICK_SHARE;
        if self.pace != Pace::Slow {
            self.pace = if quick { Pace::Quick } else { Pace::Unknown };
        }
        answer
    }
}

impl Policy for ComponentPolicy {
    fn view(&self) -> View {
        self.view
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        if self.pace == Pace::CutOff {
            self.instance = self.factory.replace()?;
            self.pace = Pace::Slow;
        }
        self.ask(batch, self.instance.question_cost())
    }

    /// A guest can't be left in the middle of an answer and entered again. So one that has answered in a moment so far is asked
    /// with a moment's budget; if it uses that up, its instance is dropped, and a fresh one, which by the contract decides
    /// alike, is asked the same where there is time.
    fn release_at_once(&mut self, batch: &Batch) -> Option<Result<Decision, FaultKind>> {
        if self.pace != Pace::Quick {
            return None;
        }
        match self.ask(batch, self.instance.question_cost().min(QUICK)) {
            Err(FaultKind::OutOfFuel { .. } | FaultKind::OutOfTime { .. }) => {
                self.pace = Pace::CutOff;
                None
            }
            answer => Some(answer),
        }
    }

    fn explain(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        self.explainer.explain(&self.factory, batch, call)
    }

    fn spent(&self) -> Option<Spent> {
        Some(self.instance.spent())
    }
}

impl Explainer {
    fn explain(
        &mut self,
        factory: &InstanceFactory,
        batch: &Batch,
        call: CallId,
    ) -> Option<String> {
        if self.failed {
            return None;
        }
        let reason = self.ask(factory, batch, call);
        self.failed = reason.is_none();
        reason.filter(|reason| !reason.is_empty())
    }

    fn ask(&mut self, factory: &InstanceFactory, batch: &Batch, call: CallId) -> Option<String> {
        let instance = match &mut self.instance {
            Some(instance) => instance,
            None => self.instance.insert(factory.make().ok()?.0),
        };
        let cost = instance.question_cost();
        let reason =
            instance.call(cost, |store, exports| exports.explain(store, batch, call)).ok()?;
        Some(clean_to(&reason, MESSAGE))
    }
}
