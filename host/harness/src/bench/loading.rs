//! What it costs to have a policy: compiling it, loading what was compiled, an instance of it.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use jp_policy_core::policy::{Arguments, PolicyFactory as _};
use jp_policy_wasm::{Component, Engine};

use super::{
    decisions::{median, waiting},
    error::BenchError,
    subject::Subject,
};
use crate::Parameters;

/// A median time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// The median.
    pub time: Duration,
    /// Of how many.
    pub samples: usize,
}

/// What it costs to have a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Loading {
    /// Bytes of the component.
    pub bytes: u64,
    /// Compiling it and asking its name, with nothing kept. None: loading it cold took so long that it was not done twice.
    pub compile: Option<Timing>,
    /// The same, and keeping the compiled code in an empty folder.
    pub cold: Timing,
    /// Loading what was kept.
    pub cached: Timing,
    /// An instance, configured. None: it refuses the settings, or fails.
    pub instance: Option<Timing>,
    /// Resident bytes of an instance that was asked once; none where the system does not say.
    pub resident: Option<u64>,
}

/// What took longer than this is not done a second time.
const LONG: Duration = Duration::from_secs(2);

/// Samples at most, each.
const SAMPLES: usize = 50;

/// Loads a component in all ways, the samples of each for `time`; `folder` is where compiled code is kept meanwhile.
pub(super) fn load(
    subject: &Subject<'_>,
    folder: &Path,
    time: Duration,
) -> Result<(Component, Loading), BenchError> {
    let from = |engine: &Engine| {
        Component::from_bytes(engine, subject.path, subject.bytes, subject.budget)
    };
    fs::create_dir_all(folder)
        .map_err(|error| BenchError::Folder { path: folder.display().to_string(), error })?;
    let keeping = Engine::with_cache(folder)?;
    let start = Instant::now();
    let component = from(&keeping)?;
    let cold = Timing { time: start.elapsed(), samples: 1 };
    let cached = sample(time, || from(&keeping).map(drop))?;
    let compile = if cold.time < LONG {
        let plain = Engine::new()?;
        Some(sample(time, || from(&plain).map(drop))?)
    } else {
        None
    };
    let loading = Loading {
        bytes: subject.bytes.len() as u64,
        compile,
        cold,
        cached,
        instance: None,
        resident: None,
    };
    Ok((component, loading))
}

/// Makes instances for `time`. None: there can be none.
pub(super) fn instances(
    component: &Component,
    parameters: &Parameters,
    [keys, limit]: [u32; 2],
    time: Duration,
) -> Option<Timing> {
    let settings = parameters.settings(&vec![limit; keys as usize]);
    sample(time, || component.instantiate(&settings, Arguments::default()).map(drop)).ok()
}

/// Resident bytes of an instance that was asked once, from several that live at the same time; `memory` is what one is known to
/// have at least.
pub(super) fn resident(
    component: &Component,
    parameters: &Parameters,
    [keys, limit]: [u32; 2],
    memory: usize,
) -> Option<u64> {
    /// Enough that what else the process does no longer matters, and little enough for any machine.
    const TOGETHER: usize = 64 << 20;
    let settings = parameters.settings(&vec![limit; keys as usize]);
    let count = (TOGETHER / memory.max(1)).clamp(1, SAMPLES);
    let batch = waiting(&settings, keys * limit);
    let mut instances = Vec::with_capacity(count);
    let before = resident_now()?;
    for _ in 0..count {
        let mut policy = component.instantiate(&settings, Arguments::default()).ok()?;
        policy.release(&batch.view(0, policy.view())).ok()?;
        instances.push(policy);
    }
    let after = resident_now()?;
    Some(after.saturating_sub(before) / count as u64)
}

/// Resident bytes of this process, where the system says.
fn resident_now() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Does something for `time`, at least once.
fn sample<E>(time: Duration, mut once: impl FnMut() -> Result<(), E>) -> Result<Timing, E> {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.is_empty() || (times.len() < SAMPLES && start.elapsed() < time) {
        let began = Instant::now();
        once()?;
        times.push(began.elapsed());
    }
    Ok(Timing { samples: times.len(), time: median(times) })
}
