//! The policy of one batch: an instance, its budget, and what its failures say.

use std::{
    sync::Arc,
    time::{Duration, Instant as Clock},
};

use jp_policy_core::{
    policy::{Arguments, FaultKind, Policy, Refusal, Spent},
    text::clean_to,
};
use jp_policy_guest::{Batch, CallId, Decision, Problem, Settings, View};
use wasmtime::{Store, Trap};

use super::{
    Budget, Engine,
    budget::{Cost, Exceeded},
    component::Loaded,
    contract::World,
    state::State,
};

/// Characters of a plugin's name.
pub(super) const NAME: usize = 64;

/// Characters of a message of a plugin.
const MESSAGE: usize = 1000;

/// Problems of a refusal that are shown: nobody mends more at once.
const PROBLEMS: usize = 100;

/// What a question may cost where nobody can wait: a fraction of a millisecond's instructions, and at most two ticks of the clock
/// where instructions say little about the time.
const MOMENT: Cost = Cost { fuel: 400_000, time: Duration::from_millis(10) };

/// How much of that the last question may have cost for the next to be asked so: the next may show more calls.
const SHARE: u32 = 4;

/// An instance that has not been configured.
pub(super) struct Instance {
    engine: Engine,
    budget: Budget,
    /// What the last call had.
    fuel: u64,
    store: Store<State>,
    world: Box<dyn World>,
}

impl Instance {
    /// Instantiates under the budget of one question: a start function may do anything.
    pub(super) fn start(loaded: &Loaded, arguments: Arguments) -> Result<Self, FaultKind> {
        let budget = loaded.budget;
        let mut store = Store::new(loaded.engine.inner(), State::new(budget, arguments));
        store.limiter(|state| &mut state.limiter);
        // What comes over is in the guest's memory first, which has a budget; how much of it is kept is decided here.
        store.set_hostcall_fuel(budget.memory);
        let cost = budget.to_start();
        let made = arm(&mut store, cost).and_then(|()| {
            let _watch = loaded.engine.watch();
            let instance = loaded.linked.instantiate(&mut store)?;
            loaded.contract.bind(&mut store, instance)
        });
        let world = made.map_err(|error| fault(&mut store, cost, &error))?;
        Ok(Self { engine: loaded.engine.clone(), budget, fuel: cost.fuel, store, world })
    }

    pub(super) fn name(&mut self) -> Result<String, FaultKind> {
        let budget = self.budget;
        let name = self.call(budget.to_start(), |store, world| {
            let name = world.name(store)?;
            within(name.len(), budget).map(|()| name)
        })?;
        Ok(clean_to(&name, NAME))
    }

    pub(super) fn configure(&mut self, settings: &Settings) -> Result<View, Refusal> {
        let budget = self.budget;
        let configured = self.call(budget.to_start(), |store, world| {
            let configured = world.configure(store, settings)?;
            let size = |problem: &Problem| {
                size_of::<Problem>()
                    + problem.message.len()
                    + problem.field.as_ref().map_or(0, String::len)
            };
            let problems = configured.as_ref().err().map_or(&[][..], Vec::as_slice);
            within(problems.iter().map(size).sum(), budget).map(|()| configured)
        });
        configured.map_err(Refusal::Fault)?.map_err(|problems| {
            let cleaned = |Problem { key, field, message }| Problem {
                key,
                field: field.map(|field| clean_to(&field, NAME)),
                message: clean_to(&message, MESSAGE),
            };
            Refusal::Settings(problems.into_iter().take(PROBLEMS).map(cleaned).collect())
        })
    }

    /// Asks a question that may cost this much.
    pub(super) fn release(&mut self, batch: &Batch, cost: Cost) -> Result<Decision, FaultKind> {
        let budget = self.budget;
        let answer = self.call(cost, |store, world| {
            let answer = world.release(store, batch)?;
            let bytes = match &answer {
                Ok(decision) => std::mem::size_of_val(decision.release.as_slice()),
                Err(message) => message.len(),
            };
            within(bytes, budget).map(|()| answer)
        })?;
        answer.map_err(|message| FaultKind::Error { message: clean_to(&message, MESSAGE) })
    }

    /// Whether it has reasons of its own.
    pub(super) fn explains(&self) -> bool {
        self.world.explains()
    }

    /// What the last call cost. Counted only when asked for.
    pub(super) fn spent(&self) -> Spent {
        let limiter = &self.store.data().limiter;
        Spent {
            // Fuel is on in every engine of ours.
            fuel: self.fuel.saturating_sub(self.store.get_fuel().unwrap_or(self.fuel)),
            memory: limiter.memory(),
            table: limiter.table_elements(),
        }
    }

    /// Calls into the guest, which may cost this much.
    fn call<T>(
        &mut self,
        cost: Cost,
        call: impl FnOnce(&mut Store<State>, &dyn World) -> wasmtime::Result<T>,
    ) -> Result<T, FaultKind> {
        self.fuel = cost.fuel;
        let result = arm(&mut self.store, cost).and_then(|()| {
            let _watch = self.engine.watch();
            call(&mut self.store, &*self.world)
        });
        let result = result.map_err(|error| fault(&mut self.store, cost, &error));
        self.store.data_mut().end_question();
        result
    }
}

/// What instances of one batch are made of.
struct Maker {
    loaded: Arc<Loaded>,
    settings: Settings,
    arguments: Arguments,
}

impl Maker {
    fn make(&self) -> Result<(Instance, View), Refusal> {
        let started = Instance::start(&self.loaded, self.arguments.clone());
        let mut instance = started.map_err(Refusal::Fault)?;
        let view = instance.configure(&self.settings)?;
        Ok((instance, view))
    }

