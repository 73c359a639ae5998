//! Sessions of HTTP clients: their calls are handed in in the order in which they come, and those of a client that has gone are
//! cancelled.

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

use super::{Desk, Ordered};

/// How long a client whose connection was lost may take to come back for the answer.
const COME_BACK: Duration = Duration::from_secs(10);

/// How long a session is kept that nobody uses. A call may take long and say nothing meanwhile.
const IDLE: Duration = Duration::from_hours(24);

type Inner = LocalSessionManager;
type Error = <Inner as SessionManager>::Error;

/// The sessions of all clients.
pub(super) struct Sessions {
    inner: Arc<Inner>,
    desk: Arc<Desk>,
    /// How often each has come back for an answer.
    returns: Mutex<HashMap<SessionId, Arc<AtomicU64>>>,
}

impl Sessions {
    /// None yet.
    pub(super) fn new(desk: Arc<Desk>) -> Self {
        let mut inner = Inner::default();
        inner.session_config.keep_alive = Some(IDLE);
        Self { inner: Arc::new(inner), desk, returns: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<AtomicU64>>> {
        self.returns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = Ordered<<Inner as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let (id, transport) = self.inner.create_session().await?;
        self.lock().insert(id.clone(), Arc::default());
        Ok((id, Ordered::new(transport, self.desk.clone())))
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
        let returns = self.lock().get(id).cloned();
        let stream = self.inner.create_stream(id, message).await?;
        let waited_for = request.zip(returns).map(|(request, returns)| WaitedFor {
            sessions: self.inner.clone(),
            session: id.clone(),
            request,
            returns,
        });
        Ok(Answer { stream: Box::pin(stream), waited_for })
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
        if let Some(returns) = self.lock().get(id) {
            returns.fetch_add(1, Ordering::Relaxed);
        }
        self.inner.resume(id, last_event_id).await
    }
}

/// The answer to a request, message by message.
struct Answer {
    stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    /// Until the last message.
    waited_for: Option<WaitedFor>,
}

impl Stream for Answer {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.stream.as_mut().poll_next(context);
        if let Poll::Ready(None) = next {
            self.waited_for = None;
        }
        next
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // The connection was lost before the answer was given.
        if let (Some(waited_for), Ok(runtime)) =
            (self.waited_for.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(waited_for.leave());
        }
    }
}

/// A request that a client waits for.
struct WaitedFor {
    sessions: Arc<Inner>,
    session: SessionId,
    request: RequestId,
    returns: Arc<AtomicU64>,
}

impl WaitedFor {
    /// Cancels the request, unless the client comes back.
    async fn leave(self) {
        let before = self.returns.load(Ordering::Relaxed);
        tokio::time::sleep(COME_BACK).await;
        if self.returns.load(Ordering::Relaxed) != before {
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
