//! What reaches a running coordinator from outside.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::message::Request;

/// What somebody outside wants.
#[derive(Debug)]
pub(super) enum Command {
    Submit(Vec<Request>),
    /// With what the calls answer, if not their tool's own words.
    Cancel(Option<String>),
    Kill,
    Restart,
}

/// Talks to a coordinator while it runs. Cheap to clone. What is said after the batch is over does nothing.
#[derive(Debug, Clone)]
pub struct Handle(UnboundedSender<Command>);

impl Handle {
    pub(super) fn new() -> (Self, UnboundedReceiver<Command>) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), receiver)
    }

    /// Adds calls at the end of the written order. Each waits for its own approval only, if something has been released.
    pub fn submit(&self, requests: Vec<Request>) {
        self.send(Command::Submit(requests));
    }

    /// Cancels: pending and parked calls get their cancellation response at once, running ones are asked to stop, and are
    /// killed after a grace time.
    pub fn cancel(&self) {
        self.send(Command::Cancel(None));
    }

    /// Cancels, and lets the calls that are cut short answer with this message.
    pub fn cancel_with(&self, message: impl Into<String>) {
        self.send(Command::Cancel(Some(message.into())));
    }

    /// Cancels, and kills at once what runs.
    pub fn kill(&self) {
        self.send(Command::Kill);
    }

    /// Prepares every call without a response again; running ones are stopped first and count until they are gone.
    pub fn restart(&self) {
        self.send(Command::Restart);
    }

    fn send(&self, command: Command) {
        // The receiver is gone when the batch is over, and then there is nothing left to do.
        let _ = self.0.send(command);
    }
}
