//! What other policies would have done with the same calls: outcomes to be held against each other.

use std::path::PathBuf;

use jp_policy_config::{Config, ConfigError, Severity, Source};
use jp_policy_core::{
    policy::{Arguments, Identity, PolicyFactory, Refusal},
    record::{RecordFile, RecordedFault},
};
use jp_policy_report::{RefusedParameter, ReplayOutcome};

use super::{
    recorded::{Assumed, recorded_config, recorded_scenario},
    scenario::Scenario,
    simulate::{SimulateError, simulate},
    write::config_toml,
};

/// A record as the first of several outcomes, and as a scenario for the others.
#[derive(Debug, Clone)]
pub struct ReplayInput {
    /// What really happened.
    pub outcome: ReplayOutcome,
    /// What other policies are asked about.
    pub scenario: Scenario,
    /// What the record does not tell.
    pub assumed: Vec<Assumed>,
}

impl ReplayInput {
    /// Of a record file. Fails if the configuration in its header does not hold.
    pub fn new(file: &RecordFile) -> Result<Self, ConfigError> {
        let config = recorded_config(&file.header)?;
        let recorded = recorded_scenario(&file.record, &config, &file.arguments());
        let policy = &file.header.policy;
        let outcome = ReplayOutcome {
            policy: Identity { name: policy.name.clone(), digest: policy.digest.clone() },
            real: true,
            record: file.record.clone(),
            faults: file.faults.clone(),
            left_out: Vec::new(),
        };
        Ok(Self { outcome, scenario: recorded.scenario, assumed: recorded.assumed })
    }
}

/// A configuration with files, and folders of files, laid over it: what the calls of a batch would have had with another limit, or
/// with a field that the policy they really ran under does not know.
pub fn overlay(config: &Config, paths: &[PathBuf]) -> Result<Config, ConfigError> {
    let mut problems = Vec::new();
    let mut sources = vec![Source::new("the configuration so far", config_toml(config))];
    for path in paths {
        sources.extend(Source::read(path, &mut problems));
    }
    if !problems.is_empty() {
        return Err(ConfigError(problems));
    }
    Config::from_sources(&sources).map_err(|ConfigError(mut problems)| {
        // Warnings are mostly about what the first layer leaves out.
        problems.retain(|problem| problem.severity == Severity::Error);
        ConfigError(problems)
    })
}

/// Simulates a scenario under a policy. Further fields of keys and options that the policy refuses are left out, and said:
/// they are another policy's.
pub fn replay(
    scenario: &Scenario,
    factory: &dyn PolicyFactory,
) -> Result<ReplayOutcome, SimulateError> {
    let (config, left_out) = without_refused(scenario.config.clone()?, factory)?;
    let simulation = simulate(&Scenario { config: Ok(config), ..scenario.clone() }, factory)?;
    let faults = simulation.record.faults.iter().map(|fault| RecordedFault {
        at: fault.at,
        kind: fault.kind.word().to_owned(),
        message: fault.to_string(),
    });
    Ok(ReplayOutcome {
        policy: factory.identity().clone(),
        real: false,
        faults: faults.collect(),
        record: simulation.record,
        left_out,
    })
}

/// The configuration without what the policy refuses of it.
fn without_refused(
    mut config: Config,
    factory: &dyn PolicyFactory,
) -> Result<(Config, Vec<RefusedParameter>), SimulateError> {
    let mut left_out = Vec::new();
    let policy = &factory.identity().name;
    loop {
        let settings = config.settings();
        let problems = match factory.instantiate(&settings, Arguments::default()) {
            Ok(_) => return Ok((config, left_out)),
            Err(Refusal::Settings(problems)) => problems,
            Err(refusal) => {
                return Err(SimulateError::Refused { policy: policy.clone(), refusal });
            }
        };
        let before = left_out.len();
        for problem in &problems {
            let Some(field) = &problem.field else {
                continue;
            };
            let key = problem.key.and_then(|key| settings.keys.get(key as usize));
            if leave_out(&mut config, key.map(|key| key.name.as_str()), field) {
                left_out.push(RefusedParameter {
                    key: key.map(|key| key.name.clone()),
                    field: field.clone(),
                    message: problem.message.clone(),
                });
            }
        }
        if left_out.len() == before {
            return Err(ConfigError(config.refused(policy, &problems)).into());
        }
    }
}

/// Whether there was something to leave out.
fn leave_out(config: &mut Config, key: Option<&str>, field: &str) -> bool {
    let Some(key) = key else {
        let options = config.release.policy.as_mut().map(|plugin| &mut plugin.options);
        return options.is_some_and(|options| {
            let before = options.len();
            options.retain(|option| option.name != field);
            options.len() < before
        });
    };
    let mut found = false;
    for concurrency in config.tools.values_mut().filter_map(|tool| tool.concurrency.as_mut()) {
        if concurrency.key == key {
            let before = concurrency.fields.len();
            concurrency.fields.retain(|(name, _)| name != field);
            found |= concurrency.fields.len() < before;
        }
    }
    found
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
