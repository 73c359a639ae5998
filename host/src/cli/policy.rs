//! Chooses and loads the policy that decides: the one on the command line, the configured one, the embedded default.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use inquire::Confirm;

use super::{approvals::Approvals, diagnostics, say};
use crate::{
    config::{Config, ConfigError, Plugin, PluginRun},
    policy::{
        Blueprint, Refusal,
        wasm::{Budget, Component, Engine},
    },
    text::escape,
};

/// How to choose and load a policy
#[derive(Debug, Clone, clap::Args)]
pub(super) struct PolicyArgs {
    /// Let this component decide instead of the configured policy
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    /// Compile the policy anew, and keep nothing
    #[arg(long)]
    pub(super) no_cache: bool,
}

/// What takes longer than this gets a line that says what is going on.
const PATIENCE: Duration = Duration::from_millis(300);

impl PolicyArgs {
    /// The engine, with compiled code in the user's cache folder where there is one.
    pub(super) fn engine(&self) -> Result<Engine> {
        let folder = (!self.no_cache).then(cache_folder).flatten();
        match folder.map(|folder| Engine::with_cache(&folder)) {
            Some(Ok(engine)) => return Ok(engine),
            Some(Err(error)) => {
                diagnostics::warn(&format!("compiled policies are not kept: {error}"));
            }
            None => {}
        }
        Ok(Engine::new()?)
    }

    /// The policy for this configuration.
    pub(super) fn load(&self, engine: &Engine, config: &Config) -> Result<Component> {
        match (&self.policy, &config.release.policy) {
            (Some(path), _) => {
                patient(path, || Ok(Component::load(engine, path, None, Budget::default())?))
            }
            (None, Some(plugin)) => load_plugin(engine, plugin),
            (None, None) => Ok(Component::embedded(engine)?),
        }
    }
}

fn load_plugin(engine: &Engine, plugin: &Plugin) -> Result<Component> {
    let key = format!("plugins.wasm.{}.run", plugin.name);
    if plugin.run == PluginRun::Deny {
        bail!("policy plugin `{}` may not run: `{key}` is \"deny\"", plugin.name);
    }
    let checksum = plugin.checksum.as_ref().map(|checksum| checksum.value.as_str());
    let budget = Budget::default().with(plugin.limits);
    let component =
        patient(&plugin.path, || Ok(Component::load(engine, &plugin.path, checksum, budget)?))?;
    if plugin.run == PluginRun::Ask {
        approve(plugin, &key, &component)?;
    }
    Ok(component)
}

/// Asks once for each path and digest.
fn approve(plugin: &Plugin, key: &str, component: &Component) -> Result<()> {
    let digest = component.identity().digest.clone().unwrap_or_default();
    let path = plugin.path.canonicalize()?;
    let mut approvals = Approvals::read()?;
    if approvals.has(&path, &digest) {
        return Ok(());
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!(
            "policy plugin `{}` wants to be approved, and there is nobody to ask: set `{key} = \"unattended\"` to let it run, and \
             `checksum = \"{digest}\"` to pin it",
            plugin.name
        );
    }
    let question = format!(
        "Let policy {:?} ({}, {digest}) decide when calls start?",
        plugin.name,
        escape(&path.display().to_string())
    );
    if !Confirm::new(&question).with_default(false).prompt()? {
        bail!("policy plugin `{}` was not approved", plugin.name);
    }
    approvals.add(&path, &digest)
}

/// Says what is going on if it takes long: a scripting guest takes seconds to compile, once.
fn patient<T>(path: &Path, load: impl FnOnce() -> Result<T>) -> Result<T> {
    let terminal = io::stderr().is_terminal();
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let text = format!("compiling policy {}", escape(&path.display().to_string()));
    let waiter = std::thread::spawn(move || {
        if wait.recv_timeout(PATIENCE) != Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            return;
        }
        if !terminal {
            say(&text);
            return;
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(text);
        while wait.recv_timeout(PATIENCE / 3) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            bar.tick();
        }
        bar.finish_and_clear();
    });
    let loaded = load();
    drop(done);
    // It only tells; there is nothing to do if it could not.
    let _ = waiter.join();
    loaded
}

/// `jp-policy/compiled` in the user's cache folder.
fn cache_folder() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;

    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("jp-policy").join("compiled"))
}

/// Why a policy does not serve a batch, with the places of what it refuses.
pub(super) fn refused(
    config: &Config,
    blueprint: &dyn Blueprint,
    refusal: Refusal,
) -> anyhow::Error {
    let policy = &blueprint.identity().name;
    match refusal {
        Refusal::Settings(problems) => ConfigError(config.refused(policy, &problems)).into(),
        other => {
            anyhow::Error::from(other).context(format!("release policy \"{policy}\" can't be used"))
        }
    }
}
