//! Goes on with a batch after the program itself was killed, from its record.

use std::sync::Arc;

use jp_policy_core::{record::RecordFile, request::Request};
use serde_json::{Map, Value as Json};

use super::response::Response;
use crate::tools::OPERATIONS;

/// A tool call, and the responses it has already. What has one is not run again.
#[derive(Debug, Clone)]
pub struct Resumed {
    /// The tool call.
    pub request: Request,
    /// What it answered, or what each of its operations did. Empty: nothing yet.
    pub responses: Vec<Option<Response>>,
}

impl From<Request> for Resumed {
    fn from(request: Request) -> Self {
        Self { request, responses: Vec::new() }
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
    let mut resumed: Vec<Resumed> = Vec::new();
    let mut last = None;
    for (call, known) in file.calls.iter().zip(&file.record.calls) {
        let response = call.response.clone().map(serde_json::from_value).transpose();
        let response = response.map_err(|error| ResumeError::Response {
            id: call.id.clone(),
            why: error.to_string(),
        })?;
        let arguments = match &call.invalid {
            Some(why) => Err(why.clone()),
            None => Ok(call.arguments.clone().unwrap_or_default()),
        };
        let Some(of) = &call.of else {
            let arguments = arguments.map(Arc::new);
            let request =
                Request { id: call.id.as_str().into(), name: call.tool.as_str().into(), arguments };
            resumed.push(Resumed { request, responses: vec![response] });
            continue;
        };
        // What was no object of arguments is put back as something that is none.
        let operation = arguments.map_or(Json::Null, Json::Object);
        match resumed.last_mut().filter(|_| last == Some(known.parent)) {
            Some(Resumed { request: Request { arguments: Ok(envelope), .. }, responses }) => {
                if let Some(Json::Array(operations)) = Arc::make_mut(envelope).get_mut(OPERATIONS) {
                    operations.push(operation);
                }
                responses.push(response);
            }
            _ => {
                let operations = Json::Array(vec![operation]);
                let envelope: Map<_, _> =
                    std::iter::once((OPERATIONS.to_owned(), operations)).collect();
                let arguments = Ok(envelope.into());
                let request =
                    Request { id: of.as_str().into(), name: call.tool.as_str().into(), arguments };
                resumed.push(Resumed { request, responses: vec![response] });
            }
        }
        last = Some(known.parent);
    }
    Ok(resumed)
}
