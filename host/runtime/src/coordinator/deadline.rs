//! How long a run may take. What a person takes to answer is not the run's time.

use tokio::{sync::watch, time::Instant};

/// When a run has had its time.
pub(super) struct Deadline {
    at: Instant,
    /// Since when a question is open.
    asked: Option<Instant>,
    asking: watch::Receiver<bool>,
}

impl Deadline {
    /// At this time, later by as long as `asking` says that a question is open.
    pub(super) fn new(at: Instant, asking: watch::Receiver<bool>) -> Self {
        Self { at, asked: None, asking }
    }

    /// Waits until it is over.
    pub(super) async fn over(&mut self) {
        loop {
            let changed = match self.asked {
                None => tokio::select! {
                    () = tokio::time::sleep_until(self.at) => return,
                    changed = self.asking.changed() => changed,
                },
                Some(_) => self.asking.changed().await,
            };
            if changed.is_err() {
                // Who could ask is gone.
                return tokio::time::sleep_until(self.at).await;
            }
            let asking = *self.asking.borrow_and_update();
            match (asking, self.asked) {
                (true, None) => self.asked = Some(Instant::now()),
                (false, Some(since)) => {
                    self.at += since.elapsed();
                    self.asked = None;
                }
                _ => {}
            }
        }
    }
}
