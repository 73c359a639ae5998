//! Lets a session live through a scenario in virtual time.
//!
//! The scenario is the world around the session: it plays the tools, the people and the clock. What follows from what they do is
//! the session's, as it is when the program runs.

mod options;
mod tools;
mod world;

use std::sync::Arc;

use jp_policy_config::ConfigError;
use jp_policy_core::{
    batch::{Carried, ExecutionId},
    policy::{PolicyFactory, Refusal},
    record::Record,
    scheduler::Options,
    session::{self, Session},
};

use crate::scenario::Scenario;
use tools::ScenarioTools;
use world::World;

pub use options::{SimulateError, SimulateOptions, SimulationObserver};

/// What came of a scenario.
pub struct Simulation {
    /// What happened.
    pub record: Record,
    /// Where the batch stands at the end.
    pub session: Session,
}

/// Lives through the scenario under a policy.
pub fn simulate(
    scenario: &Scenario,
    factory: &dyn PolicyFactory,
) -> Result<Simulation, SimulateError> {
    simulate_with(scenario, factory, SimulateOptions::default())
}

/// The same, with somebody who looks on, or only a part of it.
pub fn simulate_with(
    scenario: &Scenario,
    factory: &dyn PolicyFactory,
    options: SimulateOptions<'_>,
) -> Result<Simulation, SimulateError> {
    let config = scenario.config.as_ref().map_err(Clone::clone)?;
    let settings = config.settings();
    let carried = Carried::of(scenario.earlier.iter().map(|earlier| Some(earlier.key.clone())));
    let earlier: Vec<ExecutionId> = carried.executions().collect();
    let session = Session::new(session::Setup {
        settings: &settings,
        factory,
        options: Options { guard: config.release.guard, on_fault: config.release.on_fault },
        carried,
        catalog: Arc::new(ScenarioTools::new(scenario, config)),
        one_prompt_at_a_time: false,
    });
    let session = session.map_err(|refusal| match refusal {
        Refusal::Settings(problems) => {
            SimulateError::Config(ConfigError(config.refused(&factory.identity().name, &problems)))
        }
        refusal => SimulateError::Refused { policy: factory.identity().name.clone(), refusal },
    })?;
    let mut world = World::new(scenario, options, session, Record::new(&settings));
    world.plan_scenario(earlier);
    world.run()?;
    let (record, session) = world.into_parts();
    Ok(Simulation { record, session })
}

#[cfg(test)]
#[path = "simulate_tests.rs"]
mod tests;
