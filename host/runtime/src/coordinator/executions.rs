//! Executions: runs of tools from their release until they have ended.

use std::sync::Arc;

use jp_policy_core::{
    batch::{CallId, End, ExecutionId, Instant},
    terms::ResultMode,
};
use serde_json::{Map, Value as Json};
use tokio_util::sync::CancellationToken;

use super::{
    event_loop::{Coordinator, Observer},
    line::{Deadline, Line, Reply},
    people::Prompt,
    prompts::Open,
    response::{Response, Status},
};
use crate::tools::{Gate, Invocation, Outcome, Progress, Question, Ran, Running, Stop, Tools};

/// How often a call may ask before it is taken for one that asks for ever.
pub(super) const QUESTIONS: u32 = 100;

/// An execution in flight.
pub(super) struct Active {
    pub(super) call: CallId,
    pub(super) line: Arc<Line>,
    pub(super) answers: Map<String, Json>,
    pub(super) runs: u32,
    /// It waits for the answer to a question.
    pub(super) asking: bool,
    /// Who waits for it, where a run goes on meanwhile; none: no process of it runs.
    pub(super) reply: Option<Reply>,
}

/// What is heard of an execution.
#[derive(Debug)]
pub(super) enum Heard {
    /// One run of it is over. Without what came of it: its gate was shut.
    Ran { execution: ExecutionId, ran: Option<Ran>, timed_out: bool },
    /// A run that goes on has come this far.
    Progress { execution: ExecutionId, progress: Progress },
    /// A run that goes on asks.
    Asks { execution: ExecutionId, question: Question, reply: Reply },
    /// It does not wait for the answer any more.
    Withdraws(ExecutionId),
}

/// Sends what came of a run, exactly once, whatever happens to the task that runs it: no call is lost.
struct Report {
    line: Arc<Line>,
    sent: bool,
}

impl Report {
    fn send(mut self, ran: Option<Ran>, timed_out: bool) {
        self.send_once(ran, timed_out);
    }

    fn send_once(&mut self, ran: Option<Ran>, timed_out: bool) {
        if !std::mem::replace(&mut self.sent, true) {
            let timed_out = timed_out && ran.as_ref().is_some_and(|ran| ran.stopped);
            self.line.tell(Heard::Ran { execution: self.line.execution, ran, timed_out });
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        let outcome = Outcome::error("the host failed while it ran the tool");
        self.send_once(Some(outcome.into()), false);
    }
}

/// Asks a run to stop when its time is over; and whether it was.
async fn run_until(mut run: Running<'_>, mut deadline: Deadline, stop: &Stop) -> (Ran, bool) {
    let mut timed_out = false;
    loop {
        tokio::select! {
            ran = &mut run => return (ran, timed_out),
            () = deadline.over(), if !timed_out => {
                timed_out = true;
                stop.gently.cancel();
            }
        }
    }
}

impl Coordinator {
    pub(super) fn start(&mut self, now: Instant, call: CallId, execution: ExecutionId) {
        // What is known already needs no task to find out.
        if self.gate(call).is_some_and(Gate::is_shut) {
            return self.gated(now, call, execution);
        }
        let stop = Stop { gently: CancellationToken::new(), now: self.kill.clone() };
        let line = Arc::new(Line::new(execution, self.shared.clone(), stop));
        let answers = Map::new();
        self.active
            .insert(execution, Active { call, line, answers, runs: 0, asking: false, reply: None });
        self.spawn(execution);
    }

    /// An operation was released and not run, because another one has failed.
    fn gated(&mut self, now: Instant, call: CallId, execution: ExecutionId) {
        let text =
            "not run: another operation of this call failed, and `fan_out.on_error` is \"stop\"";
        self.write(call, Status::NotRun, text);
        self.record.gate(call, execution);
        self.end(now, execution, End::Failed);
    }

    /// Runs a tool once: when it is released, and again with each answer.
    pub(super) fn spawn(&mut self, execution: ExecutionId) {
        let Some(active) = self.active.get_mut(&execution) else {
            return;
        };
        active.runs += 1;
        let runs = active.runs;
        let call = active.call;
        let request = &self.requests[call as usize];
        let line = active.line.clone();
        let invocation = Invocation {
            tool: request.name.clone(),
            arguments: request.arguments.clone().unwrap_or_default(),
            answers: active.answers.clone(),
            host: line.clone(),
        };
        let deadline = line.deadline();
        let report = Report { line: line.clone(), sent: false };
        let gate = self.gate(call).cloned();
        tokio::spawn(async move {
            let Line { shared, stop, .. } = &*line;
            let (tools, first) = (&*shared.server, runs == 1);
            match run(tools, &invocation, stop, deadline, gate.as_ref(), first).await {
                Some((ran, timed_out)) => report.send(Some(ran), timed_out),
                None => report.send(None, false),
            }
        });
    }

