//! Why the calls of a scenario wait: it is simulated, and its events are analysed.

use jp_policy_core::{
    policy::{Arguments, PolicyFactory},
    scheduler::Event,
};
use jp_policy_report::{BatchHistory, WaitAnalysis};

use super::{
    scenario::Scenario,
    simulate::{SimulateError, SimulateOptions, SimulationObserver, simulate_with},
};

/// Simulates a scenario under a policy, and analyses why its calls waited.
pub fn analyse_waits(
    scenario: &Scenario,
    factory: &dyn PolicyFactory,
) -> Result<WaitAnalysis, SimulateError> {
    let mut events = EventCollector::default();
    let setup = SimulateOptions { observer: Some(&mut events), ..SimulateOptions::default() };
    let record = simulate_with(scenario, factory, setup)?.record;
    let settings = scenario.config.as_ref().map_err(Clone::clone)?.settings();
    let arguments = Arguments::default();
    for call in &scenario.calls {
        arguments.push_text(&call.arguments);
    }
    Ok(WaitAnalysis::of_history(BatchHistory {
        events: events.0,
        earlier: scenario.earlier.iter().map(|earlier| earlier.key.clone()).collect(),
        complete: scenario.complete,
        // It has served the scenario just now.
        policy: factory.instantiate(&settings, arguments).ok(),
        settings,
        record,
    }))
}

/// Collects the events of a simulation.
#[derive(Default)]
struct EventCollector(Vec<Event>);

impl SimulationObserver for EventCollector {
    fn event(&mut self, event: &Event) {
        self.0.push(event.clone());
    }
}
