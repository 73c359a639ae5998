//! How calls run and end: every way an execution can end comes by here.

use serde_json::Value as Json;

use super::{
    executions::{Asking, Execution},
    io::{Action, Run},
    prompts::{Subject, Turn},
    state::State,
};
use crate::{
    batch::{CallId, End, ExecutionId, Instant},
    gate::Gate,
    outcome::{Outcome, Question},
    prompt::Prompt,
    request::Request,
    response::{Response, Status},
    run_end::RunEnd,
    terms::ResultMode,
};

/// How often a call may ask before it is taken for one that asks for ever.
pub(super) const MAX_QUESTIONS: u32 = 100;

impl State {
    pub(super) fn start(&mut self, now: Instant, call: CallId, execution: ExecutionId) {
        if let Some(slot) = self.calls.get_mut(call) {
            slot.released = true;
        }
        self.executions.insert(execution, Execution::new(call));
        // What is known already needs no run to find out.
        if self.calls.gate(call).is_some_and(Gate::is_shut) {
            return self.gated(now, call, execution);
        }
        self.run(execution);
    }

    /// Runs a tool once: when it is released, and again with each answer.
    pub(super) fn run(&mut self, execution: ExecutionId) {
        let Some(known) = self.executions.get_mut(&execution) else {
            return;
        };
        known.turns += 1;
        let call = known.call;
        let Some(request) = self.calls.request(call) else {
            return;
        };
        let run = Run {
            execution,
            call,
            tool: request.name.clone(),
            arguments: request.arguments.clone().unwrap_or_default(),
            answers: known.answers.clone(),
            gate: self.calls.gate(call).cloned(),
            first: known.turns == 1,
        };
        self.act(Action::Run(Box::new(run)));
    }

    /// An operation was released and not run, because another one has failed or was cancelled.
    fn gated(&mut self, now: Instant, call: CallId, execution: ExecutionId) {
        let other = self.calls.why_gated(call);
        let text = format!(
            "not run: another operation of this call {other}, and `fan_out.on_error` is \"stop\""
        );
        self.calls.respond(call, Status::NotRun, text);
        if let Some(slot) = self.calls.get_mut(call) {
            slot.gated = true;
        }
        self.end(now, execution, End::Gated);
    }

    /// A run is over.
    pub(super) fn ran(&mut self, now: Instant, execution: ExecutionId, end: RunEnd) {
        let Some(known) = self.executions.get_mut(&execution) else {
            // Of an earlier batch, or told twice, which does nothing.
            return self.scheduler.end(now, execution, End::Stopped);
        };
        let call = known.call;
        if self.scheduler.batch().call_of(execution) != Some(call) {
            // From before a restart: the call is run again.
            return self.end(now, execution, End::Stopped);
        }
        let Some(Request { id, name, .. }) = self.calls.request(call) else {
            return self.end(now, execution, End::Stopped);
        };
        match end {
            RunEnd::Gated => self.gated(now, call, execution),
            RunEnd::Stopped => self.cut_short(now, call, execution),
            RunEnd::TimedOut { after } => {
                let after = humantime::format_duration(after);
                let text = format!("tool `{name}` did not end within {after}");
                self.calls.respond(call, Status::Error, text);
                self.end(now, execution, End::Failed);
            }
            RunEnd::Finished { outcome: Outcome::NeedsInput { question }, .. } => {
                if known.stopping {
                    return self.cut_short(now, call, execution);
                }
                if known.turns > MAX_QUESTIONS {
                    let text =
                        format!("tool `{name}` asked {MAX_QUESTIONS} times; it is not run again");
                    self.calls.respond(call, Status::Error, text);
                    return self.end(now, execution, End::Failed);
                }
                if let Some(answer) = self.configured_answer(call, &question.id) {
                    if let Some(known) = self.executions.get_mut(&execution) {
                        known.answers.insert(question.id, answer);
                    }
                    return self.run(execution);
                }
                self.ask(now, execution, Asking::Ended, question);
            }
            RunEnd::Finished { outcome, whole } => {
                let mut response = Response::from_outcome(id, name, outcome);
                response.whole = whole;
                let end = if response.status == Status::Ok { End::Succeeded } else { End::Failed };
                if let Some(slot) = self.calls.get_mut(call) {
                    slot.response = Some(response);
                }
                self.end(now, execution, end);
            }
        }
    }

