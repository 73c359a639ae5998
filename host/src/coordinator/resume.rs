//! Goes on with a batch after the program itself was killed, from its record.

use super::response::Response;
use crate::{message::Request, record::RecordFile};

/// A call of a batch, and its response if it has one already. One that has is not run again.
#[derive(Debug, Clone)]
pub struct Resumed {
    /// The call.
    pub request: Request,
    /// What it answered.
    pub response: Option<Response>,
}

impl From<Request> for Resumed {
    fn from(request: Request) -> Self {
        Self { request, response: None }
    }
}

/// Why a record is not enough to go on from.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The arguments are not in it.
    #[error(
        "it has no arguments: only what `run --record FILE --record-arguments` has written can be gone on with"
    )]
    NoArguments,
    /// A response is not one.
    #[error("the response of call `{id}` can't be read: {why}")]
    Response {
        /// The call.
        id: String,
        /// What is wrong with it.
        why: String,
    },
}

/// The calls of a record in written order, for [`Coordinator::resume`](super::Coordinator::resume). A call that had started and
/// has no response is among those that run again: the program can't know how far it came.
pub fn resumed(file: &RecordFile) -> Result<Vec<Resumed>, ResumeError> {
    if !file.header.arguments {
        return Err(ResumeError::NoArguments);
    }
    let calls = file.calls.iter().map(|call| {
        let response = call.response.clone().map(serde_json::from_value).transpose();
        let response = response.map_err(|error| ResumeError::Response {
            id: call.id.clone(),
            why: error.to_string(),
        })?;
        let arguments = match &call.invalid {
            Some(why) => Err(why.clone()),
            None => Ok(call.arguments.clone().unwrap_or_default()),
        };
        let request = Request { id: call.id.clone(), name: call.tool.clone(), arguments };
        Ok(Resumed { request, response })
    });
    calls.collect()
}
