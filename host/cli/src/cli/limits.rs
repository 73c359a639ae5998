//! What the event loop needs of the system before it starts.

use anyhow::{Result, bail};

/// Files that the program has open by itself (its streams, the guard's pipe, the event loop), and a call or two.
#[cfg(unix)]
const OPEN_FILES: u64 = 32;

/// Whether enough files may be open. With too few, starting the event loop would panic.
#[cfg(unix)]
pub(super) fn enough_open_files() -> Result<()> {
    use rustix::process::{Resource, getrlimit};

    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < OPEN_FILES => bail!(
            "only {limit} files may be open at once, and {OPEN_FILES} are needed: raise the limit with `ulimit -n {OPEN_FILES}`"
        ),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn enough_open_files() -> Result<()> {
    Ok(())
}