    /// The call ends without its tool having finished: it answers what its tool has for that.
    pub(super) fn cut_short(&mut self, now: Instant, call: CallId, execution: ExecutionId) {
        self.respond_cancelled(call);
        self.end(now, execution, End::Stopped);
    }

    /// Asks an execution to stop.
    pub(super) fn stop(&mut self, now: Instant, execution: ExecutionId) {
        let Some(known) = self.executions.get_mut(&execution) else {
            return;
        };
        known.stopping = true;
        match std::mem::replace(&mut known.asking, Asking::No) {
            // Nothing of it runs that could end by itself.
            Asking::Ended => self.end(now, execution, End::Stopped),
            Asking::Running(number) => {
                self.scheduler.set_asking(now, execution, false);
                self.act(Action::Answer { execution, number, answer: None });
                self.act(Action::Stop(execution));
            }
            Asking::No => self.act(Action::Stop(execution)),
        }
    }

    /// The slot is free; the result may still want a review.
    pub(super) fn review(&mut self, now: Instant, call: CallId) {
        let mode = self.terms(call).unwrap_or_default().result;
        let Some(slot) = self.calls.get(call) else {
            return;
        };
        let delivered = slot.response.as_ref().filter(|response| response.status == Status::Ok);
        match (mode, delivered) {
            (ResultMode::Ask | ResultMode::Edit, Some(response)) => {
                let edit = mode == ResultMode::Edit;
                let prompt = Prompt::Review { response: response.clone(), edit };
                return self.prompt(Subject::Review(call), prompt, Turn::Last);
            }
            (ResultMode::Skip, Some(_)) => self.withhold(call),
            _ if slot.response.is_none() => self.respond_cancelled(call),
            _ => {}
        }
        self.scheduler.respond(now, call);
    }

    fn configured_answer(&self, call: CallId, question: &str) -> Option<Json> {
        self.terms(call)?.answers?.get(question).cloned()
    }

    /// Asks a person what an execution asks.
    fn ask(&mut self, now: Instant, execution: ExecutionId, asking: Asking, question: Question) {
        let Some(known) = self.executions.get_mut(&execution) else {
            return;
        };
        known.asking = asking;
        let call = known.call;
        self.scheduler.set_asking(now, execution, true);
        if let Some(request) = self.calls.request(call) {
            let (tool, id) = (request.name.clone(), request.id.clone());
            let prompt = Prompt::Question { tool, id, question };
            self.prompt(Subject::Question(call, execution), prompt, Turn::Last);
        }
    }

    /// A run that goes on asks.
    pub(super) fn asks(
        &mut self,
        now: Instant,
        execution: ExecutionId,
        number: u32,
        question: Question,
    ) {
        let nothing = Action::Answer { execution, number, answer: None };
        let Some(known) = self.executions.get_mut(&execution) else {
            return self.act(nothing);
        };
        let call = known.call;
        known.turns += 1;
        let too_often = known.turns > MAX_QUESTIONS;
        let current = self.scheduler.batch().call_of(execution) == Some(call);
        if !current || known.stopping || too_often {
            return self.act(nothing);
        }
        // A second question dismisses the first.
        if let Asking::Running(first) = std::mem::replace(&mut known.asking, Asking::No) {
            self.act(Action::Answer { execution, number: first, answer: None });
            self.drop_prompt(call);
            self.scheduler.set_asking(now, execution, false);
        }
        match self.configured_answer(call, &question.id) {
            Some(answer) => {
                self.act(Action::Answer { execution, number, answer: Some(answer) });
            }
            None => self.ask(now, execution, Asking::Running(number), question),
        }
    }

    /// A run that goes on does not wait for the answer any more.
    pub(super) fn withdraws(&mut self, now: Instant, execution: ExecutionId, number: u32) {
        if let Some(known) = self.executions.get_mut(&execution)
            && known.asking == Asking::Running(number)
        {
            known.asking = Asking::No;
            self.scheduler.set_asking(now, execution, false);
        }
    }
}
