//! How tools are run: by which policy, within limits or without, how long, and where.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use jp_policy_config::Config;
use tokio::runtime::{Builder, Runtime};

use super::policy::PolicyArgs;

/// How tools are run
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ToolArgs {
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
    /// Run everything at once
    #[arg(long, conflicts_with = "policy")]
    no_limits: bool,
    /// Stop a call that runs longer than this, for instance 30s
    #[arg(long, value_name = "DURATION", value_parser = more_than_nothing)]
    pub(super) timeout: Option<Duration>,
    /// The folder that the calls run in
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    workspace: PathBuf,
}

impl ToolArgs {
    /// Takes the limits away, where nobody wants them.
    pub(super) fn lift(&self, config: &mut Config) {
        if self.no_limits {
            for tool in config.tools.values_mut() {
                tool.concurrency = None;
            }
        }
    }

    /// The folder that the calls run in, as it was given.
    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The same, absolute.
    pub(super) fn root(&self) -> Result<PathBuf> {
        let root = self.workspace.canonicalize();
        let root = root
            .with_context(|| format!("failed to open workspace `{}`", self.workspace.display()))?;
        if !root.is_dir() {
            bail!("workspace `{}` is not a folder", self.workspace.display());
        }
        Ok(root)
    }
}

/// What tools are run on, with so many threads.
pub(super) fn event_loop(threads: usize) -> Result<Runtime> {
    let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    runtime.context("failed to start the event loop")
}

/// A duration in which something can happen.
fn more_than_nothing(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => {
            Err("no call ends within no time: expected more than 0s, for instance 30s".to_owned())
        }
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}
