//! Chooses and loads the policy that decides: the one on the command line, the configured one, the embedded default.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use inquire::Confirm;
use jp_policy_config::{Config, ConfigError, Plugin, PluginRun};
use jp_policy_core::{
    policy::{PolicyFactory, Refusal},
    text::escape,
};
use jp_policy_wasm::{Budget, Component, Engine, EngineError, LoadError};

use super::{approvals::Approvals, diagnostics, say};

/// Whether compiled code is kept
#[derive(Debug, Clone, clap::Args)]
pub(super) struct CacheArgs {
    /// Compile the policy anew, and keep nothing
    #[arg(long)]
    no_cache: bool,
}

/// How to choose and load a policy
#[derive(Debug, Clone, clap::Args)]
pub(super) struct PolicyArgs {
    /// Let this component decide instead of the configured policy
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(super) cache: CacheArgs,
}

/// What takes longer than this gets a line that says what is going on.
const PATIENCE: Duration = Duration::from_millis(300);

impl CacheArgs {
    /// The engine, with compiled code in the user's cache folder where there is one.
    pub(super) fn engine(&self) -> Result<Engine> {
        self.engine_and(|error| diagnostics::warn(&error.to_string()))
    }

    /// The same; `warn` is told if nothing can be kept there, which costs time and nothing else.
    pub(super) fn engine_and(&self, warn: impl FnOnce(&EngineError)) -> Result<Engine> {
        let folder = (!self.no_cache).then(cache_folder).flatten();
        match folder.map(|folder| Engine::with_cache(&folder)) {
            Some(Ok(engine)) => return Ok(engine),
            Some(Err(error)) => warn(&error),
            None => {}
        }
        Ok(Engine::new()?)
    }
}

impl PolicyArgs {
    /// The engine, with compiled code in the user's cache folder where there is one.
    pub(super) fn engine(&self) -> Result<Engine> {
        self.cache.engine()
    }

    /// The policy for this configuration.
    pub(super) fn load(&self, engine: &Engine, config: &Config) -> Result<Component> {
        match (&self.policy, &config.release.policy) {
            (Some(path), _) => patient(&compiling(path), || {
                Ok(Component::load(engine, path, None, Budget::default())?)
            }),
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
    let component = patient(&compiling(&plugin.path), || Ok(component(engine, plugin)?))?;
    if plugin.run == PluginRun::Ask {
        approve(plugin, &key, &component)?;
    }
    Ok(component)
}

/// A plugin's component, whether it may run or not.
pub(super) fn component(engine: &Engine, plugin: &Plugin) -> Result<Component, LoadError> {
    let checksum = plugin.checksum.as_ref().map(|checksum| checksum.value.as_str());
    Component::load(engine, &plugin.path, checksum, Budget::default().with(plugin.limits))
}

/// Asks once for each path and digest.
fn approve(plugin: &Plugin, key: &str, component: &Component) -> Result<()> {
    let digest = component.identity().digest.clone().unwrap_or_default();
    let path = plugin.path.canonicalize();
    let path = path.with_context(|| format!("failed to open `{}`", plugin.path.display()))?;
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

/// What is going on while a policy is loaded: a scripting guest takes seconds to compile, once.
pub(super) fn compiling(path: &Path) -> String {
    format!("compiling policy {}", escape(&path.display().to_string()))
}

/// Says what is going on if it takes long.
pub(super) fn patient<T>(text: &str, load: impl FnOnce() -> Result<T>) -> Result<T> {
    let terminal = io::stderr().is_terminal();
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let text = text.to_owned();
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
    factory: &dyn PolicyFactory,
    refusal: Refusal,
) -> anyhow::Error {
    let policy = &factory.identity().name;
    match refusal {
        Refusal::Settings(problems) => ConfigError(config.refused(policy, &problems)).into(),
        other => {
            anyhow::Error::from(other).context(format!("release policy \"{policy}\" can't be used"))
        }
    }
}
