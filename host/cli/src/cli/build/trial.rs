//! What a policy goes through once it is built: the contract, its scenarios, and the quick check.

use std::{
    ops::ControlFlow,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use jp_policy_core::text::clean_path;
use jp_policy_harness::{
    Parameters,
    check::{CheckProgress, Plan, Report},
    suite::{self, TestResult},
};
use jp_policy_wasm::{Budget, Component, Engine};

use super::super::{check, policy};
use crate::build::{
    Artifact, Project,
    layout::{REFUTED, SCENARIOS},
};

/// How long the search may take. Decisions of interpreted policies are slow, and whoever writes one waits for it.
const CHECK_TIME: Duration = Duration::from_secs(15);

/// How a policy did.
pub(super) struct Trial {
    /// Its scenarios; empty if the folder has none.
    pub(super) scenarios: Vec<TestResult>,
    pub(super) report: Report,
    pub(super) progress: Arc<CheckProgress>,
    /// How long the check took.
    pub(super) took: Duration,
    /// The file of the batch that refutes it, written if one does.
    pub(super) refuted: PathBuf,
}

impl Trial {
    pub(super) fn passed(&self) -> bool {
        self.report.refutation.is_none() && self.scenarios.iter().all(TestResult::passed)
    }
}

/// Compiles the component; fails if the host does not take it.
pub(super) fn load(engine: &Engine, artifact: &Artifact) -> Result<Component> {
    let name = clean_path(artifact.file_name());
    policy::patient(&policy::compiling(&artifact.path), || {
        Ok(Component::from_bytes(engine, &name, &artifact.bytes, Budget::default())?)
    })
}

/// Runs the policy's scenarios and the quick check. A batch that refutes it is written into the policy's folder.
pub(super) fn run(
    project: &Project,
    artifact: &Artifact,
    component: &Component,
    parameters: &Parameters,
) -> Result<Trial> {
    let folder = project.folder.join(SCENARIOS);
    let files = if folder.is_dir() { suite::find(&[folder])? } else { Vec::new() };
    let scenarios =
        suite::judge_all(&suite::load(&files), |_, _| Ok(component), |_| ControlFlow::Continue(()));
    let path = artifact.path.canonicalize().unwrap_or_else(|_| artifact.path.clone());
    let plan = Plan { parameters: parameters.clone(), path: Some(path), ..Plan::quick() };
    let progress = Arc::new(CheckProgress::default());
    let start = Instant::now();
    let report = check::watched(component, &plan, &progress, CHECK_TIME)
        .context("failed to check it (--fields and --options give it what it takes)")?;
    let took = start.elapsed();
    let refuted = project.folder.join(REFUTED);
    if let Some(refutation) = &report.refutation {
        std::fs::write(&refuted, refutation.scenario.to_toml()?)
            .with_context(|| format!("failed to write `{}`", refuted.display()))?;
    }
    Ok(Trial { scenarios, report, progress, took, refuted })
}
