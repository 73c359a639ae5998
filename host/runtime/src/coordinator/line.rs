//! What an execution and the loop have between them: it tells, asks and ends, and the loop asks it to stop.

use std::{fmt, sync::Arc, time::Duration};

use jp_policy_core::batch::ExecutionId;
use serde_json::Value as Json;
use tokio::{
    sync::{mpsc::UnboundedSender, oneshot, watch},
    time::Instant as Clock,
};

use super::executions::Heard;
use crate::tools::{Answering, Host, Progress, Question, Stop, Tools};

/// Takes the answer of a run that goes on; none: there is none.
pub(super) type Reply = oneshot::Sender<Option<Json>>;

/// What all executions of a batch share. It is one thing, because threads that count who holds a thing get into each other's way.
pub(super) struct Shared {
    pub(super) server: Arc<dyn Tools>,
    pub(super) to: UnboundedSender<Heard>,
    /// How long one run may take.
    pub(super) timeout: Option<Duration>,
}

/// What one execution and the loop have between them: it tells the loop, and the loop asks it to stop.
pub(super) struct Line {
    pub(super) execution: ExecutionId,
    pub(super) shared: Arc<Shared>,
    pub(super) stop: Stop,
    /// Told whether a question is open, where that stops a clock.
    asking: Option<watch::Sender<bool>>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("execution", &self.execution).finish_non_exhaustive()
    }
}

impl Line {
    pub(super) fn new(execution: ExecutionId, shared: Arc<Shared>, stop: Stop) -> Self {
        let asking = shared.timeout.map(|_| watch::Sender::new(false));
        Self { execution, shared, stop, asking }
    }

    /// When a run that begins now has had its time.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let (timeout, asking) = (self.shared.timeout?, self.asking.as_ref()?);
        Some(Deadline::new(Clock::now() + timeout, asking.subscribe()))
    }

    pub(super) fn tell(&self, heard: Heard) {
        // Nobody listens once the batch is over.
        let _ = self.shared.to.send(heard);
    }

    fn set_asking(&self, is_asking: bool) {
        if let Some(asking) = &self.asking {
            asking.send_replace(is_asking);
        }
    }
}

impl Host for Line {
    fn progress(&self, progress: Progress) {
        self.tell(Heard::Progress { execution: self.execution, progress });
    }

    fn ask(&self, question: Question) -> Answering<'_> {
        let (reply, answer) = oneshot::channel();
        // If nobody listens, the reply is dropped, which is an answer.
        self.tell(Heard::Asks { execution: self.execution, question, reply });
        self.set_asking(true);
        let open = OpenQuestion { line: self };
        Box::pin(async move {
            let answer = answer.await.ok().flatten();
            drop(open);
            answer
        })
    }
}

/// A question that is withdrawn when this is dropped before there is an answer. Afterwards that does nothing.
struct OpenQuestion<'a> {
    line: &'a Line,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.line.set_asking(false);
        self.line.tell(Heard::Withdraws(self.line.execution));
    }
}

/// When a run has had its time. What a person takes to answer is not the run's time.
pub(super) struct Deadline {
    at: Clock,
    /// Since when a question is open.
    asked: Option<Clock>,
    asking: watch::Receiver<bool>,
}

impl Deadline {
    pub(super) fn new(at: Clock, asking: watch::Receiver<bool>) -> Self {
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
                (true, None) => self.asked = Some(Clock::now()),
                (false, Some(since)) => {
                    self.at += since.elapsed();
                    self.asked = None;
                }
                _ => {}
            }
        }
    }
}
