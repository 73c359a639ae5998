//! The calls that a server has not answered yet, to which its progress and its elicitations belong.

use std::sync::Arc;

use jp_policy_runtime::tools::{Host, Stop};
use rmcp::{
    RoleClient,
    model::{ClientRequest, ProgressToken, RequestId},
    service::{Peer, PeerRequestOptions, RequestHandle, ServiceError},
};
use tokio::sync::Mutex;

/// A call that was sent and is not answered.
#[derive(Debug, Clone)]
pub(super) struct InFlightCall {
    id: RequestId,
    token: ProgressToken,
    pub(super) tool: String,
    pub(super) host: Arc<dyn Host>,
    pub(super) stop: Stop,
    /// Held while an elicitation of this call is open.
    pub(super) prompt_lock: Arc<Mutex<()>>,
}

/// The calls in flight, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct InFlightCalls(Mutex<Vec<InFlightCall>>);

impl InFlightCalls {
    /// Sends a call. The lock is held until the call is known, so nothing that the server sends about it is lost.
    pub(super) async fn send(
        &self,
        peer: &Peer<RoleClient>,
        request: ClientRequest,
        tool: &str,
        host: Arc<dyn Host>,
        stop: Stop,
    ) -> Result<(RequestHandle<RoleClient>, InFlightCall), ServiceError> {
        let mut calls = self.0.lock().await;
        let options = PeerRequestOptions::no_options();
        let handle = peer.send_cancellable_request(request, options).await?;
        let call = InFlightCall {
            id: handle.id.clone(),
            token: handle.progress_token.clone(),
            tool: tool.to_owned(),
            host,
            stop,
            prompt_lock: Arc::default(),
        };
        calls.push(call.clone());
        Ok((handle, call))
    }

    /// Removes a call: it is answered, or never will be.
    pub(super) async fn remove(&self, id: &RequestId) {
        self.0.lock().await.retain(|call| call.id != *id);
    }

    /// The call with this progress token.
    pub(super) async fn by_token(&self, token: &ProgressToken) -> Option<InFlightCall> {
        self.0.lock().await.iter().find(|call| call.token == *token).cloned()
    }

    /// The call that an elicitation belongs to.
    ///
    /// Only streamable HTTP has an origin. Elsewhere it is the first call without an open elicitation: with one call at a time,
    /// which is what tools that ask should be limited to, that is the right one, and with more the answer reaches the right
    /// request all the same.
    pub(super) async fn by_origin(&self, origin: Option<&RequestId>) -> Option<InFlightCall> {
        let calls = self.0.lock().await;
        if let Some(origin) = origin {
            return calls.iter().find(|call| call.id == *origin).cloned();
        }
        let running = || calls.iter().filter(|call| !call.stop.gently.is_cancelled());
        let free = running().find(|call| call.prompt_lock.try_lock().is_ok());
        free.or_else(|| running().next()).cloned()
    }
}