    pub(super) fn stop(&mut self, now: Instant, execution: ExecutionId) {
        if let Some(active) = self.active.get_mut(&execution) {
            active.line.stop.gently.cancel();
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

    pub(super) fn hear(&mut self, now: Instant, heard: Heard, observer: &mut dyn Observer) {
        match heard {
            Heard::Ran { execution, ran, timed_out } => self.ran(now, execution, ran, timed_out),
            Heard::Progress { execution, progress } => {
                self.progress(execution, &progress, observer);
            }
            Heard::Asks { execution, question, reply } => {
                self.asks(now, execution, question, reply);
            }
            Heard::Withdraws(execution) => self.withdrawn(now, execution),
        }
    }

    fn ran(&mut self, now: Instant, execution: ExecutionId, ran: Option<Ran>, timed_out: bool) {
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
        let Some(ran) = ran else {
            return self.gated(now, call, execution);
        };
        if timed_out {
            let text = format!(
                "tool `{name}` did not end within {}",
                humantime::format_duration(self.shared.timeout.unwrap_or_default())
            );
            self.responses[call as usize] = Some(Response::new(id, name, Status::Error, text));
            return self.end(now, execution, End::Failed);
        }
        if ran.stopped {
            self.write_cancelled(call);
            return self.end(now, execution, End::Stopped);
        }
        match ran.outcome {
            Outcome::NeedsInput { .. } if active.line.stop.gently.is_cancelled() => {
                self.write_cancelled(call);
                self.end(now, execution, End::Stopped);
            }
            Outcome::NeedsInput { .. } if active.runs > QUESTIONS => {
                let text = format!("tool `{name}` asked {QUESTIONS} times; it is not run again");
                self.responses[call as usize] = Some(Response::new(id, name, Status::Error, text));
                self.fail_unanswered(now, call, execution);
            }
            Outcome::NeedsInput { question } => {
                let configured = self
                    .shared
                    .server
                    .terms(name)
                    .and_then(|terms| terms.answers?.get(&question.id));
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
                let mut response = Response::from_outcome(id, name, outcome);
                response.whole = ran.whole;
                let end = if response.status == Status::Ok { End::Succeeded } else { End::Failed };
                self.responses[call as usize] = Some(response);
                self.end(now, execution, end);
            }
        }
    }

    /// A question that nobody answers is a failure that the Host finds, not who ran the tool.
    pub(super) fn fail_unanswered(&mut self, now: Instant, call: CallId, execution: ExecutionId) {
        if let Some(gate) = self.gate(call) {
            gate.shut();
        }
        self.end(now, execution, End::Failed);
    }

    pub(super) fn end(&mut self, now: Instant, execution: ExecutionId, end: End) {
        self.active.remove(&execution);
        self.scheduler.end(now, execution, end);
    }

    /// The slot is free; the result may still want a review.
    pub(super) fn review(&mut self, now: Instant, call: CallId) {
        let request = &self.requests[call as usize];
        let mode = self.shared.server.terms(&request.name).unwrap_or_default().result;
        let delivered =
            self.responses[call as usize].as_ref().filter(|response| response.status == Status::Ok);
        match (mode, delivered) {
            (ResultMode::Ask | ResultMode::Edit, Some(response)) => {
                let prompt = Prompt::Review {
                    tool: request.name.clone(),
                    id: request.id.clone(),
                    content: response.text_or_beginning().into_owned(),
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

/// Runs a tool once, and says whether its time was over; none: its gate was shut before it began. What the Host releases because
/// of a failure has to find the gate shut, so it is shut before this is ready.
async fn run(
    tools: &dyn Tools,
    invocation: &Invocation,
    stop: &Stop,
    deadline: Option<Deadline>,
    gate: Option<&Gate>,
    first: bool,
) -> Option<(Ran, bool)> {
    let begin = || tools.run(invocation, stop);
    // One that is run again with answers has begun long since.
    let run = match gate.filter(|_| first) {
        Some(gate) => gate.enter(begin)?,
        None => begin(),
    };
    let (ran, timed_out) = match deadline {
        None => (run.await, false),
        // Boxed, because it is large, and most calls may take as long as they like.
        Some(deadline) => Box::pin(run_until(run, deadline, stop)).await,
    };
    // What was stopped has not failed, unless its time was over.
    let stopped = stop.gently.is_cancelled() && !timed_out;
    if let (Some(gate), Outcome::Error { .. }, false) = (gate, &ran.outcome, stopped) {
        gate.shut();
    }
    Some((ran, timed_out))
}

#[cfg(test)]
#[path = "executions_tests.rs"]
mod tests;
