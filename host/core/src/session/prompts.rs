//! The prompts of a session, in the order in which they arose: one is open at a time, or all of them are.

use std::collections::{BTreeMap, VecDeque};

use super::io::PromptId;
use crate::{
    batch::{CallId, ExecutionId},
    outcome::Question,
    prompt::Prompt,
};

/// Whom and what a prompt is about.
#[derive(Debug, Clone)]
pub(super) enum Subject {
    /// The approval of a pending call.
    Approval(CallId),
    /// The question of a running one.
    Question(CallId, ExecutionId, Question),
    /// The result of an ended one.
    Review(CallId),
}

impl Subject {
    pub(super) fn call(&self) -> CallId {
        let (Self::Approval(call) | Self::Question(call, ..) | Self::Review(call)) = self;
        *call
    }
}

/// The prompts without a reply.
#[derive(Debug)]
pub(super) struct Prompts {
    one_at_a_time: bool,
    next: u64,
    /// Those that nobody was asked yet.
    queue: VecDeque<(PromptId, Prompt)>,
    open: usize,
    /// Each of them, asked or not, with what to ask if it is asked again.
    subjects: BTreeMap<PromptId, (Subject, Option<Prompt>)>,
}

impl Prompts {
    pub(super) fn new(one_at_a_time: bool) -> Self {
        Self { one_at_a_time, next: 0, queue: VecDeque::new(), open: 0, subjects: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    /// Adds a prompt behind all others.
    pub(super) fn push(&mut self, subject: Subject, prompt: Prompt) -> PromptId {
        let id = self.add(subject);
        self.queue.push_back((id, prompt));
        id
    }

    /// Adds a prompt before all others: it goes on with what was asked last.
    pub(super) fn push_front(&mut self, subject: Subject, prompt: Prompt) -> PromptId {
        let id = self.add(subject);
        self.queue.push_front((id, prompt));
        id
    }

    fn add(&mut self, subject: Subject) -> PromptId {
        let id = PromptId(self.next);
        self.next += 1;
        self.subjects.insert(id, (subject, None));
        id
    }

    /// The next prompt that somebody is to be asked now.
    pub(super) fn open(&mut self) -> Option<(PromptId, Prompt)> {
        if self.one_at_a_time && self.open > 0 {
            return None;
        }
        // Some of the queue may have been withdrawn.
        while let Some((id, prompt)) = self.queue.pop_front() {
            if let Some((_, asked)) = self.subjects.get_mut(&id) {
                *asked = Some(prompt.clone());
                self.open += 1;
                return Some((id, prompt));
            }
        }
        None
    }

    /// What a prompt without a reply is about.
    pub(super) fn subject(&self, id: PromptId) -> Option<&Subject> {
        Some(&self.subjects.get(&id)?.0)
    }

    /// Nobody waits for the reply any more. Whether somebody was asked.
    pub(super) fn withdraw(&mut self, id: PromptId) -> bool {
        match self.subjects.remove(&id) {
            Some((_, Some(_))) => {
                self.open -= 1;
                true
            }
            _ => false,
        }
    }

    /// Somebody has replied; gives what was asked, if it still stood.
    pub(super) fn replied(&mut self, id: PromptId) -> Option<(Subject, Prompt)> {
        let asked = matches!(self.subjects.get(&id), Some((_, Some(_))));
        let (subject, prompt) = asked.then(|| self.subjects.remove(&id))??;
        self.open -= 1;
        Some((subject, prompt?))
    }
}
