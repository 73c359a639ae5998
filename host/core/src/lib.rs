//! Bounds and orders the tool calls of one batch by a release policy: the batch, the scheduler, what a policy is, its faults, the
//! default rules, and the record of what happened. It must never know a file, a clock, a task or a lock: what happens is told with
//! its time, and what has to be done comes out as data.

pub mod batch;
pub mod policy;
pub mod record;
pub mod request;
pub mod scheduler;
pub mod terms;
pub mod text;
