//! Writes the record of a batch to a file while the batch runs, on a thread of its own: neither a slow disk nor a large result
//! keeps the loop waiting.

use std::{
    io::{self, Write},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use jp_policy_core::{
    batch::{CallId, Instant},
    record::{About, Header, Writer},
    request::Request,
    response::Response,
    scheduler::{Event, EventKind},
};

use super::observer::{Observer, Snapshot};

/// Of how many waiting calls the policy's reason is asked after each decision: those next in line. Each costs about a decision.
const REASONS: usize = 16;

/// How many entries may wait to be written. Beyond that the batch waits for the disk: memory is not for a record that can't keep up.
const BACKLOG: usize = 4096;

/// An observer that writes a record. What it can't write never stops the batch: see [`Recorder::failure`].
#[derive(Debug)]
pub struct Recorder {
    entries: Option<SyncSender<Entry>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

/// Something to be written.
enum Entry {
    Event(Event, Option<Box<Known>>),
    Reason(Instant, CallId, String),
    Over,
}

/// What is known of the call of an event.
struct Known {
    request: Request,
    parent: u32,
    of: Option<String>,
    response: Option<Response>,
}

impl Recorder {
    /// Begins a record with its header, which is written before this returns.
    pub fn new(out: impl Write + Send + 'static, header: &Header) -> io::Result<Self> {
        let mut writer = Writer::new(out, header)?;
        let (entries, written) = sync_channel(BACKLOG);
        let failure = Arc::new(Mutex::new(None));
        let failed = failure.clone();
        let thread = thread::Builder::new().name("record".to_owned()).spawn(move || {
            for entry in written {
                if let Err(error) = write(&mut writer, entry) {
                    // After it the writer writes nothing more, and says nothing more.
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
            }
        })?;
        Ok(Self { entries: Some(entries), thread: Some(thread), failure })
    }

    /// Why nothing more is written, told once.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Writes that the batch is over, and waits until all is written.
    pub fn over(&mut self) {
        self.put(Entry::Over);
        self.finish();
    }

    fn put(&self, entry: Entry) {
        if let Some(entries) = &self.entries {
            // The thread ends with the last entry only.
            let _ = entries.send(entry);
        }
    }

    fn finish(&mut self) {
        self.entries = None;
        if let Some(thread) = self.thread.take() {
            // It only writes; if it failed at that, the record ends where it does.
            let _ = thread.join();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Observer for Recorder {
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>) {
        let known = match event.kind {
            EventKind::Submitted(call) | EventKind::Parked(call) => known(call, snapshot, false),
            // Nothing else of a batch is as large as the responses, and only then one is written.
            EventKind::Settled(call, _) => known(call, snapshot, true),
            _ => None,
        };
        self.put(Entry::Event(event.clone(), known.map(Box::new)));
    }

    fn reasons(&self) -> usize {
        REASONS
    }

    fn reason(&mut self, at: Instant, call: CallId, reason: &str) {
        self.put(Entry::Reason(at, call, reason.to_owned()));
    }
}

fn known(call: CallId, snapshot: &Snapshot<'_>, settles: bool) -> Option<Known> {
    Some(Known {
        request: snapshot.request(call)?.clone(),
        parent: snapshot.record.calls.get(call as usize)?.parent,
        of: snapshot.operation_of(call).map(str::to_owned),
        response: snapshot.response(call).filter(|_| settles).cloned(),
    })
}

fn write<W: Write>(writer: &mut Writer<W>, entry: Entry) -> io::Result<()> {
    match entry {
        Entry::Event(event, known) => writer.event(&event, |_| match known.as_deref() {
            Some(Known { request, parent, of, response }) => About {
                id: &request.id,
                tool: &request.name,
                parent: *parent,
                of: of.as_deref(),
                arguments: Some(request.arguments.as_deref().map_err(String::as_str)),
                // It is text and booleans: nothing in it can't be written.
                response: response
                    .as_ref()
                    .and_then(|response| serde_json::to_value(response).ok()),
            },
            None => About::default(),
        }),
        Entry::Reason(at, call, reason) => writer.reason(at, call, &reason),
        Entry::Over => writer.over(),
    }
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
