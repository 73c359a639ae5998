//! Runs that ask while they go on: the question reaches the loop by a channel, and the answer goes back to the same run.

use serde_json::Value as Json;
use tokio::{
    sync::{mpsc::UnboundedSender, oneshot, watch},
    time::Instant as Clock,
};

use super::{
    event_loop::Coordinator,
    executions::{Done, QUESTIONS},
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
    tool: String,
    to: UnboundedSender<Done>,
    asking: watch::Sender<bool>,
}

impl Line {
    /// A line to the loop, and whether a question is open on it.
    pub(super) fn new(
        execution: ExecutionId,
        tool: String,
        to: UnboundedSender<Done>,
    ) -> (Self, Deadline) {
        let (asking, is_asking) = watch::channel(false);
        let deadline = Deadline { at: None, asked: None, asking: is_asking };
        (Self { execution, tool, to, asking }, deadline)
    }
}

impl Host for Line {
    fn progress(&self, progress: Progress) {
        let Progress { done, total, message } = progress;
        let (execution, tool) = (self.execution, &self.tool);
        // A field `message` would be the event's own.
        tracing::debug!(target: "progress", ?execution, %tool, done, ?total, says = ?message);
    }

    fn ask(&self, question: Question) -> Answering<'_> {
        let (reply, answer) = oneshot::channel();
        // Nobody listens once the batch is over, and then the reply is dropped, which is an answer.
        let _ = self.to.send(Done::Asks { execution: self.execution, question, reply });
        self.asking.send_replace(true);
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
        self.line.asking.send_replace(false);
        let _ = self.line.to.send(Done::Withdraws(self.line.execution));
    }
}

/// When a run has had its time. What a person takes to answer is not the run's time.
pub(super) struct Deadline {
    at: Option<Clock>,
    asked: Option<Clock>,
    asking: watch::Receiver<bool>,
}

impl Deadline {
    pub(super) fn set(&mut self, at: Option<Clock>) {
        self.at = at;
    }

    /// Waits until it is over; for ever, where there is no deadline.
    pub(super) async fn over(&mut self) {
        loop {
            match (self.at, self.asked) {
                (Some(at), None) => tokio::select! {
                    () = tokio::time::sleep_until(at) => return,
                    changed = self.asking.changed() => self.changed(changed.is_ok()),
                },
                (Some(_), Some(_)) => {
                    let changed = self.asking.changed().await;
                    self.changed(changed.is_ok());
                }
                (None, _) => std::future::pending().await,
            }
        }
    }

    fn changed(&mut self, open: bool) {
        let asking = open && *self.asking.borrow_and_update();
        match (asking, self.asked) {
            (true, None) => self.asked = Some(Clock::now()),
            (false, Some(since)) => {
                self.at = self.at.map(|at| at + since.elapsed());
                self.asked = None;
            }
            _ => {}
        }
    }
}

impl Coordinator {
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
