//! Fixes the written order of calls where their frames are read.

use std::sync::{Arc, Mutex, PoisonError};

use jp_policy_core::policy::Refusal;
use rmcp::{
    RoleServer,
    model::{ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage, JsonRpcRequest},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};

use super::{Desk, Pending, leaving::Calls};

/// A connection whose calls are handed to the desk as they are read.
///
/// What serves the connection spawns a task for each request, and tasks begin in any order. So the calls are handed in before
/// that, here, one after the other, and the task finds what it waits for in its request.
pub struct Ordered<T> {
    inner: T,
    desk: Arc<Desk>,
    calls: Arc<Calls>,
}

/// A call that was handed in when its frame was read; taken by who answers it.
#[derive(Clone)]
pub(super) struct HandedIn(Arc<Mutex<Option<Result<Pending, Refusal>>>>);

impl HandedIn {
    pub(super) fn take(&self) -> Option<Result<Pending, Refusal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Ordered<T> {
    /// A connection in front of a desk.
    pub fn new(inner: T, desk: Arc<Desk>) -> Self {
        Self { inner, desk, calls: Arc::default() }
    }

    fn hand_in(&self, message: &mut RxJsonRpcMessage<RoleServer>) {
        let JsonRpcMessage::Request(JsonRpcRequest { request, .. }) = message else {
            return;
        };
        let watched = request.get_meta().get_progress_token().is_some();
        let ClientRequest::CallToolRequest(request) = request else {
            return;
        };
        // Who answers takes the call from the request, and has no use for its arguments.
        let arguments = request.params.arguments.take().unwrap_or_default();
        let pending = self.desk.submit(request.params.name.to_string(), arguments, watched);
        let pending = pending.map(|pending| pending.on(self.calls.clone()));
        let handed_in = HandedIn(Arc::new(Mutex::new(Some(pending))));
        request.extensions_mut().insert(handed_in);
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Ordered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let Some(mut message) = self.inner.receive().await else {
            self.calls.leave();
            return None;
        };
        self.hand_in(&mut message);
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
