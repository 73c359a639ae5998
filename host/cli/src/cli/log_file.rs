//! `--log-file`: what the library and the policies say along the way, as lines in a file.

use std::{fs::File, path::Path, sync::Mutex};

use anyhow::{Context as _, Result, bail};
use tracing::level_filters::LevelFilter;

/// Writes everything that is told from now on to the end of this file, whoever tells it.
pub(super) fn start(path: &Path) -> Result<()> {
    let failed = || format!("failed to write to `{}`", path.display());
    let file = File::options().create(true).append(true).open(path).with_context(failed)?;
    let subscriber = tracing_subscriber::fmt()
        .with_writer(Mutex::new(file))
        .with_ansi(false)
        .with_max_level(LevelFilter::DEBUG)
        .finish();
    if tracing::subscriber::set_global_default(subscriber).is_err() {
        bail!("the log goes to another file already");
    }
    Ok(())
}
