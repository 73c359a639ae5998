//! The command line of `build`, and a build that is not watched.

use std::{io::Write as _, path::PathBuf};

use anyhow::Result;
use jp_policy_core::{
    policy::PolicyFactory as _,
    text::{clean, clean_path},
};
use jp_policy_wasm::Engine;

use super::{
    super::{Exit, policy::CacheArgs, policy_settings::PolicySettings, say},
    print, trial, watch,
};
use crate::build::{Artifact, Comparison, Options, Project, build};

/// Build a policy into a component, and try it out
///
/// Finds the tools of the policy's language, which is known by the folder's file: Cargo.toml (rustup's target, else Debian's
/// packages), policy.js (componentize-qjs), policy.py (componentize-py) or policy.c (zig, else a clang with wasi-libc). What is
/// missing is named, with the command that installs it. The component is written as NAME.wasm into the folder, or beside it if it
/// is a member of a workspace, with a record of what it was built with. Then it is held against the contract, lives through the
/// folder's scenarios, and is checked as by `jp-policy check --quick`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy build my-policy
  jp-policy build my-policy --watch --options 'patience = \"2s\"'
  jp-policy build policies/default --check

Exit codes: 0 built and found well (with --check: comes from its source), 1 a scenario or the check failed (with --check: does \
not come from its source), 2 can't be built, 130 interrupted.")]
pub(in crate::cli) struct Args {
    /// The folders of the policies
    #[arg(value_name = "DIR", default_value = ".")]
    folders: Vec<PathBuf>,
    /// Write nothing; fail if the component that is there does not come from its source
    #[arg(long, conflicts_with_all = ["watch", "no_test"])]
    check: bool,
    /// Build and try it out again whenever a file of the source changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Build only: not held against the contract, no scenarios, no check
    #[arg(long)]
    no_test: bool,
    /// Write the component into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    settings: PolicySettings,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(in crate::cli) fn run(args: &Args) -> Result<Exit> {
    let extras = args.settings.read()?;
    let projects = args.folders.iter().map(|folder| Project::open(folder));
    let projects = projects.collect::<Result<Vec<_>, _>>()?;
    let engine = args.cache.engine()?;
    let options = Options { out: args.out.clone(), quiet: args.watch };
    let extras = (!args.no_test).then_some(&extras);
    if args.watch {
        return watch::run(&engine, &projects, &options, extras);
    }
    let mut exit = Exit::Fine;
    let artifacts = build(&projects, &options)?;
    for (n, (project, artifact)) in projects.iter().zip(&artifacts).enumerate() {
        if args.check {
            if !compare(&engine, artifact)? {
                exit = Exit::Failed;
            }
            continue;
        }
        if n > 0 {
            writeln!(anstream::stdout().lock())?;
        }
        let Some(extras) = extras else {
            // The component is not compiled: that takes long for one with an interpreter in it.
            artifact.write()?;
            print::artifact(artifact, None)?;
            print::usage(artifact, &project.name)?;
            continue;
        };
        let component = trial::load(&engine, artifact)?;
        artifact.write()?;
        print::artifact(artifact, Some(&component))?;
        let trial = trial::run(project, artifact, &component, extras)?;
        print::trial(&trial)?;
        if trial.passed() {
            print::usage(artifact, &component.identity().name)?;
        } else {
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

/// Whether the component that was built earlier comes from its source, as far as that can be told.
fn compare(engine: &Engine, artifact: &Artifact) -> Result<bool> {
    let shown = clean_path(artifact.file_name());
    trial::load(engine, artifact)?;
    let mut out = anstream::stdout().lock();
    match artifact.compare()? {
        Comparison::Same => writeln!(out, "{shown}: comes from its source, byte for byte")?,
        Comparison::OtherTools(record) => writeln!(
            out,
            "{shown}: its source builds; not compared, because it was built with {} and {}, and here are {} and {}",
            clean(&record.compiler),
            clean(&record.encoder),
            artifact.record.compiler,
            artifact.record.encoder
        )?,
        Comparison::NotReproducible => writeln!(
            out,
            "{shown}: its source builds; not compared, because {} makes other bytes each time",
            artifact.record.compiler
        )?,
        Comparison::Different(why) => {
            say(&format!(
                "{shown}: does not come from its source: {why}; build it again and commit it"
            ));
            return Ok(false);
        }
    }
    Ok(true)
}
