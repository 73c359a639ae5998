//! `build --watch`: builds a policy and tries it out again whenever its source has changed.
//!
//! The file system says that something happened, and what the files hold decides whether it matters: a file that was only touched,
//! or that the build itself has written, starts nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use jp_policy_core::text::clean_path;
use jp_policy_harness::Parameters;
use jp_policy_report::text::duration;
use jp_policy_wasm::{Engine, digest};
use notify::{RecursiveMode, Watcher};

use super::{
    super::{Exit, diagnostics, interrupt, say},
    print, trial,
};
use crate::build::{
    Artifact, Options, Project, build,
    layout::{may_hold_source, output_files},
};

/// How long no event may come until a change is over: an editor saves in several steps, and a checkout writes many files.
const SETTLE_TIME: Duration = Duration::from_millis(100);

/// Builds and tries out, until the program is interrupted.
pub(super) fn run(
    engine: &Engine,
    projects: &[Project],
    options: &Options,
    parameters: Option<&Parameters>,
) -> Result<Exit> {
    // Nothing is lost by ending at once: a file is written whole or in the next round.
    interrupt::listen(|| std::process::exit(interrupt::INTERRUPTED), || {});
    let (sender, events) = channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // The watch itself reads the files.
        if event.is_ok_and(|event| event.kind.is_access()) {
            return;
        }
        // Nobody listens any more once the program ends.
        let _ = sender.send(());
    });
    let mut watcher = watcher.context("failed to watch files")?;
    let outputs: BTreeSet<String> =
        projects.iter().flat_map(|project| output_files(&project.name)).collect();
    let mut folders: BTreeSet<PathBuf> =
        projects.iter().map(|project| project.folder.clone()).collect();
    let mut known = BTreeSet::new();
    loop {
        let mut seen = Source::read(&folders, &outputs);
        let start = Instant::now();
        match build(projects, options) {
            Ok(artifacts) => {
                folders.extend(artifacts.iter().flat_map(|it| it.sources.iter().cloned()));
                for (project, artifact) in projects.iter().zip(&artifacts) {
                    if let Err(error) = round(engine, project, artifact, parameters, start) {
                        diagnostics::print_error(&error);
                    }
                }
            }
            Err(error) => diagnostics::print_error(&error.into()),
        }
        seen.adopt(Source::read(&folders, &outputs));
        say("waiting for a change (Ctrl-C to end)");
        wait(&mut watcher, &mut known, &events, || Source::read(&folders, &outputs), &seen)?;
    }
}

/// Writes and tries out one policy, and prints a line of it, with what failed before that.
fn round(
    engine: &Engine,
    project: &Project,
    artifact: &Artifact,
    parameters: Option<&Parameters>,
    start: Instant,
) -> Result<()> {
    let component = parameters.map(|_| trial::load(engine, artifact)).transpose()?;
    artifact.write()?;
    let mut line = format!("built {}, {} bytes", clean_path(&artifact.path), artifact.bytes.len());
    if let (Some(parameters), Some(component)) = (parameters, &component) {
        let trial = trial::run(project, artifact, component, parameters)?;
        print::failures(&trial)?;
        line += &format!("; scenarios: {}", print::scenarios_result(&trial));
        line += match &trial.report.refutation {
            Some(_) => "; check: ",
            None => "; check: holds",
        };
        if trial.report.refutation.is_some() {
            line += &print::check_result(&trial);
        }
    }
    let took = duration(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    Ok(writeln!(anstream::stdout().lock(), "{line} ({took})")?)
}

/// Waits until the source differs from `seen`.
fn wait(
    watcher: &mut impl Watcher,
    known: &mut BTreeSet<PathBuf>,
    events: &Receiver<()>,
    read: impl Fn() -> Source,
    seen: &Source,
) -> Result<()> {
    loop {
        // Folders are watched one by one: a whole tree would take in what is ignored, and that can be large.
        let now = read();
        for folder in now.folders.difference(known).cloned().collect::<Vec<_>>() {
            watcher
                .watch(&folder, RecursiveMode::NonRecursive)
                .with_context(|| format!("failed to watch `{}`", folder.display()))?;
            known.insert(folder);
        }
        known.retain(|folder| now.folders.contains(folder));
        // Read after it is watched, so that nothing falls in between.
        if read().files != seen.files {
            return Ok(());
        }
        events.recv().context("failed to watch files: nothing watches them any more")?;
        while events.recv_timeout(SETTLE_TIME).is_ok() {}
    }
}

/// The source at one moment.
struct Source {
    /// The folders that were given.
    roots: Vec<PathBuf>,
    /// Those, and all folders in them that may hold source.
    folders: BTreeSet<PathBuf>,
    /// Digests of the files' contents.
    files: BTreeMap<PathBuf, String>,
}

impl Source {
    fn read(folders: &BTreeSet<PathBuf>, outputs: &BTreeSet<String>) -> Self {
        // One folder may be in another, under another name.
        let real = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let roots: Vec<PathBuf> = folders.iter().map(real).collect();
        let mut source =
            Self { roots: roots.clone(), folders: BTreeSet::new(), files: BTreeMap::new() };
        for root in roots {
            source.add(&root, outputs);
        }
        source
    }

    fn add(&mut self, folder: &Path, outputs: &BTreeSet<String>) {
        // What can't be read is not there, or is gone by now; the build says so if it matters.
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        if !self.folders.insert(folder.to_owned()) {
            return;
        }
        for entry in entries.filter_map(Result::ok) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if may_hold_source(&name) {
                    self.add(&path, outputs);
                }
            } else if !outputs.contains(&name)
                && let Ok(bytes) = fs::read(&path)
            {
                self.files.insert(path, digest(&bytes));
            }
        }
    }

    /// Takes over files that the build itself writes into the source, and the folders that the source was found to be in.
    fn adopt(&mut self, after: Self) {
        let below = |path: &Path| self.roots.iter().any(|root| path.starts_with(root));
        let adopted = after.files.into_iter().filter(|(path, _)| {
            path.file_name().is_some_and(|name| name == "Cargo.lock") || !below(path)
        });
        let adopted: Vec<_> = adopted.collect();
        self.files.extend(adopted);
    }
}
