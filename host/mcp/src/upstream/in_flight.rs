//! The calls that a server has and has not answered yet: whom its progress and its questions are for.

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
pub(super) struct Call {
    id: RequestId,
    token: ProgressToken,
    pub(super) tool: String,
    pub(super) host: Arc<dyn Host>,
    pub(super) stop: Stop,
    /// Held while a question of this call is open.
    pub(super) turn: Arc<Mutex<()>>,
}

/// All of them, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<Vec<Call>>);

impl InFlight {
    /// Sends a call. Whatever the server says about it, it is known by then: the lock is held until it is.
    pub(super) async fn send(
        &self,
        peer: &Peer<RoleClient>,
        request: ClientRequest,
        tool: &str,
        host: Arc<dyn Host>,
        stop: Stop,
    ) -> Result<(RequestHandle<RoleClient>, Call), ServiceError> {
        let mut calls = self.0.lock().await;
        let options = PeerRequestOptions::no_options();
        let handle = peer.send_cancellable_request(request, options).await?;
        let call = Call {
            id: handle.id.clone(),
            token: handle.progress_token.clone(),
            tool: tool.to_owned(),
            host,
            stop,
            turn: Arc::default(),
        };
        calls.push(call.clone());
        Ok((handle, call))
    }

    /// Forgets a call: it is answered, or will not be.
    pub(super) async fn remove(&self, id: &RequestId) {
        self.0.lock().await.retain(|call| call.id != *id);
    }

    /// The call that this is the progress of.
    pub(super) async fn by_token(&self, token: &ProgressToken) -> Option<Call> {
        self.0.lock().await.iter().find(|call| call.token == *token).cloned()
    }

    /// The call that a question of the server belongs to.
    ///
    /// Only streamable HTTP says which it is. Elsewhere it is the first that has no question open: with one call at a time, which
    /// is what tools that ask should be limited to, that is the right one, and with more the answer reaches the right request
    /// all the same.
    pub(super) async fn asking(&self, origin: Option<&RequestId>) -> Option<Call> {
        let calls = self.0.lock().await;
        if let Some(origin) = origin {
            return calls.iter().find(|call| call.id == *origin).cloned();
        }
        let running = || calls.iter().filter(|call| !call.stop.gently.is_cancelled());
        let free = running().find(|call| call.turn.try_lock().is_ok());
        free.or_else(|| running().next()).cloned()
    }
}
