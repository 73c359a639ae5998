//! Who watches a batch while it runs.

use jp_policy_core::{
    batch::{CallId, Instant},
    record::Record,
    request::Request,
    response::Response,
    scheduler::{Event, Scheduler},
    session::Session,
};

use crate::tools::Progress;

/// The state of a batch at an event, for whoever watches.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    pub(super) session: &'a Session,
    /// What has happened so far, this event included.
    pub record: &'a Record,
}

impl<'a> Snapshot<'a> {
    /// The calls and why they wait.
    pub fn scheduler(&self) -> &'a Scheduler {
        self.session.scheduler()
    }

    /// A call as it is run, until it was handed over.
    pub fn request(&self, call: CallId) -> Option<&'a Request> {
        self.session.request(call)
    }

    /// A call's response, from when it has one until it was handed over.
    pub fn response(&self, call: CallId) -> Option<&'a Response> {
        self.session.response(call)
    }

    /// The id of the tool call that a call is an operation of, if it is one.
    pub fn operation_of(&self, call: CallId) -> Option<&'a str> {
        self.session.operation_of(call)
    }

    /// Whether a call was released and not run, because another operation of its tool call had failed.
    pub fn is_gated(&self, call: CallId) -> bool {
        self.session.is_gated(call)
    }
}

/// Watches a batch. It is called in the event loop, so what may block goes elsewhere.
pub trait Observer: Send {
    /// Something happened.
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>);

    /// A run of a call has come this far, as it says itself.
    fn progress(&mut self, call: CallId, progress: &Progress, snapshot: &Snapshot<'_>) {
        let _ = (call, progress, snapshot);
    }

    /// Whether it wants to be told the policy's reasons, of how many calls after each decision.
    fn reasons(&self) -> usize {
        0
    }

    /// Why a call still waits after a decision, in the policy's words.
    fn reason(&mut self, at: Instant, call: CallId, reason: &str) {
        let _ = (at, call, reason);
    }

    /// All that has happened so far is decided: what is parked now, waits.
    fn decided(&mut self, snapshot: &Snapshot<'_>) {
        let _ = snapshot;
    }
}

impl Observer for () {
    fn event(&mut self, _: &Event, _: &Snapshot<'_>) {}
}
