use jp_policy_core::batch::Carried;

use super::*;

/// A tool call, and what is known of its status.
struct Watched {
    call: WatchedCall,
    status: watch::Receiver<CallStatus>,
}

impl Watched {
    fn new(has_operations: bool, calls: u32) -> Self {
        let (sender, status) = watch::channel(CallStatus::default());
        let mut call = WatchedCall::new(sender, None, has_operations);
        for id in 0..calls {
            call.set_stage(id, Stage::Pending);
        }
        Self { call, status }
    }

    fn stage(&mut self, call: CallId, stage: Stage) -> Option<CallStatus> {
        self.call.set_stage(call, stage);
        self.news()
    }

    fn progress(&mut self, call: CallId, done: f64, message: &str) -> Option<CallStatus> {
        let message = Some(message.to_owned());
        assert!(self.call.set_progress(call, &Progress { done, total: None, message }));
        self.news()
    }

    /// What is sent; none: nothing has changed.
    fn news(&mut self) -> Option<CallStatus> {
        self.call.send(|_| "queued".to_owned());
        let changed = self.status.has_changed().expect("its sender lives");
        changed.then(|| self.status.borrow_and_update().clone())
    }
}

fn running() -> Stage {
    let execution = Carried::of([None]).executions().next().expect("there is one");
    Stage::Running { execution, asking: false }
}

const ENDED: Stage = Stage::Ended { failed: false };

fn runs(words: &str) -> CallStatus {
    CallStatus::Running(words.to_owned())
}

fn waits(words: &str) -> CallStatus {
    CallStatus::Queued(words.to_owned())
}

#[test]
fn a_call_without_operations_has_its_own_progress() {
    let mut watched = Watched::new(false, 1);
    assert_eq!(watched.news(), None);
    watched.call.set_reason(Some(Waiting::Policy));
    assert_eq!(watched.stage(0, Stage::Parked), Some(waits("queued")));
    assert_eq!(watched.stage(0, running()), Some(runs("running")));
    let progress = Progress { done: 1.0, total: None, message: Some("one".to_owned()) };
    assert_eq!(watched.progress(0, 1.0, "one"), Some(CallStatus::Progress(progress)));
    assert_eq!(watched.stage(0, ENDED), None);
    assert!(!watched.call.is_settled(), "it may be under review");
    assert_eq!(watched.stage(0, Stage::Settled), None);
    assert!(watched.call.is_settled());
}

#[test]
fn operations_have_one_status_together() {
    let mut watched = Watched::new(true, 3);
    watched.call.set_reason(Some(Waiting::Policy));
    assert_eq!(watched.stage(0, Stage::Parked), Some(waits("queued")));
    assert_eq!(watched.stage(1, Stage::Parked), None);
    assert_eq!(watched.call.queued(), Some(0));
    assert_eq!(watched.stage(0, running()), Some(runs("running, 0 of 3 done")));
    assert_eq!(watched.call.queued(), None);
    assert_eq!(watched.progress(0, 1.0, "page 1"), Some(runs("running, 0 of 3 done: page 1")));
    assert_eq!(watched.stage(1, running()), None);
    // Its words go with the operation.
    assert_eq!(watched.stage(0, ENDED), Some(runs("running, 1 of 3 done")));
    assert_eq!(watched.stage(0, Stage::Settled), None);
    assert_eq!(watched.stage(1, ENDED), Some(waits("waiting for approval, 2 of 3 done")));
    assert_eq!(watched.stage(2, Stage::Parked), Some(waits("queued, 2 of 3 done")));
    assert_eq!(watched.stage(2, Stage::Settled), None);
}

#[test]
fn a_call_that_is_prepared_again_is_not_done() {
    let mut watched = Watched::new(true, 2);
    assert_eq!(watched.stage(0, running()), Some(runs("running, 0 of 2 done")));
    assert_eq!(watched.stage(1, running()), None);
    assert_eq!(watched.stage(0, ENDED), Some(runs("running, 1 of 2 done")));
    assert_eq!(watched.stage(0, Stage::Pending), Some(runs("running, 0 of 2 done")));
}
