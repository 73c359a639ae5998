//! Prompts: one is open at a time, in the order they arose.

use std::{future::Future, pin::Pin};

use serde_json::{Map, Value as Json};

use super::{
    event_loop::{Coordinator, as_json},
    people::{Approval, Prompt, Reply, Review},
    response::{Response, Status},
};
use crate::{
    batch::{CallId, ExecutionId, Stage},
    server::Outcome,
};

/// A prompt, and whom it is about.
pub(super) struct Open {
    pub(super) call: CallId,
    pub(super) execution: Option<ExecutionId>,
    pub(super) prompt: Prompt,
}

/// The open prompt and its reply to come.
pub(super) type Asked<'a> = Option<(Open, Pin<Box<dyn Future<Output = Reply> + Send + 'a>>)>;

impl Coordinator {
    pub(super) fn reply(&mut self, open: Open, reply: Reply) {
        let now = self.now();
        let call = open.call;
        tracing::debug!(target: "people", call, "has a reply");
        match reply {
            Reply::Approval(Approval::Run(None)) => {
                self.scheduler.approve(now, call);
            }
            Reply::Approval(Approval::Run(Some(arguments))) => self.run_with(call, arguments),
            Reply::Again => self.prompts.push_front(open),
            Reply::Approval(Approval::Reject(why)) => self.settle(now, call, Status::NotRun, &why),
            Reply::Answer(answer) => {
                let (Some(execution), Prompt::Question { question, .. }) =
                    (open.execution, open.prompt)
                else {
                    return;
                };
                self.scheduler.set_asking(now, execution, false);
                if let Some(active) = self.active.get_mut(&execution)
                    && let Some(waiting) = active.reply.take()
                {
                    active.asking = false;
                    // A run that does not wait any more is about to say so.
                    let _ = waiting.send(answer);
                    return;
                }
                match (answer, self.active.get_mut(&execution)) {
                    (Some(answer), Some(active)) => {
                        active.asking = false;
                        active.answers.insert(question.id, answer);
                        self.spawn(execution);
                    }
                    _ => {
                        let request = &self.requests[call as usize];
                        let outcome = Outcome::NeedsInput { question };
                        let response = Response::from_outcome(&request.id, &request.name, outcome);
                        self.responses[call as usize] = Some(response);
                        self.fail_unanswered(now, call, execution);
                    }
                }
            }
            Reply::Review(review) => {
                match review {
                    Review::Deliver => {}
                    Review::Replace(text) => self.write(call, Status::Ok, &text),
                    Review::Withhold => self.withhold(call),
                }
                self.scheduler.respond(now, call);
            }
        }
    }

    /// Runs a call with what a person made of its arguments, or asks again.
    fn run_with(&mut self, call: CallId, mut arguments: Map<String, Json>) {
        let request = &mut self.requests[call as usize];
        if let Err(error) = self.server.check_arguments(&request.name, &mut arguments) {
            let (tool, problem) = (request.name.clone(), Some(error.to_string()));
            let prompt = Prompt::Approve { tool, arguments, edit: true, problem };
            return self.prompts.push_front(Open { call, execution: None, prompt });
        }
        request.arguments = Ok(arguments);
        self.arguments.replace(call, as_json(request));
        self.record.rename(call, request.title());
        self.scheduler.approve(self.now(), call);
    }

    pub(super) fn withhold(&mut self, call: CallId) {
        let name = self.requests[call as usize].name.clone();
        self.write(call, Status::Ok, &format!("tool `{name}` ran; its result is not delivered"));
    }

    /// Whether nobody waits for the reply to a prompt any more.
    pub(super) fn is_moot(&self, open: &Open) -> bool {
        let stage = self.scheduler.batch().get(open.call).map(|call| call.stage);
        match (&open.prompt, stage) {
            (Prompt::Approve { .. }, Some(Stage::Pending))
            | (Prompt::Review { .. }, Some(Stage::Ended { .. })) => false,
            (Prompt::Question { .. }, Some(Stage::Running { execution, asking: true })) => {
                Some(execution) != open.execution
            }
            _ => true,
        }
    }
}

/// The reply to the open prompt; never, where none is open.
pub(super) async fn reply(open: &mut Asked<'_>) -> Reply {
    match open {
        Some((_, reply)) => reply.await,
        None => std::future::pending().await,
    }
}
