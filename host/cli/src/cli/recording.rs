//! `run --record`: writes what happens into a file beside the live view.

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context as _, Result};
use jp_policy_config::Config;
use jp_policy_core::{
    batch::{CallId, Instant},
    policy::PolicyFactory,
    scheduler::Event,
};
use jp_policy_report::header;
use jp_policy_runtime::coordinator::{Observer, Recorder, Snapshot};

use super::{diagnostics, live::Live, screen::Screen};

/// A record file that is being written.
pub(super) struct Recording {
    recorder: Recorder,
    path: PathBuf,
    screen: Screen,
}

impl Recording {
    /// Begins the file. What stood there is overwritten.
    pub(super) fn start(
        path: &Path,
        policy: Option<&Path>,
        arguments: bool,
        config: &Config,
        factory: &dyn PolicyFactory,
        screen: Screen,
    ) -> Result<Self> {
        let mut header = header(config, factory.identity(), SystemTime::now(), arguments);
        let plugin = config.release.policy.as_ref().map(|plugin| plugin.path.as_path());
        header.policy.path = policy.or(plugin).map(|path| {
            std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
        });
        let recorder = File::create(path).and_then(|file| Recorder::new(file, &header));
        let recorder =
            recorder.with_context(|| format!("failed to write record `{}`", path.display()))?;
        Ok(Self { recorder, path: path.to_owned(), screen })
    }

    /// The batch is over.
    pub(super) fn finish(&mut self) {
        self.recorder.over();
        self.check();
    }

    /// The calls matter more than their record: a failure is said, once, and they go on.
    fn check(&mut self) {
        if let Some(error) = self.recorder.failure() {
            let text = format!(
                "record `{}` ends here, it can't be written any more: {error}",
                self.path.display()
            );
            self.screen.line(&diagnostics::warning(&text));
        }
    }
}

/// The live view, and the record where one is written.
pub(super) struct Watch<'a> {
    pub(super) live: Live,
    pub(super) recording: Option<&'a mut Recording>,
}

impl Observer for Watch<'_> {
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>) {
        if let Some(recording) = &mut self.recording {
            recording.recorder.event(event, snapshot);
            recording.check();
        }
        self.live.event(event, snapshot);
    }

    fn reasons(&self) -> usize {
        self.recording.as_ref().map_or(0, |recording| recording.recorder.reasons())
    }

    fn reason(&mut self, at: Instant, call: CallId, reason: &str) {
        if let Some(recording) = &mut self.recording {
            recording.recorder.reason(at, call, reason);
            recording.check();
        }
    }

    fn decided(&mut self, snapshot: &Snapshot<'_>) {
        self.live.decided(snapshot);
    }
}
