//! The policy of one batch: an instance, its budget, and what its failures say.

use std::sync::Arc;

use jp_policy_guest::{Batch, CallId, Decision, Problem, Settings, View};
use wasmtime::{Store, Trap};

use super::{Budget, Engine, budget::Exceeded, component::Loaded, contract::World, state::State};
use crate::{
    policy::{Arguments, FaultKind, Policy, Refusal, Spent},
    text::clean_to,
};

/// Characters of a plugin's name.
pub(super) const NAME: usize = 64;

/// Characters of a message of a plugin.
const MESSAGE: usize = 1000;

/// Problems of a refusal that are shown: nobody mends more at once.
const PROBLEMS: usize = 100;

/// An instance that has not been configured.
pub(super) struct Instance {
    engine: Engine,
    budget: Budget,
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
        let made = arm(&mut store, budget.start_fuel, budget).and_then(|()| {
            let _watch = loaded.engine.watch();
            let instance = loaded.linked.instantiate(&mut store)?;
            loaded.contract.bind(&mut store, instance)
        });
        let world = made.map_err(|error| fault(&mut store, budget.start_fuel, budget, &error))?;
        Ok(Self { engine: loaded.engine.clone(), budget, store, world })
    }

    pub(super) fn name(&mut self) -> Result<String, FaultKind> {
        let budget = self.budget;
        let name = self.call(budget.start_fuel, |store, world| {
            let name = world.name(store)?;
            within(name.len(), budget).map(|()| name)
        })?;
        Ok(clean_to(&name, NAME))
    }

    pub(super) fn configure(&mut self, settings: &Settings) -> Result<View, Refusal> {
        let budget = self.budget;
        let configured = self.call(budget.start_fuel, |store, world| {
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

    pub(super) fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        let budget = self.budget;
        let answer = self.call(budget.fuel, |store, world| {
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

    /// What the last call cost that had this much fuel. Counted only when asked for.
    pub(super) fn spent(&self, fuel: u64) -> Spent {
        let limiter = &self.store.data().limiter;
        Spent {
            // Fuel is on in every engine of ours.
            fuel: fuel.saturating_sub(self.store.get_fuel().unwrap_or(fuel)),
            memory: limiter.memory(),
            table: limiter.table_elements(),
        }
    }

    /// Calls into the guest under the budget of one question.
    fn call<T>(
        &mut self,
        fuel: u64,
        call: impl FnOnce(&mut Store<State>, &dyn World) -> wasmtime::Result<T>,
    ) -> Result<T, FaultKind> {
        let result = arm(&mut self.store, fuel, self.budget).and_then(|()| {
            let _watch = self.engine.watch();
            call(&mut self.store, &*self.world)
        });
        let result = result.map_err(|error| fault(&mut self.store, fuel, self.budget, &error));
        self.store.data_mut().end_question();
        result
    }
}

/// The policy of one batch. After a fault it is never entered again: the scheduler drops it.
pub(super) struct Configured {
    instance: Instance,
    view: View,
    reasons: Reasons,
}

/// Reasons come from an instance of their own, so that a trap there costs an explanation and not the policy.
struct Reasons {
    loaded: Arc<Loaded>,
    settings: Settings,
    arguments: Arguments,
    instance: Option<Instance>,
    failed: bool,
}

impl Configured {
    pub(super) fn new(
        loaded: Arc<Loaded>,
        settings: &Settings,
        arguments: Arguments,
    ) -> Result<Self, Refusal> {
        let mut instance = Instance::start(&loaded, arguments.clone()).map_err(Refusal::Fault)?;
        let view = instance.configure(settings)?;
        let failed = !instance.explains();
        let reasons =
            Reasons { loaded, settings: settings.clone(), arguments, instance: None, failed };
        Ok(Self { instance, view, reasons })
    }
}

impl Policy for Configured {
    fn view(&self) -> View {
        self.view
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        self.instance.release(batch)
    }

    fn explain(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        self.reasons.explain(batch, call)
    }

    fn spent(&self) -> Option<Spent> {
        Some(self.instance.spent(self.instance.budget.fuel))
    }
}

impl Reasons {
    fn explain(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        if self.failed {
            return None;
        }
        let reason = self.ask(batch, call);
        self.failed = reason.is_none();
        reason.filter(|reason| !reason.is_empty())
    }

    fn ask(&mut self, batch: &Batch, call: CallId) -> Option<String> {
        let instance = match &mut self.instance {
            Some(instance) => instance,
            None => {
                let mut instance = Instance::start(&self.loaded, self.arguments.clone()).ok()?;
                instance.configure(&self.settings).ok()?;
                self.instance.insert(instance)
            }
        };
        let reason = instance
            .call(instance.budget.fuel, |store, world| world.explain(store, batch, call))
            .ok()?;
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

fn arm(store: &mut Store<State>, fuel: u64, budget: Budget) -> wasmtime::Result<()> {
    store.set_epoch_deadline(Engine::ticks(budget.time));
    store.set_fuel(fuel)
}

/// What an error of the engine says about the policy, by its type.
fn fault(
    store: &mut Store<State>,
    fuel: u64,
    budget: Budget,
    error: &wasmtime::Error,
) -> FaultKind {
    let panic = store.data_mut().take_panic();
    if let Some(exceeded) = error.downcast_ref::<Exceeded>() {
        return match *exceeded {
            Exceeded::Memory(budget) => FaultKind::OutOfMemory { budget: budget as u64 },
            Exceeded::Table(budget) => FaultKind::OutOfTable { budget: budget as u64 },
            Exceeded::Answer { .. } => FaultKind::Unreadable { message: exceeded.to_string() },
        };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => FaultKind::OutOfFuel { budget: fuel },
        Some(Trap::Interrupt) => FaultKind::OutOfTime {
            budget_ms: u64::try_from(budget.time.as_millis()).unwrap_or(u64::MAX),
        },
        Some(trap) => FaultKind::Trap { message: panic.unwrap_or_else(|| trap.to_string()) },
        None => {
            FaultKind::Unreadable { message: clean_to(&error.root_cause().to_string(), MESSAGE) }
        }
    }
}
