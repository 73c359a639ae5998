//! The clock's thread: it ticks while a question is open, and sleeps otherwise.
//!
//! This is the one place of the library where threads share state by hand, so its interleavings are modelled: see
//! `tests/models`, which builds this very file with a scheduler's threads and atomics in the place of the real ones.

use std::time::Duration;

use super::threads::{
    Arc, AtomicBool, AtomicUsize, JoinHandle, Ordering, Pause, Thread, park, spawn,
};

/// How often the clock ticks while a question is open: a tenth of the default budget of time, and rare enough not to matter.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// A thread that advances the engine's epoch while a question is open.
pub(super) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
    handle: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    open: AtomicUsize,
    asleep: AtomicBool,
    done: AtomicBool,
}

impl Ticker {
    pub(super) fn start(tick: impl Fn() + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let handle = spawn("policy-clock", {
            let shared = shared.clone();
            move || shared.run(tick)
        });
        Self { shared, thread: handle.thread().clone(), handle: Some(handle) }
    }

    /// Keeps it ticking while the guard lives.
    pub(super) fn open(&self) -> Watch<'_> {
        self.shared.open.fetch_add(1, Ordering::SeqCst);
        // Waking costs more than a whole question, so only who sleeps is woken: at most once a tick.
        if self.shared.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        Watch(&self.shared)
    }
}

impl Shared {
    fn run(&self, tick: impl Fn()) {
        while !self.done.load(Ordering::SeqCst) {
            if self.open.load(Ordering::SeqCst) == 0 {
                self.asleep.store(true, Ordering::SeqCst);
                // A question that opened in between has either been seen here or sees `asleep`.
                if self.open.load(Ordering::SeqCst) == 0 && !self.done.load(Ordering::SeqCst) {
                    park();
                }
                self.asleep.store(false, Ordering::SeqCst);
            } else {
                self.sleep();
                tick();
            }
        }
    }

    /// Lets a tick pass; less, if the clock is to stop: whoever drops it should not have to wait for the tick.
    fn sleep(&self) {
        let mut tick = Pause::begin(TICK);
        while !self.done.load(Ordering::SeqCst) && !tick.is_over() {
            tick.go_on();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::SeqCst);
        self.thread.unpark();
        if let Some(handle) = self.handle.take() {
            // It can't have panicked, and there is nobody to tell.
            let _ = handle.join();
        }
    }
}

/// The clock ticks while this lives.
pub(super) struct Watch<'a>(&'a Shared);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}
