//! The Host on tokio: drives one [`Session`](jp_policy_core::session::Session) with real tools, real people and a real clock.
//!
//! A [`Coordinator`] serves one batch. Everything that happens (a run ended, a person replied, the policy answered, a command came in,
//! a wake-up is due) reaches one loop, which tells the session and does what the session says. Nothing else touches the session, so
//! there is no lock. A policy that has answered in a moment so far is asked in the loop, with a moment's budget; any other on another
//! thread: one that hangs delays releases until its budget ends it, and nothing else.

mod clock;
mod deadline;
mod driver;
mod execution;
mod handle;
mod observer;
mod prompter;
mod recorder;
mod resume;

pub use clock::Clock;
pub use driver::{Coordinator, Finished, PolicyCost, Setup};
pub use handle::{Handle, Submitter, Ticket, Withdrawal};
pub use observer::{Observer, Snapshot};
pub use prompter::{AutoPrompter, Prompter, Replying};
pub use recorder::Recorder;
pub use resume::{ResumeError, resumed};
