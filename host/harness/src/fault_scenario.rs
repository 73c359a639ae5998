//! A fault as a scenario file that reproduces it.

use jp_policy_config::Config;
use jp_policy_core::{policy::Fault, record::Record, text::clean};

use super::recorded::recorded_scenario;

/// The scenario of a batch in which the policy failed: the same configuration, calls, durations and decisions of people, and the
/// fault as what is expected. Needs the policy that failed: its path is named, its bytes are not in it.
///
/// `arguments` are the calls' arguments in written order, as JSON text.
pub fn fault_scenario(
    record: &Record,
    config: &Config,
    fault: &Fault,
    arguments: &[String],
) -> String {
    let mut scenario = recorded_scenario(record, config, arguments).scenario;
    scenario.title = format!("fault of policy {}: {}", fault.policy, fault.kind.word());
    scenario.expect.faults = Some(vec![fault.kind.word().to_owned()]);
    let digest = fault.policy.digest.as_deref().unwrap_or("no digest");
    // It was made of a configuration that holds.
    let text = scenario.to_toml().unwrap_or_default();
    let about = clean(&format!("Written at a fault: {fault}"));
    format!("# {about}\n# Policy \"{}\", {digest}\n{text}", fault.policy)
}
