use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::SystemTime,
};

use jp_policy_core::{policy::Identity, scheduler::Options};
use jp_policy_guest::Settings;

use super::*;

/// Waits for the test before each line, and tells it.
struct Slow(Receiver<io::Result<()>>, Sender<Vec<u8>>);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.recv().expect("the test lets it")?;
        self.1.send(bytes.to_vec()).expect("the test listens");
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn header() -> Header {
    let settings = Settings { tools: vec![], keys: vec![], options: vec![] };
    let identity = Identity { name: "p".to_owned(), digest: None };
    Header::new(settings, Options::default(), |_| None, &identity, SystemTime::UNIX_EPOCH, false)
}

fn event(at: Instant) -> Entry {
    Entry::Event(Event { at, kind: EventKind::Cancelled }, None)
}

/// Whoever tells it something does not wait for the disk, and what it can't write is told once.
#[test]
fn a_slow_disk_keeps_nobody_waiting_and_a_full_one_is_told_of() {
    let ((let_in, lets), (tells, lines)) = (channel(), channel());
    let_in.send(Ok(())).expect("it is there");
    let mut recorder = Recorder::new(Slow(lets, tells), &header()).expect("the header is written");
    assert!(lines.recv().expect("the header").starts_with(b"{\"format\":"));
    for at in 0..10 {
        // Nothing is let through yet.
        recorder.put(event(at));
    }
    assert!(lines.try_recv().is_err());
    let_in.send(Ok(())).expect("it is there");
    assert_eq!(lines.recv().as_deref(), Ok(&b"{\"at\":0,\"event\":\"cancelled\"}\n"[..]));
    let_in.send(Err(io::ErrorKind::StorageFull.into())).expect("it is there");
    // After a failure nothing is written, not even the end.
    recorder.over();
    assert_eq!(recorder.failure().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    assert!(recorder.failure().is_none(), "it is told once");
    assert!(lines.recv().is_err(), "the record ends there");
}
