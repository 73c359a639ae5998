//! Goes on with a batch after the program itself was killed, from its record.

use std::sync::Arc;

use jp_policy_core::{
    fan_out::OPERATIONS,
    record::RecordFile,
    request::Request,
    response::{Response, Status},
    session::Submission,
};
use serde_json::{Map, Value as Json};

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
pub fn resumed(file: &RecordFile) -> Result<Vec<Submission>, ResumeError> {
    if !file.header.arguments {
        return Err(ResumeError::NoArguments);
    }
    let mut resumed: Vec<Submission> = Vec::new();
    let mut last = None;
    for (call, known) in file.calls.iter().zip(&file.record.calls) {
        let response = call.response.clone().map(serde_json::from_value).transpose();
        let mut response: Option<Response> = response.map_err(|error| ResumeError::Response {
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
            resumed.push(Submission { responses: vec![response], ..request.into() });
            continue;
        };
        // One that was cancelled before it began has stopped no other.
        if let Some(response) = &mut response
            && response.status == Status::Cancelled
            && known.runs.is_empty()
        {
            response.status = Status::NotRun;
        }
        // What was no object of arguments is put back as something that is none.
        let operation = arguments.map_or(Json::Null, Json::Object);
        match resumed.last_mut().filter(|_| last == Some(known.parent)) {
            Some(Submission {
                request: Request { arguments: Ok(envelope), .. },
                responses,
                ..
            }) => {
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
                resumed.push(Submission { responses: vec![response], ..request.into() });
            }
        }
        last = Some(known.parent);
    }
    Ok(resumed)
}
