//! What a run of a tool can tell and ask the Host while it goes on.

use std::{fmt, pin::Pin};

use serde_json::Value as Json;

use jp_policy_core::outcome::Question;

/// The Host, as a run sees it. A run that has nothing to tell or ask before it ends needs none of it.
pub trait Host: fmt::Debug + Send + Sync {
    /// The run has come this far.
    fn progress(&self, progress: Progress) {
        let _ = progress;
    }

    /// Asks, and waits for the answer; none: there is nobody who would answer, or the question was dismissed, or the run is to
    /// end. The run goes on meanwhile and keeps its slot, so what it has open stays open.
    ///
    /// One question at a time: a second one dismisses the first. To drop the future withdraws the question.
    fn ask(&self, question: Question) -> Answering<'_>;
}

/// An answer to come.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Option<Json>> + Send + 'a>>;

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How much is done, in whatever the tool counts.
    pub done: f64,
    /// How much there is to do, if that is known.
    pub total: Option<f64>,
    /// What it does now.
    pub message: Option<String>,
}

/// A Host that is told nothing and answers nothing.
impl Host for () {
    fn ask(&self, _: Question) -> Answering<'_> {
        Box::pin(std::future::ready(None))
    }
}
