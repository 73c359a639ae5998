//! Sessions of HTTP clients: their calls are submitted in the order in which they come, and those of a client whose connection is
//! lost are cancelled.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use rmcp::{
    model::{
        CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage,
        ClientNotification, RequestId, ServerJsonRpcMessage,
    },
    transport::{
        common::server_side_http::ServerSseMessage,
        streamable_http_server::{SessionId, SessionManager, session::local::LocalSessionManager},
    },
};

use super::{Dispatcher, Ingress};

/// How long a client whose connection was lost may take to resume the answer.
const RESUME_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a session without any message is kept. A call may take long and report nothing meanwhile.
const IDLE_TIMEOUT: Duration = Duration::from_hours(24);

type Inner = LocalSessionManager;
type Error = <Inner as SessionManager>::Error;

/// The sessions of all clients.
pub(super) struct Sessions {
    inner: Arc<Inner>,
    dispatcher: Arc<Dispatcher>,
    /// How often each session has resumed an answer.
    resumed: Mutex<HashMap<SessionId, Arc<AtomicU64>>>,
}

impl Sessions {
    /// No sessions yet.
    pub(super) fn new(dispatcher: Arc<Dispatcher>) -> Self {
        let mut inner = Inner::default();
        inner.session_config.keep_alive = Some(IDLE_TIMEOUT);
        Self { inner: Arc::new(inner), dispatcher, resumed: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<AtomicU64>>> {
        self.resumed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = Ingress<<Inner as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let (id, transport) = self.inner.create_session().await?;
        self.lock().insert(id.clone(), Arc::default());
        Ok((id, Ingress::new(transport, self.dispatcher.clone())))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.lock().remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let resumed = self.lock().get(id).cloned();
        let stream = self.inner.create_stream(id, message).await?;
        let request = request.zip(resumed).map(|(request, resumed)| OpenRequest {
            sessions: self.inner.clone(),
            session: id.clone(),
            request,
            resumed,
        });
        Ok(Answer { stream: Box::pin(stream), request })
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        if let Some(resumed) = self.lock().get(id) {
            resumed.fetch_add(1, Ordering::Relaxed);
        }
        self.inner.resume(id, last_event_id).await
    }
}

/// The answer to a request, message by message.
struct Answer {
    stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    /// Until the last message.
    request: Option<OpenRequest>,
}

impl Stream for Answer {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.stream.as_mut().poll_next(context);
        if let Poll::Ready(None) = next {
            self.request = None;
        }
        next
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // The connection was lost before the answer was given.
        if let (Some(request), Ok(runtime)) =
            (self.request.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(request.cancel_unless_resumed());
        }
    }
}

/// A request without an answer.
struct OpenRequest {
    sessions: Arc<Inner>,
    session: SessionId,
    request: RequestId,
    resumed: Arc<AtomicU64>,
}

impl OpenRequest {
    /// Cancels the request, unless the client resumes the session in time.
    async fn cancel_unless_resumed(self) {
        let before = self.resumed.load(Ordering::Relaxed);
        tokio::time::sleep(RESUME_TIMEOUT).await;
        if self.resumed.load(Ordering::Relaxed) != before {
            return;
        }
        let reason = "the client has gone".to_owned();
        let params = CancelledNotificationParam::new(Some(self.request), Some(reason));
        let cancelled = CancelledNotification::new(params);
        let cancelled = ClientNotification::CancelledNotification(cancelled);
        // A session that is over has cancelled it already.
        let _ = self
            .sessions
            .accept_message(&self.session, ClientJsonRpcMessage::notification(cancelled))
            .await;
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
