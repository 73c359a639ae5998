//! How calls come in: tool calls become calls, and each is approved, has to be approved, or can't run.

use std::{borrow::Cow, sync::Arc};

use super::{
    calls::Slot,
    io::Submission,
    prompts::{Subject, Turn},
    state::State,
};
use crate::{
    batch::{CallId, Instant},
    fan_out::{Expansion, expand},
    prompt::Prompt,
    request::Request,
    response::{Response, Status},
    terms::{OnError, RunMode},
};

impl State {
    /// Adds tool calls at the end of the written order, and then prepares them.
    pub(super) fn submit(&mut self, now: Instant, submissions: Vec<Submission>) {
        let first = self.calls.len();
        self.calls.reserve(submissions.len());
        self.scheduler.reserve(submissions.len());
        self.arguments.reserve(submissions.len());
        for submission in submissions {
            self.add(now, submission);
        }
        for place in first..self.calls.len() {
            if let Ok(call) = CallId::try_from(place)
                && self.calls.get(call).is_some_and(|slot| slot.response.is_none())
            {
                self.prepare(now, call);
            }
        }
    }

    fn add(&mut self, now: Instant, submission: Submission) {
        let Submission { request, responses, ticket, operation_of } = submission;
        let on_error = self.catalog.terms(&request).and_then(|terms| terms.fan_out);
        let stops = on_error == Some(OnError::Stop);
        let mut responses = responses.into_iter();
        if let Some(place) = operation_of {
            let place = if place < self.calls.tool_calls() {
                place
            } else {
                self.calls.add_tool_call(Some(request.id.clone()), stops, ticket)
            };
            return self.add_call(now, place, request, responses.next().flatten());
        }
        let expansion = match (&request.arguments, on_error) {
            (Ok(arguments), Some(_)) => expand(arguments),
            _ => Expansion::One,
        };
        let request = match expansion {
            Expansion::One => request,
            Expansion::Invalid(why) => Request { arguments: Err(why), ..request },
            Expansion::Operations(operations) => {
                let Request { id, name, .. } = request;
                let place = self.calls.add_tool_call(Some(id.clone()), stops, ticket);
                for (number, arguments) in (1..).zip(operations) {
                    let request = Request {
                        id: format!("{id}.{number}").into(),
                        name: name.clone(),
                        arguments: arguments.map(Arc::new),
                    };
                    self.add_call(now, place, request, responses.next().flatten());
                }
                return;
            }
        };
        let place = self.calls.add_tool_call(None, false, ticket);
        self.add_call(now, place, request, responses.next().flatten());
    }

    /// Adds a call of the tool call at this place.
    fn add_call(
        &mut self,
        now: Instant,
        place: usize,
        request: Request,
        response: Option<Response>,
    ) {
        let parent = u32::try_from(place).unwrap_or(u32::MAX);
        // A tool that nobody knows has no key: its call is settled before it could matter.
        let tool = self.tools.get(&*request.name).copied().unwrap_or(u32::MAX);
        // As the policy sees them: none, if they can't be read.
        self.arguments.push(request.arguments.clone().unwrap_or_default());
        let answered = response.is_some();
        self.calls.add(request, parent, response);
        if answered {
            let call = self.scheduler.submit_answered(now, tool, parent);
            // What stopped the others before the program was started does so again.
            if let Some(status) = self.calls.get(call).and_then(Slot::stops_others) {
                self.calls.shut_gate(call, status);
            }
        } else {
            self.scheduler.submit(now, tool, parent);
        }
    }

    /// Approves a call, has it approved, or settles it because it can't run.
    pub(super) fn prepare(&mut self, now: Instant, call: CallId) {
        let catalog = self.catalog.clone();
        let Some(slot) = self.calls.get_mut(call) else {
            return;
        };
        // After a restart a person may still be asked.
        if slot.prompt.is_some() {
            return;
        }
        let Some(request) = &mut slot.request else {
            return;
        };
        let Some(terms) = catalog.terms(request) else {
            let suggestion = catalog.suggestion(&request.name);
            let suggestion = suggestion.map(|known| format!("; did you mean `{known}`?"));
            let text = format!(
                "no tool `{}` is configured{}",
                request.name.escape_debug(),
                suggestion.unwrap_or_default()
            );
            return self.settle(now, call, Status::Error, &text);
        };
        let checked = match &request.arguments {
            Ok(arguments) => {
                catalog.check_arguments(request, arguments).map(|checked| match checked {
                    Cow::Borrowed(_) => None,
                    Cow::Owned(filled) => Some(Arc::new(filled)),
                })
            }
            Err(error) => Err(error.clone()),
        };
        match checked {
            Ok(None) => {}
            Ok(Some(filled)) => {
                self.arguments.replace(call, filled.clone());
                request.arguments = Ok(filled);
            }
            Err(error) => {
                let text = format!("invalid arguments for tool `{}`: {error}", request.name);
                // An operation that can't run has failed before any other has started.
                self.calls.shut_gate(call, Status::Error);
                return self.settle(now, call, Status::Error, &text);
            }
        }
        match terms.run {
            RunMode::Unattended => {
                self.scheduler.approve(now, call);
            }
            RunMode::Skip => {
                let text = format!("tool `{}` is set to be skipped", request.name);
                self.settle(now, call, Status::NotRun, &text);
            }
            RunMode::Ask | RunMode::Edit => {
                let prompt = Prompt::Approve {
                    tool: request.name.clone(),
                    id: request.id.clone(),
                    arguments: request.arguments.as_deref().cloned().unwrap_or_default(),
                    edit: terms.run == RunMode::Edit,
                    problem: None,
                };
                self.prompt(Subject::Approval(call), prompt, Turn::Last);
            }
        }
    }
}
