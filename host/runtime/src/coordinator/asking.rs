//! Runs that ask while they go on: the question reaches the loop by their line, and the answer goes back to the same run.

use jp_policy_core::batch::{ExecutionId, Instant};
use tokio::sync::oneshot;

use super::{
    event_loop::{Coordinator, Observer},
    executions::QUESTIONS,
    line::Reply,
    people::Prompt,
    prompts::Open,
};
use crate::tools::{Progress, Question};

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
        if !current || active.line.stop.gently.is_cancelled() || active.runs > QUESTIONS {
            return;
        }
        let request = &self.requests[call as usize];
        let terms = self.shared.server.terms(&request.name);
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
