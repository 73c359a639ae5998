//! An instance of a component: each call into it under a budget, each failure as a fault.

use jp_policy_core::{
    policy::{Arguments, FaultKind, Refusal, Spent},
    text::clean_to,
};
use jp_policy_guest::{Batch, Decision, Problem, Settings, View};
use wasmtime::{Store, Trap};

use super::{
    budget::{Budget, Cost, Exceeded},
    contract::Exports,
    engine::Engine,
    loaded::Loaded,
    state::HostState,
};

/// Characters of a plugin's name.
pub(super) const NAME: usize = 64;

/// Characters of a message of a plugin.
pub(super) const MESSAGE: usize = 1000;

/// Problems of a refusal that are shown: nobody mends more at once.
const PROBLEMS: usize = 100;

/// An instance, not configured at first.
pub(super) struct Instance {
    engine: Engine,
    budget: Budget,
    /// The fuel that the last call began with.
    fuel: u64,
    store: Store<HostState>,
    exports: Box<dyn Exports>,
}

impl Instance {
    /// Instantiates under the budget of one question: a start function may do anything.
    pub(super) fn start(loaded: &Loaded, arguments: Arguments) -> Result<Self, FaultKind> {
        let budget = loaded.budget;
        let mut store = Store::new(loaded.engine.inner(), HostState::new(budget, arguments));
        store.limiter(|state| &mut state.limiter);
        // What comes over is in the guest's memory first, which has a budget; how much of it is kept is decided here.
        store.set_hostcall_fuel(budget.memory);
        let cost = budget.to_start();
        let made = arm(&mut store, cost).and_then(|()| {
            let _watch = loaded.engine.watch();
            let instance = loaded.linked.instantiate(&mut store)?;
            loaded.contract.bind(&mut store, instance)
        });
        let exports = made.map_err(|error| fault(&mut store, cost, &error))?;
        Ok(Self { engine: loaded.engine.clone(), budget, fuel: cost.fuel, store, exports })
    }

    pub(super) fn name(&mut self) -> Result<String, FaultKind> {
        let budget = self.budget;
        let name = self.call(budget.to_start(), |store, exports| {
            let name = exports.name(store)?;
            check_size(name.len(), budget).map(|()| name)
        })?;
        Ok(clean_to(&name, NAME))
    }

    pub(super) fn configure(&mut self, settings: &Settings) -> Result<View, Refusal> {
        let budget = self.budget;
        let configured = self.call(budget.to_start(), |store, exports| {
            let configured = exports.configure(store, settings)?;
            let size = |problem: &Problem| {
                size_of::<Problem>()
                    + problem.message.len()
                    + problem.field.as_ref().map_or(0, String::len)
            };
            let problems = configured.as_ref().err().map_or(&[][..], Vec::as_slice);
            check_size(problems.iter().map(size).sum(), budget).map(|()| configured)
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

    /// What one question may cost.
    pub(super) fn question_cost(&self) -> Cost {
        self.budget.of_a_question()
    }

    /// Asks a question that may cost this much.
    pub(super) fn release(&mut self, batch: &Batch, cost: Cost) -> Result<Decision, FaultKind> {
        let budget = self.budget;
        let answer = self.call(cost, |store, exports| {
            let answer = exports.release(store, batch)?;
            let bytes = match &answer {
                Ok(decision) => std::mem::size_of_val(decision.release.as_slice()),
                Err(message) => message.len(),
            };
            check_size(bytes, budget).map(|()| answer)
        })?;
        answer.map_err(|message| FaultKind::Error { message: clean_to(&message, MESSAGE) })
    }

    /// Whether it exports reasons of its own.
    pub(super) fn explains(&self) -> bool {
        self.exports.explains()
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
    pub(super) fn call<T>(
        &mut self,
        cost: Cost,
        call: impl FnOnce(&mut Store<HostState>, &dyn Exports) -> wasmtime::Result<T>,
    ) -> Result<T, FaultKind> {
        self.fuel = cost.fuel;
        let result = arm(&mut self.store, cost).and_then(|()| {
            let _watch = self.engine.watch();
            call(&mut self.store, &*self.exports)
        });
        let result = result.map_err(|error| fault(&mut self.store, cost, &error));
        self.store.data_mut().end_question();
        result
    }
}

/// Refuses an answer that is over its budget, in bytes.
fn check_size(bytes: usize, budget: Budget) -> wasmtime::Result<()> {
    if bytes > budget.answer {
        return Err(Exceeded::Answer { bytes, budget: budget.answer }.into());
    }
    Ok(())
}

fn arm(store: &mut Store<HostState>, cost: Cost) -> wasmtime::Result<()> {
    store.set_epoch_deadline(Engine::ticks(cost.time));
    store.set_fuel(cost.fuel)
}

/// What an error of the engine says about the policy, by its type.
fn fault(store: &mut Store<HostState>, cost: Cost, error: &wasmtime::Error) -> FaultKind {
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
