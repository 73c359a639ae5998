//! The tools of a scenario, as a session knows them.

use jp_policy_config::Config;
use jp_policy_core::{
    batch::CallId,
    catalog::{Catalog, Terms},
    request::Request,
    terms::{OnError, ResultMode, RunMode},
};

use crate::scenario::Scenario;

/// The tools of a scenario: people decide about every call, as the scenario says.
pub(super) struct ScenarioTools(Vec<CallTerms>);

/// The terms of one call.
struct CallTerms {
    reviewed: bool,
    fan_out: Option<OnError>,
}

impl ScenarioTools {
    pub(super) fn new(scenario: &Scenario, config: &Config) -> Self {
        let terms = scenario.calls.iter().map(|call| {
            let fan_out = config.tools.get(&call.tool).and_then(|tool| tool.fan_out.as_ref());
            CallTerms {
                reviewed: call.reviewed.is_some(),
                fan_out: fan_out.map(|fan_out| fan_out.on_error),
            }
        });
        Self(terms.collect())
    }
}

impl Catalog for ScenarioTools {
    fn terms(&self, call: &Request) -> Option<Terms<'_>> {
        let CallTerms { reviewed, fan_out } = self.0.get(place_of(&call.id)? as usize)?;
        Some(Terms {
            run: RunMode::Ask,
            result: if *reviewed { ResultMode::Ask } else { ResultMode::Unattended },
            fan_out: *fan_out,
            ..Terms::default()
        })
    }
}

/// The id of a call is its place in the scenario.
pub(super) fn place_of(id: &str) -> Option<CallId> {
    id.parse().ok()
}
