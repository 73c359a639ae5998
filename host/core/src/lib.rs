//! Bounds and orders the tool calls of one batch by a release policy: the batch, the scheduler, what a policy is, its faults, the
//! default rules, and the record of what happened. It must never know a file, a clock, a task or a lock: what happens is told with
//! its time, and what has to be done comes out as data.

pub mod batch;
pub mod catalog;
pub mod description;
pub mod fan_out;
pub mod gate;
pub mod outcome;
pub mod policy;
pub mod prompt;
pub mod record;
pub mod request;
pub mod response;
pub mod run_end;
pub mod scheduler;
pub mod session;
pub mod settings;
pub mod terms;
pub mod text;
