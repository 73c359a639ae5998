//! The clock of a batch: it goes on while the machine sleeps.
//!
//! What a policy waits for is mostly the world outside, say a service that takes one request every two seconds, and there the
//! hours with a closed lid have passed too. A call's own timeout is another matter: its process could not run meanwhile, so that
//! is counted by a clock that stands still.

use std::{fmt, sync::Arc, time::Duration};

use jp_policy_core::batch::Instant;
use tokio::time::sleep;

/// How long a wake-up is waited for before the clock is looked at again: timers stand still while the machine sleeps. So late a
/// wake-up may be after that; otherwise it is kept to the millisecond.
const LOOK: Duration = Duration::from_secs(1);

/// Tells how much time has passed since some moment before the batch. It never goes back.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// The machine's, with the time in which it slept where the system counts that (Linux).
    pub fn system() -> Self {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        return Self::new(|| {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
            // The machine was started at zero.
            Duration::try_from(now).unwrap_or_default()
        });
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            let start = std::time::Instant::now();
            Self::new(move || start.elapsed())
        }
    }

    /// Another one.
    pub fn new(elapsed: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(elapsed))
    }

    pub(super) fn elapsed(&self) -> Duration {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.elapsed()).finish()
    }
}

/// Waits until then, or until it is time to look at the clock.
pub(super) async fn wait(now: Instant, at: Instant) {
    sleep(Duration::from_nanos(at.saturating_sub(now)).min(LOOK)).await;
}
