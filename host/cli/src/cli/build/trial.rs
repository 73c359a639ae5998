//! What a policy goes through once it is built: the contract, its scenarios, and the quick check.

use std::{
    ops::ControlFlow,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use jp_policy_harness::{
    Parameters,
    check::{CheckProgress, Plan, Report},
    suite::{self, TestResult},
};
use jp_policy_wasm::{Budget, Component, Engine};

use super::{
    super::{check, policy},
    report,
};
use crate::build::{Built, Project};

/// When the search ends. A minute would be over what it takes to write a policy in an interpreted language, where decisions are slow.
const TIME: Duration = Duration::from_secs(15);

/// What came of it.
pub(super) struct Trial {
    /// Its scenarios; none if the folder has none.
    pub(super) scenarios: Vec<TestResult>,
    pub(super) report: Report,
    pub(super) progress: Arc<CheckProgress>,
    pub(super) took: Duration,
    /// Where the batch stands that refutes it, if one does.
    pub(super) refuted: PathBuf,
}

impl Trial {
    pub(super) fn passed(&self) -> bool {
        self.report.refutation.is_none() && self.scenarios.iter().all(TestResult::passed)
    }
}

/// The component, if the host takes it.
pub(super) fn load(engine: &Engine, built: &Built) -> Result<Component> {
    let shown = report::file_name(built);
    policy::patient(&policy::compiling(&built.path), || {
        Ok(Component::from_bytes(engine, &shown, &built.bytes, Budget::default())?)
    })
}

/// Tries it out. A batch that refutes it is written into the policy's folder.
pub(super) fn run(
    project: &Project,
    built: &Built,
    component: &Component,
    parameters: &Parameters,
) -> Result<Trial> {
    let folder = project.folder.join("scenarios");
    let files = if folder.is_dir() { suite::find(&[folder])? } else { Vec::new() };
    let scenarios =
        suite::judge_all(&suite::load(&files), |_, _| Ok(component), |_| ControlFlow::Continue(()));
    let path = built.path.canonicalize().unwrap_or_else(|_| built.path.clone());
    let plan = Plan { parameters: parameters.clone(), path: Some(path), ..Plan::quick() };
    let progress = Arc::new(CheckProgress::default());
    let start = Instant::now();
    let report = check::watched(component, &plan, &progress, TIME)
        .context("failed to check it (--fields and --options give it what it takes)")?;
    let took = start.elapsed();
    let refuted = project.folder.join(report::REFUTED);
    if let Some(refutation) = &report.refutation {
        std::fs::write(&refuted, refutation.scenario.to_toml()?)
            .with_context(|| format!("failed to write `{}`", refuted.display()))?;
    }
    Ok(Trial { scenarios, report, progress, took, refuted })
}
