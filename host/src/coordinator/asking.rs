//! Runs that ask while they go on: the question reaches the loop by a channel, and the answer goes back to the same run.

use std::time::Duration;

use serde_json::Value as Json;
use tokio::{
    sync::{mpsc::UnboundedSender, oneshot, watch},
    time::Instant as Clock,
};

use super::{
    event_loop::{Coordinator, Observer},
    executions::{Heard, QUESTIONS},
    people::Prompt,
    prompts::Open,
};
use crate::{
    batch::{ExecutionId, Instant},
    server::{Answering, Host, Progress, Question},
};

/// Takes the answer of a run that goes on; none: there is none.
pub(super) type Reply = oneshot::Sender<Option<Json>>;

/// The Host, as one execution sees it.
#[derive(Debug)]
pub(super) struct Line {
    execution: ExecutionId,
    to: UnboundedSender<Heard>,
    /// Told whether a question is open, where that stops a clock.
    asking: Option<watch::Sender<bool>>,
}

impl Line {
    /// A line to the loop, and when the run has had its time, which begins now.
    pub(super) fn new(
        execution: ExecutionId,
        to: UnboundedSender<Heard>,
        timeout: Option<Duration>,
    ) -> (Self, Option<Deadline>) {
        let Some(timeout) = timeout else {
            return (Self { execution, to, asking: None }, None);
        };
        let (asking, is_asking) = watch::channel(false);
        let deadline = Deadline::new(Clock::now() + timeout, is_asking);
        (Self { execution, to, asking: Some(asking) }, Some(deadline))
    }

    fn set_asking(&self, is_asking: bool) {
        if let Some(asking) = &self.asking {
            asking.send_replace(is_asking);
        }
    }
}

impl Host for Line {
    fn progress(&self, progress: Progress) {
        // Nobody listens once the batch is over.
        let _ = self.to.send(Heard::Progress { execution: self.execution, progress });
    }

    fn ask(&self, question: Question) -> Answering<'_> {
        let (reply, answer) = oneshot::channel();
        // Nobody listens once the batch is over, and then the reply is dropped, which is an answer.
        let _ = self.to.send(Heard::Asks { execution: self.execution, question, reply });
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
        let _ = self.line.to.send(Heard::Withdraws(self.line.execution));
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

impl Coordinator {
    /// A run that goes on has come this far.
    pub(super) fn progress(
        &self,
        execution: ExecutionId,
        progress: &Progress,
        observer: &mut dyn Observer,
    ) {
        let Some(active) = self.active.get(&execution) else {
            return;
        };
        let tool = &self.requests[active.call as usize].name;
        let Progress { done, total, message } = progress;
        // A field `message` would be the event's own.
        tracing::debug!(target: "progress", ?execution, %tool, done, ?total, says = ?message);
        if self.scheduler.batch().call_of(execution) == Some(active.call) {
            observer.progress(active.call, progress, &self.snapshot());
        }
    }

    /// A run that goes on asks. A reply that is dropped is no answer.
    pub(super) fn asks(
        &mut self,
        now: Instant,
        execution: ExecutionId,
        question: Question,
        reply: Reply,
    ) {
        let Some(active) = self.active.get_mut(&execution) else {
            return;
        };
        let call = active.call;
        let current = self.scheduler.batch().call_of(execution) == Some(call);
        active.runs += 1;
        if !current || active.stop.gently.is_cancelled() || active.runs > QUESTIONS {
            return;
        }
        let request = &self.requests[call as usize];
        let terms = self.server.terms(&request.name);
        if let Some(answer) = terms.and_then(|terms| terms.answers?.get(&question.id)) {
            // A run that has withdrawn its question does not need it.
            let _ = reply.send(Some(answer.clone()));
            return;
        }
        active.reply = Some(reply);
        active.asking = true;
        self.scheduler.set_asking(now, execution, true);
        let (tool, id) = (request.name.clone(), request.id.clone());
        let prompt = Prompt::Question { tool, id, question };
        self.prompts.push_back(Open { call, execution: Some(execution), prompt });
    }

    /// Nobody waits for the answer to what a run has asked any more.
    pub(super) fn withdrawn(&mut self, now: Instant, execution: ExecutionId) {
        if let Some(active) = self.active.get_mut(&execution)
            && active.reply.as_ref().is_some_and(oneshot::Sender::is_closed)
        {
            active.reply = None;
            active.asking = false;
            self.scheduler.set_asking(now, execution, false);
        }
    }
}
