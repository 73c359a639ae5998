//! Writes the record of a batch to a file while the batch runs.

use std::io::{self, Write};

use jp_policy_core::{
    batch::{CallId, Instant},
    record::{About, Header, Writer},
    scheduler::{Event, EventKind},
};

use super::observer::{Observer, Snapshot};

/// Of how many waiting calls the policy's reason is asked after each decision: those next in line. Each costs about a decision.
const REASONS: usize = 16;

/// An observer that writes a record file. What it can't write never stops the batch: see [`Recorder::failure`].
#[derive(Debug)]
pub struct Recorder<W> {
    writer: Writer<W>,
    failure: Option<io::Error>,
}

impl<W: Write> Recorder<W> {
    /// Begins a record with its header.
    pub fn new(out: W, header: &Header) -> io::Result<Self> {
        Ok(Self { writer: Writer::new(out, header)?, failure: None })
    }

    /// Why nothing more is written, told once.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Writes that the batch is over.
    pub fn over(&mut self) {
        let written = self.writer.over();
        self.keep(written);
    }

    fn keep(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failure = Some(error);
        }
    }
}

impl<W: Write + Send> Observer for Recorder<W> {
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>) {
        // Nothing else of a batch is as large as the responses, and only then one is written.
        let settles = matches!(event.kind, EventKind::Settled(..));
        let written = self.writer.event(event, |call| about(call, snapshot, settles));
        self.keep(written);
    }

    fn reasons(&self) -> usize {
        REASONS
    }

    fn reason(&mut self, at: Instant, call: CallId, reason: &str) {
        let written = self.writer.reason(at, call, reason);
        self.keep(written);
    }
}

fn about<'a>(call: CallId, snapshot: &Snapshot<'a>, settles: bool) -> About<'a> {
    let (Some(request), Some(known)) =
        (snapshot.request(call), snapshot.record.calls.get(call as usize))
    else {
        return About::default();
    };
    let response = snapshot.response(call).filter(|_| settles);
    About {
        id: &request.id,
        tool: &request.name,
        parent: known.parent,
        of: snapshot.operation_of(call),
        arguments: Some(request.arguments.as_deref().map_err(String::as_str)),
        // It is text and booleans: nothing in it can't be written.
        response: response.and_then(|response| serde_json::to_value(response).ok()),
    }
}
