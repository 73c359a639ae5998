//! Fixes the written order of calls where their frames are read.

use std::sync::{Arc, Mutex, PoisonError};

use jp_policy_core::policy::Refusal;
use rmcp::{
    RoleServer,
    model::{ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage, JsonRpcRequest},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};

use super::{CallHandle, Dispatcher, connection_calls::ConnectionCalls};

/// A connection whose calls are submitted as they are read.
///
/// What serves the connection spawns a task for each request, and tasks begin in any order. So the calls are submitted before
/// that, here, one after the other, and the task finds the call's handle in its request.
pub struct Ingress<T> {
    inner: T,
    dispatcher: Arc<Dispatcher>,
    calls: Arc<ConnectionCalls>,
}

/// A call that was submitted when its frame was read; a request has it as an extension.
#[derive(Clone)]
pub(super) struct Submitted(Arc<Mutex<Option<Result<CallHandle, Refusal>>>>);

impl Submitted {
    /// Takes the call out, once.
    pub(super) fn take(&self) -> Option<Result<CallHandle, Refusal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Ingress<T> {
    /// A connection whose calls go to this dispatcher.
    pub fn new(inner: T, dispatcher: Arc<Dispatcher>) -> Self {
        Self { inner, dispatcher, calls: Arc::default() }
    }

    fn submit(&self, message: &mut RxJsonRpcMessage<RoleServer>) {
        let JsonRpcMessage::Request(JsonRpcRequest { request, .. }) = message else {
            return;
        };
        let watched = request.get_meta().get_progress_token().is_some();
        let ClientRequest::CallToolRequest(request) = request else {
            return;
        };
        // The handler takes the call from the request, and has no use for its arguments.
        let arguments = request.params.arguments.take().unwrap_or_default();
        let call = self.dispatcher.submit(request.params.name.to_string(), arguments, watched);
        let call = call.map(|call| call.on(self.calls.clone()));
        request.extensions_mut().insert(Submitted(Arc::new(Mutex::new(Some(call)))));
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Ingress<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let Some(mut message) = self.inner.receive().await else {
            self.calls.disconnect();
            return None;
        };
        self.submit(&mut message);
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
