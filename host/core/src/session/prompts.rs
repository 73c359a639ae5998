//! The prompts of a session, in the order in which they arose: one is open at a time, or all of them are.

use std::collections::{BTreeMap, VecDeque};

use super::io::PromptId;
use crate::{
    batch::{CallId, ExecutionId},
    prompt::Prompt,
};

/// Whom a prompt is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject {
    /// The approval of a pending call.
    Approval(CallId),
    /// The question of a running one.
    Question(CallId, ExecutionId),
    /// The result of an ended one.
    Review(CallId),
}

impl Subject {
    pub(super) fn call(self) -> CallId {
        let (Self::Approval(call) | Self::Question(call, _) | Self::Review(call)) = self;
        call
    }
}

/// When a prompt is asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Turn {
    /// Before all others: it goes on with what was asked last.
    Next,
    /// Behind all others.
    Last,
}

/// A prompt without a reply.
#[derive(Debug)]
struct Waiting {
    subject: Subject,
    prompt: Prompt,
    /// Whether somebody was asked.
    is_open: bool,
}

/// The prompts without a reply.
#[derive(Debug)]
pub(super) struct Prompts {
    one_at_a_time: bool,
    next: u64,
    waiting: BTreeMap<PromptId, Waiting>,
    /// Those that nobody was asked yet. Some may have been withdrawn.
    queue: VecDeque<PromptId>,
    open: usize,
}

impl Prompts {
    pub(super) fn new(one_at_a_time: bool) -> Self {
        let (waiting, queue) = (BTreeMap::new(), VecDeque::new());
        Self { one_at_a_time, next: 0, waiting, queue, open: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn push(&mut self, subject: Subject, prompt: Prompt, turn: Turn) -> PromptId {
        let id = PromptId(self.next);
        self.next += 1;
        self.waiting.insert(id, Waiting { subject, prompt, is_open: false });
        match turn {
            Turn::Next => self.queue.push_front(id),
            Turn::Last => self.queue.push_back(id),
        }
        id
    }

    /// The next prompt that somebody is to be asked now.
    pub(super) fn open(&mut self) -> Option<(PromptId, Prompt)> {
        if self.one_at_a_time && self.open > 0 {
            return None;
        }
        while let Some(id) = self.queue.pop_front() {
            if let Some(waiting) = self.waiting.get_mut(&id) {
                waiting.is_open = true;
                self.open += 1;
                return Some((id, waiting.prompt.clone()));
            }
        }
        None
    }

    /// What a prompt without a reply is about.
    pub(super) fn subject(&self, id: PromptId) -> Option<Subject> {
        Some(self.waiting.get(&id)?.subject)
    }

    /// Nobody waits for the reply any more. Whether somebody was asked.
    pub(super) fn withdraw(&mut self, id: PromptId) -> bool {
        let was_open = self.waiting.remove(&id).is_some_and(|waiting| waiting.is_open);
        self.open -= usize::from(was_open);
        was_open
    }

    /// Somebody has replied; gives what was asked, if it still stood.
    pub(super) fn replied(&mut self, id: PromptId) -> Option<(Subject, Prompt)> {
        self.waiting.get(&id).filter(|waiting| waiting.is_open)?;
        let Waiting { subject, prompt, .. } = self.waiting.remove(&id)?;
        self.open -= 1;
        Some((subject, prompt))
    }
}
