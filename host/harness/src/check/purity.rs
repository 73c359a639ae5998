//! Asks the policy on behalf of all states of a search, and notices when it answers the same question in two ways.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher as _, Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use foldhash::fast::FixedState;
use jp_policy_core::policy::{FaultKind, Policy, Refusal};
use jp_policy_guest::{Batch, Decision, View};

use super::violation::Impurity;

type Answer = Result<Decision, FaultKind>;

/// Makes a fresh instance of the policy.
pub(super) type Fresh = Box<dyn Fn() -> Result<Box<dyn Policy>, Refusal> + Send>;

/// One long-lived instance, and what it has answered so far.
struct PurityChecker {
    policy: Box<dyn Policy>,
    fresh: Fresh,
    /// Answers by question.
    answers: HashMap<u64, Decision, FixedState>,
    /// Questions without their times, of which a fresh instance was asked one.
    kinds: HashSet<u64, FixedState>,
    decisions: u64,
    /// Two answers to one question.
    impure: Option<(Impurity, Answer, Answer)>,
    /// The instance has failed, and is not entered again.
    failed: Option<FaultKind>,
}

impl PurityChecker {
    fn new(fresh: Fresh) -> Result<Self, Refusal> {
        Ok(Self {
            policy: fresh()?,
            fresh,
            answers: HashMap::default(),
            kinds: HashSet::default(),
            decisions: 0,
            impure: None,
            failed: None,
        })
    }

    /// Asks the long-lived instance, twice, and about each kind of question a fresh one too.
    fn ask(&mut self, batch: &Batch) -> Answer {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let answer = self.enter(batch)?;
        let again = self.enter(batch)?;
        if self.impure.is_none() {
            self.compare(batch, &answer, &again);
        }
        Ok(answer)
    }

    fn enter(&mut self, batch: &Batch) -> Answer {
        self.decisions += 1;
        let answer = self.policy.release(batch);
        if let Err(kind) = &answer {
            self.failed = Some(kind.clone());
        }
        answer
    }

    fn compare(&mut self, batch: &Batch, answer: &Decision, again: &Decision) {
        let (question, kind) = hashes(batch);
        let earlier = self.answers.entry(question).or_insert_with(|| answer.clone());
        if again != answer || earlier != answer {
            let other = if again == answer { earlier.clone() } else { again.clone() };
            self.impure = Some((Impurity::Again, Ok(answer.clone()), Ok(other)));
            return;
        }
        if self.kinds.insert(kind)
            && let Ok(mut fresh) = (self.fresh)()
        {
            let other = fresh.release(batch);
            self.decisions += 1;
            if other.as_ref() != Ok(answer) {
                self.impure = Some((Impurity::Fresh, Ok(answer.clone()), other));
            }
        }
    }
}

/// What tells questions apart, and what tells them apart but for their times.
fn hashes(batch: &Batch) -> (u64, u64) {
    let mut kind = FixedState::default().build_hasher();
    batch.running.hash(&mut kind);
    for usage in &batch.keys {
        (usage.key, usage.running, usage.waiting, usage.ended, usage.failed).hash(&mut kind);
    }
    for call in &batch.calls {
        (call.id, call.parent, call.tool, call.key, call.state as u8).hash(&mut kind);
    }
    let mut question = kind.clone();
    batch.now.hash(&mut question);
    for usage in &batch.keys {
        (usage.last_release, usage.last_end).hash(&mut question);
    }
    for call in &batch.calls {
        call.since.hash(&mut question);
    }
    (question.finish(), kind.finish())
}

/// The policy of one state of the search: all of them share the checker.
#[derive(Clone)]
pub(super) struct SharedPolicy {
    checker: Arc<Mutex<PurityChecker>>,
    view: View,
}

impl SharedPolicy {
    pub(super) fn new(fresh: Fresh) -> Result<Self, Refusal> {
        let checker = PurityChecker::new(fresh)?;
        let view = checker.policy.view();
        Ok(Self { checker: Arc::new(Mutex::new(checker)), view })
    }

    /// How many questions were answered.
    pub(super) fn decisions(&self) -> u64 {
        self.lock().decisions
    }

    /// The two answers to one question, if there were two.
    pub(super) fn impure(&self) -> Option<(Impurity, Answer, Answer)> {
        self.lock().impure.clone()
    }

    fn lock(&self) -> MutexGuard<'_, PurityChecker> {
        self.checker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Policy for SharedPolicy {
    fn view(&self) -> View {
        self.view
    }

    fn release(&mut self, batch: &Batch) -> Answer {
        self.lock().ask(batch)
    }
}
