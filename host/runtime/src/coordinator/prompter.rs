//! Who asks people, and the prompts that are open.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use jp_policy_core::{
    prompt::{Answer, Approval, Prompt, Reply, Review},
    session::PromptId,
};

/// A reply to come.
pub type Replying<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

/// Asks people. The future may be dropped at any time: then the prompt is closed, and a late reply has no effect.
pub trait Prompter: Send + Sync {
    /// Asks, and waits for the reply.
    fn ask(&self, prompt: Prompt) -> Replying<'_>;

    /// Whether a prompt waits for the reply to the one before it, as on a screen. If not, everything is asked as soon as it arises.
    fn one_at_a_time(&self) -> bool {
        true
    }
}

/// Asks nobody: calls are approved or rejected as said, questions get their own default or no answer, results are delivered.
#[derive(Debug, Clone, Copy)]
pub struct AutoPrompter {
    /// Whether calls that need approval are approved.
    pub approve: bool,
}

impl Prompter for AutoPrompter {
    fn ask(&self, prompt: Prompt) -> Replying<'_> {
        let reply = match prompt {
            Prompt::Approve { .. } if self.approve => Reply::Approval(Approval::Run(None)),
            Prompt::Approve { tool, .. } => Reply::Approval(Approval::Reject(format!(
                "tool `{tool}` runs after approval only, and there was nobody to ask"
            ))),
            Prompt::Question { question, .. } => {
                Reply::Answer(question.default.map_or(Answer::Unanswered, Answer::Given))
            }
            Prompt::Review { .. } => Reply::Review(Review::Deliver),
        };
        Box::pin(std::future::ready(reply))
    }
}

/// The prompts that somebody was asked and has not replied to.
pub(super) struct OpenPrompts<'a> {
    prompter: &'a dyn Prompter,
    replies: Vec<(PromptId, Replying<'a>)>,
}

impl<'a> OpenPrompts<'a> {
    pub(super) fn new(prompter: &'a dyn Prompter) -> Self {
        Self { prompter, replies: Vec::new() }
    }

    pub(super) fn open(&mut self, id: PromptId, prompt: Prompt) {
        let (tool, call) = prompt.subject();
        tracing::debug!(target: "prompts", %tool, %call, "opens a prompt");
        self.replies.push((id, self.prompter.ask(prompt)));
    }

    pub(super) fn close(&mut self, id: PromptId) {
        self.replies.retain(|(open, _)| *open != id);
    }

    /// The next reply; never, where no prompt is open.
    pub(super) async fn next(&mut self) -> (PromptId, Reply) {
        poll_fn(|context| {
            for (place, (id, reply)) in self.replies.iter_mut().enumerate() {
                if let Poll::Ready(reply) = reply.as_mut().poll(context) {
                    let id = *id;
                    drop(self.replies.remove(place));
                    return Poll::Ready((id, reply));
                }
            }
            Poll::Pending
        })
        .await
    }
}
