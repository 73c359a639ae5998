//! One call: sent, waited for, and really over in the end.

use std::time::Duration;

use jp_policy_core::outcome::Outcome;
use jp_policy_core::text::clean;
use jp_policy_runtime::tools::{GRACE, Invocation, Ran, Stop};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, ClientNotification, ClientRequest,
        CustomNotification, RequestId, ServerResult,
    },
    service::{RequestHandle, ServiceError},
};
use serde_json::json;
use tokio::time::timeout;

use super::{connection::Connection, content, error::McpError};

/// How long a server that is asked to stop a call may take to answer it. One that stops without an answer, as it may, can't be told
/// from one that goes on.
const ANSWER: Duration = GRACE;

/// Sends a call, and waits until the server has answered it, or is gone.
pub(super) async fn call(
    connection: &Connection,
    server: &str,
    name: &str,
    invocation: &Invocation,
    stop: &Stop,
) -> Ran {
    let tool = &invocation.tool;
    let params =
        CallToolRequestParams::new(name.to_owned()).with_arguments((*invocation.arguments).clone());
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let host = invocation.host.clone();
    let sent = tokio::select! {
        sent = connection.calls.send(&connection.peer, request, tool, host, stop.clone()) => sent,
        error = connection.over() => return ended(&error, tool),
    };
    let Ok((mut handle, call)) = sent else {
        return ended(&connection.broken().await, tool);
    };
    let id = handle.id.clone();
    let ran = wait(connection, server, tool, &mut handle, stop).await;
    if !ran.stopped {
        // A question may have been asked in its name for another call, and is not to be lost.
        let _turn = call.turn.lock().await;
    }
    connection.calls.remove(&id).await;
    ran
}

async fn wait(
    connection: &Connection,
    server: &str,
    tool: &str,
    handle: &mut RequestHandle<RoleClient>,
    stop: &Stop,
) -> Ran {
    let id = handle.id.clone();
    tokio::select! {
        biased;
        answer = &mut handle.rx => {
            let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
            answered(connection, server, tool, answer).await
        }
        error = connection.over() => ended(&error, tool),
        () = stop.now.cancelled() => {
            give_up(connection, tool).await;
            stopped(tool)
        }
        () = stop.gently.cancelled() => {
            let answer = async {
                cancel(connection, &id).await;
                // Whatever it answers: it does not work on it any more.
                let _ = (&mut handle.rx).await;
            };
            tokio::select! {
                answer = timeout(ANSWER, answer) => {
                    if answer.is_err() {
                        give_up(connection, tool).await;
                    }
                }
                _ = connection.over() => {}
                () = stop.now.cancelled() => give_up(connection, tool).await,
            }
            stopped(tool)
        }
    }
}

/// What came of a call that was cut short.
pub(super) fn stopped(tool: &str) -> Ran {
    Ran { stopped: true, ..Outcome::error(format!("tool `{tool}` was stopped")).into() }
}

fn ended(error: &McpError, tool: &str) -> Ran {
    error.outcome(tool).into()
}

async fn answered(
    connection: &Connection,
    server: &str,
    tool: &str,
    answer: Result<ServerResult, ServiceError>,
) -> Ran {
    let outcome = match answer {
        Ok(result) => content::outcome(server, tool, result),
        Err(ServiceError::McpError(error)) => {
            let message = clean(&error.message);
            McpError::Refused { server: server.to_owned(), message }.outcome(tool)
        }
        Err(ServiceError::TransportClosed) => return ended(&connection.broken().await, tool),
        // On the net the next one may get through.
        Err(ServiceError::TransportSend(error)) => {
            let message = clean(&super::http::of_transport(&error));
            McpError::Refused { server: server.to_owned(), message }.outcome(tool)
        }
        Err(error) => {
            let message = clean(&super::http::chain(&error));
            McpError::Refused { server: server.to_owned(), message }.outcome(tool)
        }
    };
    outcome.into()
}

/// Asks the server to stop a call. As the crate has it, a cancelled request has no answer any more; but its answer is what says
/// that it is over, so this is sent as if it were a notification that the crate doesn't know.
async fn cancel(connection: &Connection, id: &RequestId) {
    let params = json!({ "requestId": id, "reason": "the call was cancelled" });
    let notification = CustomNotification::new("notifications/cancelled", Some(params));
    let notification = ClientNotification::CustomNotification(notification);
    // One that can't be sent has no answer either.
    let _ = connection.peer.send_notification(notification).await;
}

/// Nothing but the end of the server ends the call.
async fn give_up(connection: &Connection, tool: &str) {
    let why = format!("was killed, because it did not stop a cancelled call of tool `{tool}`");
    connection.kill(why).await;
}
