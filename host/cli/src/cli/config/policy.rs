//! The configured policy: what can be said of it without running it, and whether it takes the configuration.

use anyhow::Result;
use jp_policy_config::{Config, Diagnostic, Place, Plugin, PluginRun, node::Value};
use jp_policy_core::policy::{Arguments, PolicyFactory as _, Refusal};
use jp_policy_wasm::{Budget, Component, DEFAULT, digest};

use crate::cli::policy::{CacheArgs, compiling, component, patient};

/// What can be said of the configured policy without running it.
pub(super) struct About {
    /// What it is called.
    pub name: String,
    /// Where it is; none for the embedded default.
    pub path: Option<String>,
    /// `sha256:...`, or why the file can't be read.
    pub digest: Result<String, String>,
    /// What it may cost.
    pub budget: Budget,
}

/// Looks at the configured policy.
pub(super) fn about(config: &Config) -> About {
    let Some(plugin) = &config.release.policy else {
        return About {
            name: "default".to_owned(),
            path: None,
            digest: Ok(digest(DEFAULT)),
            budget: Budget::default(),
        };
    };
    let budget = Budget::default().with(plugin.limits);
    let bytes = Component::read(&plugin.path, budget);
    About {
        name: plugin.name.clone(),
        path: Some(plugin.path.display().to_string()),
        digest: bytes.map(|bytes| digest(&bytes)).map_err(|error| error.to_string()),
        budget,
    }
}

/// What is wrong between the configured policy and the configuration: that it does not load, or refuses a field or an option.
pub(super) fn problems(config: &Config, cache: &CacheArgs) -> Result<Vec<Diagnostic>> {
    let engine = cache.engine()?;
    let loaded = match &config.release.policy {
        None => Component::embedded(&engine),
        Some(plugin) => match plugin.run {
            PluginRun::Unattended => {
                patient(&compiling(&plugin.path), || Ok(component(&engine, plugin)))?
            }
            // To ask it would be to run it.
            PluginRun::Ask => {
                return Ok(vec![unasked(
                    plugin,
                    "a person has to let it run first (`run = \"ask\"`)",
                )]);
            }
            PluginRun::Deny => {
                return Ok(vec![unasked(plugin, "it may not run (`run = \"deny\"`)")]);
            }
        },
    };
    let component = match loaded {
        Ok(component) => component,
        Err(error) => {
            let error = Diagnostic::error(error.to_string());
            return Ok(vec![match &config.release.policy {
                Some(plugin) => error.at(&place(plugin, "path"), "this policy"),
                None => error,
            }]);
        }
    };
    let name = component.identity().name.clone();
    Ok(match component.instantiate(&config.settings(), Arguments::default()) {
        Ok(_) => Vec::new(),
        Err(Refusal::Settings(problems)) => config.refused(&name, &problems),
        Err(refusal) => {
            vec![Diagnostic::error(format!("release policy \"{name}\" can't be used: {refusal}"))]
        }
    })
}

fn unasked(plugin: &Plugin, why: &str) -> Diagnostic {
    let name = plugin.name.escape_debug();
    Diagnostic::warning(format!(
        "policy plugin `{name}` was not asked whether it takes this: {why}"
    ))
    .at(&place(plugin, "run"), "not run")
}

/// Where a field of a plugin stands.
fn place(plugin: &Plugin, field: &str) -> Place {
    let entry = match &plugin.table.value {
        Value::Table(table) => table.get(field),
        _ => None,
    };
    entry.map_or(&plugin.table.place, |entry| &entry.node.place).clone()
}
