//! Prints what was built, how it did in its trial, and how it is used.

use std::{io::Write as _, sync::atomic::Ordering};

use anyhow::Result;
use jp_policy_core::{
    policy::PolicyFactory as _,
    text::{clean, clean_path},
};
use jp_policy_harness::{check::Report, suite::TestResult};
use jp_policy_report::text::duration;
use jp_policy_wasm::Component;

use super::{
    super::{check, layout::grouped, test},
    trial::Trial,
};
use crate::build::{Artifact, imports};

/// Prints what was built.
pub(super) fn artifact(artifact: &Artifact, component: Option<&Component>) -> Result<()> {
    let imports = imports(&artifact.bytes);
    let imports = if imports.is_empty() { "none".to_owned() } else { imports.join(", ") };
    let mut out = anstream::stdout().lock();
    writeln!(out, "wrote      {}", clean_path(&artifact.path))?;
    if let Some(component) = component {
        writeln!(out, "policy     {}", clean(&component.identity().name))?;
    }
    writeln!(out, "size       {} bytes", grouped(artifact.bytes.len() as u64))?;
    writeln!(out, "imports    {imports}")?;
    writeln!(out, "digest     {}", artifact.record.digest)?;
    writeln!(out, "built by   {}", clean(&artifact.record.compiler))?;
    Ok(())
}

/// Prints how it did.
pub(super) fn trial(trial: &Trial) -> Result<()> {
    failures(trial)?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "scenarios  {}", scenarios_result(trial))?;
    writeln!(out, "check      {}", check_result(trial))?;
    Ok(())
}

/// Prints the scenarios that came out otherwise, with what differs.
pub(super) fn failures(trial: &Trial) -> Result<()> {
    test::print_failures(&mut anstream::stdout().lock(), &trial.scenarios)
}

/// What came of the scenarios, in a few words.
pub(super) fn scenarios_result(trial: &Trial) -> String {
    if trial.scenarios.is_empty() {
        return "none".to_owned();
    }
    let failed = trial.scenarios.iter().filter(|tested| !TestResult::passed(tested)).count();
    format!("{} passed, {failed} failed", trial.scenarios.len() - failed)
}

/// What came of the check, in a few words; if it was refuted, by what.
pub(super) fn check_result(trial: &Trial) -> String {
    if let Some(refutation) = &trial.report.refutation {
        return format!(
            "refuted: {}\n           {}",
            clean(&refutation.violation.to_string()),
            check::story(refutation, &trial.refuted)
        );
    }
    let count = |n: usize| grouped(n as u64);
    let Report { batches, kinds, random, .. } = trial.report;
    let of = if batches == kinds { String::new() } else { format!(" of {}", count(kinds)) };
    let up = if batches == kinds { "" } else { " (then the time was up)" };
    let took = duration(u64::try_from(trial.took.as_nanos()).unwrap_or(u64::MAX));
    format!(
        "holds: {}{of} kinds of batches{up}, {} random batches, {} decisions in {took}",
        count(batches),
        count(random),
        grouped(trial.progress.decisions.load(Ordering::Relaxed)),
    )
}

/// Prints the three lines of configuration that it takes to use it.
pub(super) fn usage(artifact: &Artifact, name: &str) -> Result<()> {
    let text = |text: &str| toml::Value::from(text).to_string();
    let bare = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let key = if bare { name.to_owned() } else { text(name) };
    let mut out = anstream::stdout().lock();
    writeln!(out, "\nto use it, at the top of a configuration file that stands here:\n")?;
    writeln!(out, "conversation.release.policy = {}", text(name))?;
    writeln!(out, "plugins.wasm.{key}.path = {}", text(&artifact.path.to_string_lossy()))?;
    writeln!(out, "plugins.wasm.{key}.checksum = {}", text(&artifact.record.digest))?;
    Ok(())
}
