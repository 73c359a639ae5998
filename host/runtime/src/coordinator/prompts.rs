//! Prompts, in the order they arose: one is open at a time, or all of them, as those who are asked want it.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use jp_policy_core::batch::{CallId, ExecutionId, Stage};
use serde_json::{Map, Value as Json};

use super::{
    event_loop::Coordinator,
    people::{Approval, People, Prompt, Reply, Review},
    response::{Response, Status},
};
use crate::tools::Outcome;

/// A prompt, and whom it is about.
pub(super) struct Open {
    pub(super) call: CallId,
    pub(super) execution: Option<ExecutionId>,
    pub(super) prompt: Prompt,
}

/// An open prompt and its reply to come.
pub(super) struct Asked<'a> {
    open: Open,
    reply: Pin<Box<dyn Future<Output = Reply> + Send + 'a>>,
}

impl Coordinator {
    /// Closes the prompts that nobody waits for any more, and opens as many as `people` can be asked at once.
    pub(super) fn open<'a>(&mut self, people: &'a dyn People, asked: &mut Vec<Asked<'a>>) {
        asked.retain(|asked| !self.is_moot(&asked.open));
        while (asked.is_empty() || !people.one_at_a_time())
            && let Some(open) = self.prompts.pop_front()
        {
            if !self.is_moot(&open) {
                tracing::debug!(target: "people", call = open.call, "{}", open.prompt.word());
                let reply = people.ask(open.prompt.clone());
                asked.push(Asked { open, reply });
            }
        }
    }

    pub(super) fn reply(&mut self, asked: Asked<'_>, reply: Reply) {
        let open = asked.open;
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
    fn run_with(&mut self, call: CallId, arguments: Map<String, Json>) {
        let request = &mut self.requests[call as usize];
        let arguments = match self.shared.server.check_arguments(&request.name, &arguments) {
            Ok(checked) => Arc::new(checked.into_owned()),
            Err(error) => {
                let (tool, id) = (request.name.clone(), request.id.clone());
                let problem = Some(error.to_string());
                let prompt = Prompt::Approve { tool, id, arguments, edit: true, problem };
                return self.prompts.push_front(Open { call, execution: None, prompt });
            }
        };
        self.arguments.replace(call, arguments.clone());
        request.arguments = Ok(arguments);
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

/// The next reply to one of the open prompts; never, where none is open.
pub(super) async fn reply<'a>(asked: &mut Vec<Asked<'a>>) -> (Asked<'a>, Reply) {
    let (place, reply) = poll_fn(|context| {
        let mut replies = asked.iter_mut().enumerate();
        replies
            .find_map(|(place, asked)| match asked.reply.as_mut().poll(context) {
                Poll::Ready(reply) => Some(Poll::Ready((place, reply))),
                Poll::Pending => None,
            })
            .unwrap_or(Poll::Pending)
    })
    .await;
    (asked.remove(place), reply)
}
