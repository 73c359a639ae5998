//! The record of a batch: what happened when. In memory it is a [`Record`]; in a file it is lines of JSON ([`Writer`],
//! [`RecordFile`]), which a program that is killed leaves readable.

mod line;
mod log;
mod model;
mod read;
mod steps;

pub use line::{FanOutHeader, Header, How, KeyHeader, PolicyHeader, ToolHeader};
pub use log::{About, Writer};
pub use model::{CallRecord, Record, Run, Span};
pub use read::{Conclusion, ReadError, RecordFile, RecordedCall, RecordedFault, RecordedReason};
