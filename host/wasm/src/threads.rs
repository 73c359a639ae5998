//! Threads and atomics as the clock needs them; a model has others in their place.

pub(super) use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{JoinHandle, Thread, park},
};
use std::{
    thread::{Builder, park_timeout},
    time::{Duration, Instant},
};

pub(super) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    Builder::new().name(name.to_owned()).spawn(run).expect("a thread can be started")
}

/// A pause that whoever unparks the thread interrupts, but does not end.
pub(super) struct Pause(Instant);

impl Pause {
    pub(super) fn begin(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.0
    }

    pub(super) fn go_on(&mut self) {
        park_timeout(self.0.saturating_duration_since(Instant::now()));
    }
}
