//! Executions: runs of tools from their release until they have ended.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use tokio::{sync::mpsc::UnboundedSender, time::Instant as Clock};

use super::{
    asking::{Line, Reply},
    event_loop::Coordinator,
    people::Prompt,
    prompts::Open,
    response::{Response, Status},
};
use crate::{
    batch::{CallId, End, ExecutionId, Instant},
    config::ResultMode,
    server::{Invocation, Outcome, Question, Ran, Stop},
};

/// How often a call may ask before it is taken for one that asks for ever.
pub(super) const QUESTIONS: u32 = 100;

/// An execution in flight.
pub(super) struct Active {
    pub(super) call: CallId,
    pub(super) stop: Stop,
    pub(super) answers: Map<String, Json>,
    pub(super) runs: u32,
    /// It waits for the answer to a question.
    pub(super) asking: bool,
    /// Who waits for it, where a run goes on meanwhile; none: no process of it runs.
    pub(super) reply: Option<Reply>,
}

/// What is heard of an execution.
#[derive(Debug)]
pub(super) enum Done {
    /// One run of it is over.
    Ran { execution: ExecutionId, ran: Ran, timed_out: bool },
    /// A run that goes on asks.
    Asks { execution: ExecutionId, question: Question, reply: Reply },
    /// It does not wait for the answer any more.
    Withdraws(ExecutionId),
}

/// Sends what came of a run, exactly once, whatever happens to the task that runs it: no call is lost.
struct Report {
    execution: ExecutionId,
    done: Option<UnboundedSender<Done>>,
}

impl Report {
    fn send(mut self, ran: Ran, timed_out: bool) {
        self.send_once(ran, timed_out);
    }

    fn send_once(&mut self, ran: Ran, timed_out: bool) {
        if let Some(done) = self.done.take() {
            let timed_out = timed_out && ran.stopped;
            // Nobody listens once the batch is over.
            let _ = done.send(Done::Ran { execution: self.execution, ran, timed_out });
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        let outcome = Outcome::error("the host failed while it ran the tool");
        self.send_once(Ran { outcome, stopped: false }, false);
    }
}

impl Coordinator {
    pub(super) fn start(&mut self, call: CallId, execution: ExecutionId) {
        let answers = Map::new();
        self.active.insert(
            execution,
            Active { call, stop: Stop::default(), answers, runs: 0, asking: false, reply: None },
        );
        self.spawn(execution);
    }

    /// Runs a tool once: when it is released, and again with each answer.
    pub(super) fn spawn(&mut self, execution: ExecutionId) {
        let Some(active) = self.active.get_mut(&execution) else {
            return;
        };
        active.runs += 1;
        let request = &self.requests[active.call as usize];
        let (line, mut deadline) = Line::new(execution, request.name.clone(), self.ran.0.clone());
        let invocation = Invocation {
            tool: request.name.clone(),
            arguments: request.arguments.clone().unwrap_or_default(),
            answers: active.answers.clone(),
            host: Arc::new(line),
        };
        let (server, stop, timeout, done) =
            (self.server.clone(), active.stop.clone(), self.timeout, self.ran.0.clone());
        let report = Report { execution, done: Some(done) };
        tokio::spawn(async move {
            let mut timed_out = false;
            let ran = {
                let run = server.run(&invocation, &stop);
                tokio::pin!(run);
                deadline.set(timeout.map(|timeout| Clock::now() + timeout));
                loop {
                    tokio::select! {
                        ran = &mut run => break ran,
                        () = deadline.over(), if !timed_out => {
                            timed_out = true;
                            stop.gently.cancel();
                        }
                    }
                }
            };
            report.send(ran, timed_out);
        });
    }

    pub(super) fn stop(&mut self, now: Instant, execution: ExecutionId) {
        if let Some(active) = self.active.get_mut(&execution) {
            active.stop.gently.cancel();
            if active.reply.take().is_some() {
                // Its run has no answer now, and ends by itself.
                active.asking = false;
                self.scheduler.set_asking(now, execution, false);
            } else if active.asking {
                // Nothing of it runs that could end by itself.
                self.end(now, execution, End::Stopped);
            }
        }
    }

    pub(super) fn done(&mut self, now: Instant, done: Done) {
        let (execution, ran, timed_out) = match done {
            Done::Ran { execution, ran, timed_out } => (execution, ran, timed_out),
            Done::Asks { execution, question, reply } => {
                return self.asks(now, execution, question, reply);
            }
            Done::Withdraws(execution) => return self.withdrawn(now, execution),
        };
        let Some(active) = self.active.get_mut(&execution) else {
            return;
        };
        let call = active.call;
        let current = self.scheduler.batch().call_of(execution) == Some(call);
        let request = &self.requests[call as usize];
        let (id, name) = (&request.id, &request.name);
        if !current {
            return self.end(now, execution, End::Stopped);
        }
        if timed_out {
            let text = format!(
                "tool `{name}` did not end within {}",
                humantime::format_duration(self.timeout.unwrap_or_default())
            );
            self.responses[call as usize] = Some(Response::new(id, name, Status::Error, text));
            return self.end(now, execution, End::Failed);
        }
        if ran.stopped {
            self.write_cancelled(call);
            return self.end(now, execution, End::Stopped);
        }
        match ran.outcome {
            Outcome::NeedsInput { .. } if active.stop.gently.is_cancelled() => {
                self.write_cancelled(call);
                self.end(now, execution, End::Stopped);
            }
            Outcome::NeedsInput { .. } if active.runs > QUESTIONS => {
                let text = format!("tool `{name}` asked {QUESTIONS} times; it is not run again");
                self.responses[call as usize] = Some(Response::new(id, name, Status::Error, text));
                self.end(now, execution, End::Failed);
            }
            Outcome::NeedsInput { question } => {
                let configured =
                    self.server.terms(name).and_then(|terms| terms.answers?.get(&question.id));
                if let Some(answer) = configured {
                    active.answers.insert(question.id, answer.clone());
                    return self.spawn(execution);
                }
                active.asking = true;
                self.scheduler.set_asking(now, execution, true);
                let prompt = Prompt::Question { tool: name.clone(), id: id.clone(), question };
                self.prompts.push_back(Open { call, execution: Some(execution), prompt });
            }
            outcome => {
                let response = Response::from_outcome(id, name, outcome);
                let end = if response.status == Status::Ok { End::Succeeded } else { End::Failed };
                self.responses[call as usize] = Some(response);
                self.end(now, execution, end);
            }
        }
    }

    pub(super) fn end(&mut self, now: Instant, execution: ExecutionId, end: End) {
        self.active.remove(&execution);
        self.scheduler.end(now, execution, end);
    }

    /// The slot is free; the result may still want a review.
    pub(super) fn review(&mut self, now: Instant, call: CallId) {
        let request = &self.requests[call as usize];
        let mode = self.server.terms(&request.name).unwrap_or_default().result;
        let delivered =
            self.responses[call as usize].as_ref().filter(|response| response.status == Status::Ok);
        match (mode, delivered) {
            (ResultMode::Ask | ResultMode::Edit, Some(response)) => {
                let prompt = Prompt::Review {
                    tool: request.name.clone(),
                    content: response.content.clone(),
                    edit: mode == ResultMode::Edit,
                };
                self.prompts.push_back(Open { call, execution: None, prompt });
            }
            (ResultMode::Skip, Some(_)) => {
                self.withhold(call);
                self.scheduler.respond(now, call);
            }
            _ => {
                if self.responses[call as usize].is_none() {
                    self.write_cancelled(call);
                }
                self.scheduler.respond(now, call);
            }
        }
    }
}