    /// Another instance in the place of one that can't be entered again.
    fn make_again(&self) -> Result<Instance, FaultKind> {
        self.make().map(|(instance, _)| instance).map_err(|refusal| match refusal {
            Refusal::Fault(fault) => fault,
            Refusal::Settings(_) | Refusal::Unloadable(_) => FaultKind::Error {
                message: "it refuses the settings that it took before".to_owned(),
            },
        })
    }
}

/// The policy of one batch. After a fault it is never entered again: the scheduler drops it.
pub(super) struct Configured {
    maker: Maker,
    instance: Instance,
    view: View,
    pace: Pace,
    reasons: Reasons,
}

/// How quickly a policy has answered so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Nobody knows, or the last answer took a while.
    Unknown,
    /// The last answer came at once.
    Quick,
    /// It was cut off because nobody could wait: there has to be time for it from now on, and another instance first.
    CutOff,
    /// There has to be time for it.
    Slow,
}

/// Reasons come from an instance of their own, so that a trap there costs an explanation and not the policy.
struct Reasons {
    instance: Option<Instance>,
    failed: bool,
}

impl Configured {
    pub(super) fn new(
        loaded: Arc<Loaded>,
        settings: &Settings,
        arguments: Arguments,
    ) -> Result<Self, Refusal> {
        let maker = Maker { loaded, settings: settings.clone(), arguments };
        let (instance, view) = maker.make()?;
        let reasons = Reasons { instance: None, failed: !instance.explains() };
        Ok(Self { maker, instance, view, pace: Pace::Unknown, reasons })
    }

    /// Asks, and sees how long it takes.
    fn ask(&mut self, batch: &Batch, cost: Cost) -> Result<Decision, FaultKind> {
        let start = Clock::now();
        let answer = self.instance.release(batch, cost);
        let quick = self.instance.spent().fuel <= MOMENT.fuel / u64::from(SHARE)
            && start.elapsed() <= MOMENT.time / SHARE;
        if self.pace != Pace::Slow {
            self.pace = if quick { Pace::Quick } else { Pace::Unknown };
        }
        answer
    }
}

impl Policy for Configured {
    fn view(&self) -> View {
        self.view
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        if self.pace == Pace::CutOff {
            self.instance = self.maker.make_again()?;
            self.pace = Pace::Slow;
        }
        self.ask(batch, self.instance.budget.of_a_question())
    }

    /// A guest can't be left in the middle of an answer and entered again. So one that has answered in a moment so far is asked
    /// with a moment's budget; if it uses that up, its instance is dropped, and a fresh one, which by the contract decides
    /// alike, is asked the same where there is time.
    fn release_at_once(&mut self, batch: &Batch) -> Option<Result<Decision, FaultKind>> {
        if self.pace != Pace::Quick {
            return None;
        }
        match self.ask(batch, self.instance.budget.of_a_question().min(MOMENT)) {
            Err(FaultKind::OutOfFuel { .. } | FaultKind::OutOfTime { .. }) => {
                self.pace = Pace::CutOff;
                None
            }
            answer => Some(answer),
        }
    }

    fn explain(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        self.reasons.explain(&self.maker, batch, call)
    }

    fn spent(&self) -> Option<Spent> {
        Some(self.instance.spent())
    }
}

impl Reasons {
    fn explain(&mut self, maker: &Maker, batch: &Batch, call: CallId) -> Option<String> {
        if self.failed {
            return None;
        }
        let reason = self.ask(maker, batch, call);
        self.failed = reason.is_none();
        reason.filter(|reason| !reason.is_empty())
    }

    fn ask(&mut self, maker: &Maker, batch: &Batch, call: CallId) -> Option<String> {
        let instance = match &mut self.instance {
            Some(instance) => instance,
            None => self.instance.insert(maker.make().ok()?.0),
        };
        let cost = instance.budget.of_a_question();
        let reason = instance.call(cost, |store, world| world.explain(store, batch, call)).ok()?;
        Some(clean_to(&reason, MESSAGE))
    }
}

/// Whether an answer is small enough to be taken.
fn within(bytes: usize, budget: Budget) -> wasmtime::Result<()> {
    if bytes > budget.answer {
        return Err(Exceeded::Answer { bytes, budget: budget.answer }.into());
    }
    Ok(())
}

fn arm(store: &mut Store<State>, cost: Cost) -> wasmtime::Result<()> {
    store.set_epoch_deadline(Engine::ticks(cost.time));
    store.set_fuel(cost.fuel)
}

/// What an error of the engine says about the policy, by its type.
fn fault(store: &mut Store<State>, cost: Cost, error: &wasmtime::Error) -> FaultKind {
    let panic = store.data_mut().take_panic();
    if let Some(exceeded) = error.downcast_ref::<Exceeded>() {
        return match *exceeded {
            Exceeded::Memory(budget) => FaultKind::OutOfMemory { budget: budget as u64 },
            Exceeded::Table(budget) => FaultKind::OutOfTable { budget: budget as u64 },
            Exceeded::Answer { .. } => FaultKind::Unreadable { message: exceeded.to_string() },
        };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => FaultKind::OutOfFuel { budget: cost.fuel },
        Some(Trap::Interrupt) => FaultKind::OutOfTime {
            budget_ms: u64::try_from(cost.time.as_millis()).unwrap_or(u64::MAX),
        },
        Some(trap) => FaultKind::Trap { message: panic.unwrap_or_else(|| trap.to_string()) },
        None => {
            FaultKind::Unreadable { message: clean_to(&error.root_cause().to_string(), MESSAGE) }
        }
    }
}
