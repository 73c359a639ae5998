//! Sends a call, waits for its answer, and cancels it.

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

/// How long a server may take to answer a call that was cancelled. A server may also stop without an answer, but that can't be told
/// from one that goes on.
const CANCEL_TIMEOUT: Duration = GRACE;

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
        error = connection.closed() => return ended(&error, tool),
    };
    let Ok((mut handle, call)) = sent else {
        return ended(&connection.broken().await, tool);
    };
    let id = handle.id.clone();
    let ran = wait(connection, server, tool, &mut handle, stop).await;
    if !ran.stopped {
        // A question that was asked in its name may belong to another call, and its answer is not to be lost.
        let _open = call.prompt_lock.lock().await;
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
        error = connection.closed() => ended(&error, tool),
        () = stop.now.cancelled() => {
            kill_server(connection, tool).await;
            stopped(tool)
        }
        () = stop.gently.cancelled() => {
            let answer = async {
                cancel(connection, &id).await;
                // Any answer says that the server does not work on the call any more.
                let _ = (&mut handle.rx).await;
            };
            tokio::select! {
                answer = timeout(CANCEL_TIMEOUT, answer) => {
                    if answer.is_err() {
                        kill_server(connection, tool).await;
                    }
                }
                _ = connection.closed() => {}
                () = stop.now.cancelled() => kill_server(connection, tool).await,
            }
            stopped(tool)
        }
    }
}

/// What comes of a call that was stopped.
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
        // Over HTTP the next request may get through.
        Err(ServiceError::TransportSend(error)) => {
            let message = clean(&super::http::transport_error(&error));
            McpError::Refused { server: server.to_owned(), message }.outcome(tool)
        }
        Err(error) => {
            let message = clean(&super::http::with_causes(&error));
            McpError::Refused { server: server.to_owned(), message }.outcome(tool)
        }
    };
    outcome.into()
}

/// Asks the server to stop a call. rmcp drops the answer to a request that it cancels itself; but the answer is what says that the
/// call is over, so this is sent as a custom notification.
async fn cancel(connection: &Connection, id: &RequestId) {
    let params = json!({ "requestId": id, "reason": "the call was cancelled" });
    let notification = CustomNotification::new("notifications/cancelled", Some(params));
    let notification = ClientNotification::CustomNotification(notification);
    // If it can't be sent, there will be no answer either.
    let _ = connection.peer.send_notification(notification).await;
}

/// Ends a call that the server did not stop, by ending the server.
async fn kill_server(connection: &Connection, tool: &str) {
    let why = format!("was killed, because it did not stop a cancelled call of tool `{tool}`");
    connection.kill(why).await;
}
