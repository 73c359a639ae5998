//! What a session is made of, and what its parts have in common: prompts about calls, responses, ends.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use foldhash::fast::RandomState;
use jp_policy_guest::ToolIndex;

use super::{
    calls::Calls,
    executions::Executions,
    io::Action,
    prompts::{Prompts, Subject, Turn},
};
use crate::{
    batch::{CallId, End, ExecutionId, Instant, Stage},
    catalog::{Catalog, Terms},
    policy::Arguments,
    prompt::Prompt,
    response::Status,
    scheduler::Scheduler,
};

/// What a session knows. Who changes a call's stage is the scheduler, and its events say what follows.
pub(super) struct State {
    pub(super) scheduler: Scheduler,
    pub(super) catalog: Arc<dyn Catalog>,
    /// The configured tools by name.
    pub(super) tools: HashMap<String, ToolIndex, RandomState>,
    /// The arguments of calls, for the policy.
    pub(super) arguments: Arguments,
    pub(super) calls: Calls,
    pub(super) executions: Executions,
    pub(super) prompts: Prompts,
    pub(super) actions: VecDeque<Action>,
    /// What calls that are cut short answer, where somebody said it.
    pub(super) message: Option<String>,
}

impl State {
    pub(super) fn act(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    /// Settles a call that has not run.
    pub(super) fn settle(&mut self, now: Instant, call: CallId, status: Status, content: &str) {
        if self.scheduler.settle(now, call) {
            self.calls.respond(call, status, content);
        }
    }

    /// An execution has ended. A failure, whoever found it, keeps what stands behind it from starting where that is wanted.
    pub(super) fn end(&mut self, now: Instant, execution: ExecutionId, end: End) {
        if let Some(known) = self.executions.remove(&execution)
            && end == End::Failed
        {
            self.calls.shut_gate(known.call, Status::Error);
        }
        self.scheduler.end(now, execution, end);
    }

    pub(super) fn terms(&self, call: CallId) -> Option<Terms<'_>> {
        self.catalog.terms(self.calls.request(call)?)
    }

    pub(super) fn prompt(&mut self, subject: Subject, prompt: Prompt, turn: Turn) {
        let id = self.prompts.push(subject, prompt, turn);
        if let Some(slot) = self.calls.get_mut(subject.call()) {
            slot.prompt = Some(id);
        }
    }

    pub(super) fn drop_prompt(&mut self, call: CallId) {
        if let Some(id) = self.calls.get_mut(call).and_then(|slot| slot.prompt.take())
            && self.prompts.withdraw(id)
        {
            self.act(Action::ClosePrompt(id));
        }
    }

    /// Closes the prompt about a call if nobody waits for the reply any more.
    pub(super) fn drop_moot_prompt(&mut self, call: CallId) {
        let Some(id) = self.calls.get(call).and_then(|slot| slot.prompt) else {
            return;
        };
        if self.prompts.subject(id).is_none_or(|subject| self.is_moot(subject)) {
            self.drop_prompt(call);
        }
    }

    pub(super) fn is_moot(&self, subject: Subject) -> bool {
        let stage = self.scheduler.batch().get(subject.call()).map(|call| call.stage);
        match (subject, stage) {
            (Subject::Approval(_), Some(Stage::Pending))
            | (Subject::Review(_), Some(Stage::Ended { .. })) => false,
            (Subject::Question(_, asked), Some(Stage::Running { execution, asking: true })) => {
                asked != execution
            }
            _ => true,
        }
    }

    pub(super) fn withhold(&mut self, call: CallId) {
        if let Some(request) = self.calls.request(call) {
            let text = format!("tool `{}` ran; its result is not delivered", request.name);
            self.calls.respond(call, Status::Ok, text);
        }
    }

    pub(super) fn respond_cancelled(&mut self, call: CallId) {
        let own = self.terms(call).unwrap_or_default().cancellation_response;
        let text = self.message.as_deref().unwrap_or(own).to_owned();
        self.calls.respond(call, Status::Cancelled, text);
    }
}
