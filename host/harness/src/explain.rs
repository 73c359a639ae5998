//! Why the calls of a scenario wait: it is lived through, and what happened is accounted for.

use jp_policy_core::{
    policy::{Arguments, PolicyFactory},
    scheduler::Event,
};
use jp_policy_report::{Account, Lived};

use super::{
    scenario::Scenario,
    simulate::{Observer, Setup, SimulateError, simulate_with},
};

/// The account of a scenario that is lived through under a policy.
pub fn account(scenario: &Scenario, factory: &dyn PolicyFactory) -> Result<Account, SimulateError> {
    let mut events = Events::default();
    let setup = Setup { observer: Some(&mut events), ..Setup::default() };
    let record = simulate_with(scenario, factory, setup)?.record;
    let settings = scenario.config.as_ref().map_err(Clone::clone)?.settings();
    let arguments = Arguments::default();
    for call in &scenario.calls {
        arguments.push_text(&call.arguments);
    }
    Ok(Account::of_lived(Lived {
        events: events.0,
        earlier: scenario.earlier.iter().map(|earlier| earlier.key.clone()).collect(),
        complete: scenario.complete,
        // It has served the scenario just now.
        policy: factory.instantiate(&settings, arguments).ok(),
        settings,
        record,
    }))
}

/// Collects what happens in a simulation.
#[derive(Default)]
struct Events(Vec<Event>);

impl Observer for Events {
    fn event(&mut self, event: &Event) {
        self.0.push(event.clone());
    }
}
