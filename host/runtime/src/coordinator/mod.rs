//! The Host's event loop: joins the scheduler, the tool server and the people.
//!
//! A [`Coordinator`] serves one batch. Everything that happens (an execution ran, a person replied, the policy answered, a
//! command came in, a wake-up is due) reaches one loop, which tells the scheduler and does what the scheduler's events say.
//! Nothing else touches the scheduler, so there is no lock, and nothing to model but the channels, which are tokio's. A policy
//! that has answered in a moment so far is asked in the loop, with a moment's budget; any other on another thread: one that hangs
//! delays releases until its budget ends it, and nothing else.

mod asking;
mod clock;
mod control;
mod event_loop;
mod executions;
mod line;
mod parents;
mod people;
mod prompts;
mod recorder;
mod response;
mod resume;

pub use clock::Clock;
pub use control::{Handle, Submitter, Ticket, Withdrawal};
pub use event_loop::{Coordinator, Finished, Observer, PolicyCost, Setup, Snapshot};
pub use people::{Approval, Nobody, People, Prompt, Reply, Review};
pub use recorder::Recorder;
pub use response::{Response, Status};
pub use resume::{ResumeError, Resumed, resumed};
