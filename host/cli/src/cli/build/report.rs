//! What is said of a policy that was built, of how it did, and of how it is used.

use std::{io::Write as _, path::Path, sync::atomic::Ordering};

use anyhow::Result;
use jp_policy_core::{
    policy::Blueprint as _,
    text::{clean, clean_path},
};
use jp_policy_harness::{check::Report, suite::TestResult};
use jp_policy_report::text::duration;
use jp_policy_wasm::Component;

use super::{
    super::{check, layout::grouped, test},
    trial::Trial,
};
use crate::build::{Built, imports};

/// The file, in the policy's folder, of a batch that refutes it.
pub(super) const REFUTED: &str = "refuted.toml";

/// The component's name as a file.
pub(super) fn file_name(built: &Built) -> String {
    clean_path(Path::new(built.path.file_name().unwrap_or_default()))
}

/// What it is.
pub(super) fn print_built(built: &Built, component: Option<&Component>) -> Result<()> {
    let imports = imports(&built.bytes);
    let imports = if imports.is_empty() { "none".to_owned() } else { imports.join(", ") };
    let mut out = anstream::stdout().lock();
    writeln!(out, "wrote      {}", clean_path(&built.path))?;
    if let Some(component) = component {
        writeln!(out, "policy     {}", clean(&component.identity().name))?;
    }
    writeln!(out, "size       {} bytes", grouped(built.bytes.len() as u64))?;
    writeln!(out, "imports    {imports}")?;
    writeln!(out, "digest     {}", built.record.digest)?;
    writeln!(out, "built by   {}", clean(&built.record.compiler))?;
    Ok(())
}

/// How it did.
pub(super) fn print_trial(trial: &Trial) -> Result<()> {
    print_failures(trial)?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "scenarios  {}", scenarios(trial))?;
    writeln!(out, "check      {}", checked(trial))?;
    Ok(())
}

/// Scenarios that came out otherwise, with what differs.
pub(super) fn print_failures(trial: &Trial) -> Result<()> {
    test::print_failures(&mut anstream::stdout().lock(), &trial.scenarios)
}

/// What came of the scenarios, in a few words.
pub(super) fn scenarios(trial: &Trial) -> String {
    if trial.scenarios.is_empty() {
        return "none".to_owned();
    }
    let failed = trial.scenarios.iter().filter(|tested| !TestResult::passed(tested)).count();
    format!("{} passed, {failed} failed", trial.scenarios.len() - failed)
}

/// What came of the check, in a few words; if it was refuted, by what.
pub(super) fn checked(trial: &Trial) -> String {
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

/// The three lines of configuration that it takes to use it.
pub(super) fn print_use(built: &Built, name: &str) -> Result<()> {
    let text = |text: &str| toml::Value::from(text).to_string();
    let bare = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let key = if bare { name.to_owned() } else { text(name) };
    let mut out = anstream::stdout().lock();
    writeln!(out, "\nto use it, at the top of a configuration file that stands here:\n")?;
    writeln!(out, "conversation.release.policy = {}", text(name))?;
    writeln!(out, "plugins.wasm.{key}.path = {}", text(&built.path.to_string_lossy()))?;
    writeln!(out, "plugins.wasm.{key}.checksum = {}", text(&built.record.digest))?;
    Ok(())
}
