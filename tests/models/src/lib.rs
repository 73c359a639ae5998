//! Interleavings of what threads share by hand, as a model: every atomic and every thread is the scheduler's, which tries the
//! orders out.
//!
//! That is the clock of the policies' engine. The coordinator shares nothing: one task owns the scheduler, the calls and the
//! responses, and the rest reaches it as messages in tokio's channels, which are modelled where they are made. What its order of
//! messages has to be is tested with real threads, in `tests/coordinator`.

#![cfg(test)]

use std::time::Duration;

use shuttle::sync::{Condvar, Mutex};

/// The scheduler's, in the place of `policy/wasm/threads.rs`.
mod threads {
    use std::time::Duration;

    pub(super) use shuttle::{
        sync::{
            Arc,
            atomic::{AtomicBool, AtomicUsize, Ordering},
        },
        thread::{JoinHandle, Thread, park},
    };

    pub(super) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        let builder = shuttle::thread::Builder::new().name(name.to_owned());
        builder.spawn(run).expect("a thread can be started")
    }

    /// A pause that may end at any time.
    pub(super) struct Pause(bool);

    impl Pause {
        pub(super) fn begin(_: Duration) -> Self {
            Self(false)
        }

        pub(super) fn is_over(&self) -> bool {
            self.0
        }

        pub(super) fn go_on(&mut self) {
            shuttle::thread::yield_now();
            self.0 = true;
        }
    }
}

#[path = "../../../host/wasm/src/ticker.rs"]
mod ticker;

use threads::Arc;
use ticker::Ticker;

/// How many orders are tried out at random, and how many with a few preemptions at the worst moments.
const ORDERS: usize = 5_000;

fn explore(model: impl Fn() + Send + Sync + Copy + 'static) {
    assert_eq!(ticker::TICK, Duration::from_millis(10), "the clock of the library");
    shuttle::check_random(model, ORDERS);
    shuttle::check_pct(model, ORDERS, 3);
}

/// Counts ticks, and lets others wait for them.
#[derive(Clone, Default)]
struct Ticks(Arc<(Mutex<u32>, Condvar)>);

impl Ticks {
    fn tick(&self) {
        *self.0.0.lock().expect("no panic") += 1;
        self.0.1.notify_all();
    }

    /// Waits for a tick after this moment; never ends if the clock sleeps on.
    fn next(&self) {
        let mut count = self.0.0.lock().expect("no panic");
        let before = *count;
        while *count == before {
            count = self.0.1.wait(count).expect("no panic");
        }
    }
}

fn ticker(ticks: &Ticks) -> Ticker {
    let ticks = ticks.clone();
    Ticker::start(move || ticks.tick())
}

/// A question that is open sees the clock tick, however the clock was about to fall asleep; and a dropped clock ends.
#[test]
fn an_open_question_sees_ticks() {
    explore(|| {
        let ticks = Ticks::default();
        let ticker = ticker(&ticks);
        for _ in 0..2 {
            let watch = ticker.open();
            ticks.next();
            drop(watch);
        }
    });
}

/// The same for two at once, of which one may close while the other has just opened.
#[test]
fn two_open_questions_see_ticks() {
    explore(|| {
        let ticks = Ticks::default();
        let ticker = Arc::new(ticker(&ticks));
        let others = [0; 2].map(|_| {
            let (ticker, ticks) = (ticker.clone(), ticks.clone());
            shuttle::thread::spawn(move || {
                let _watch = ticker.open();
                ticks.next();
            })
        });
        for other in others {
            other.join().expect("it sees a tick");
        }
    });
}

/// A clock that nobody asked for ends when it is dropped, also just as it falls asleep.
#[test]
fn a_clock_that_is_dropped_ends() {
    explore(|| {
        let ticks = Ticks::default();
        let ticker = ticker(&ticks);
        drop(ticker.open());
        drop(ticker);
    });
}
