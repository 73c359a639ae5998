//! What follows from the replies of people.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::{
    executions::Asking,
    io::{Action, PromptId},
    prompts::{Subject, Turn},
    state::State,
};
use crate::{
    batch::{CallId, End, ExecutionId, Instant},
    outcome::{Outcome, Question},
    prompt::{Answer, Approval, Prompt, Reply, Review},
    request::Request,
    response::{Response, Status},
};

impl State {
    pub(super) fn replied(&mut self, now: Instant, id: PromptId, reply: Reply) {
        let Some((subject, prompt)) = self.prompts.replied(id) else {
            return;
        };
        if let Some(slot) = self.calls.get_mut(subject.call()) {
            slot.prompt = None;
        }
        if self.is_moot(subject) {
            return;
        }
        match (subject, prompt, reply) {
            (Subject::Approval(call), _, Reply::Approval(approval)) => match approval {
                Approval::Run(None) => {
                    self.scheduler.approve(now, call);
                }
                Approval::Run(Some(arguments)) => self.approve_with(now, call, arguments),
                Approval::Reject(why) => self.settle(now, call, Status::NotRun, &why),
            },
            (
                Subject::Question(call, execution),
                Prompt::Question { question, .. },
                Reply::Answer(answer),
            ) => self.answer(now, call, execution, question, answer),
            (Subject::Review(call), _, Reply::Review(review)) => {
                match review {
                    Review::Deliver => {}
                    Review::Replace(text) => self.calls.respond(call, Status::Ok, text),
                    Review::Withhold => self.withhold(call),
                }
                self.scheduler.respond(now, call);
            }
            // Nothing yet, or a reply to something else.
            (subject, prompt, _) => self.prompt(subject, prompt, Turn::Next),
        }
    }

    /// Approves a call with what a person made of its arguments, or asks again.
    fn approve_with(&mut self, now: Instant, call: CallId, arguments: Map<String, Json>) {
        let catalog = self.catalog.clone();
        let Some(slot) = self.calls.get_mut(call) else {
            return;
        };
        let Some(request) = &mut slot.request else {
            return;
        };
        let arguments = match catalog.check_arguments(request, &arguments) {
            Ok(checked) => Arc::new(checked.into_owned()),
            Err(error) => {
                let (tool, id) = (request.name.clone(), request.id.clone());
                let problem = Some(error);
                let prompt = Prompt::Approve { tool, id, arguments, edit: true, problem };
                return self.prompt(Subject::Approval(call), prompt, Turn::Next);
            }
        };
        self.arguments.replace(call, arguments.clone());
        request.arguments = Ok(arguments);
        slot.title = request.title().into();
        self.scheduler.approve(now, call);
    }

    /// What an execution asks has its answer, or will have none.
    fn answer(
        &mut self,
        now: Instant,
        call: CallId,
        execution: ExecutionId,
        question: Question,
        answer: Answer,
    ) {
        self.scheduler.set_asking(now, execution, false);
        let Some(known) = self.executions.get_mut(&execution) else {
            return;
        };
        match (std::mem::replace(&mut known.asking, Asking::No), answer) {
            (Asking::Running(number), answer) => {
                self.act(Action::Answer { execution, number, answer: answer.given() });
            }
            (_, Answer::Given(answer)) => {
                known.answers.insert(question.id, answer);
                self.run(execution);
            }
            (_, Answer::Dismissed) => {
                // It has begun and will not be finished: what was to come behind it can't build on it.
                self.calls.shut_gate(call, Status::Cancelled);
                self.cut_short(now, call, execution);
            }
            (_, Answer::Unanswered) => {
                if let Some(slot) = self.calls.get_mut(call)
                    && let Some(Request { id, name, .. }) = &slot.request
                {
                    let outcome = Outcome::NeedsInput { question };
                    slot.response = Some(Response::from_outcome(id, name, outcome));
                }
                self.end(now, execution, End::Failed);
            }
        }
    }
}
