//! A configured server: started when a call needs it, and again after it has ended.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use jp_policy_config::McpServer;
use jp_policy_runtime::tools::{ProcessWatch, Stop};
use tokio::sync::{Mutex, watch};

use super::{
    connection::{Connection, StartContext, until_stopped},
    error::McpError,
};

/// A configured server.
pub(super) struct Upstream {
    server: McpServer,
    root: PathBuf,
    pub(super) watch: Option<Arc<dyn ProcessWatch>>,
    /// Notified when the server says that its list of tools has changed.
    list_changed: watch::Sender<()>,
    state: Mutex<State>,
    /// How often a start was attempted.
    attempts: AtomicU64,
    /// A test is the server at the other end of these pipes.
    #[cfg(test)]
    pub(super) pipes: Option<Box<dyn Fn() -> tokio::io::DuplexStream + Send + Sync>>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    /// The number of the last attempt that failed, and why.
    failed: Option<(u64, McpError)>,
    closed: bool,
}

impl Upstream {
    pub(super) fn new(server: McpServer, root: PathBuf, list_changed: watch::Sender<()>) -> Self {
        Self {
            server,
            root,
            watch: None,
            list_changed,
            state: Mutex::default(),
            attempts: AtomicU64::new(0),
            #[cfg(test)]
            pipes: None,
        }
    }

    /// The connection to the server, which is started if it does not run. Who calls this while it starts shares the attempt, and
    /// its error.
    pub(super) async fn connection(&self, stop: &Stop) -> Result<Arc<Connection>, McpError> {
        let seen = self.attempts.load(Ordering::SeqCst);
        let mut state = tokio::select! {
            state = self.state.lock() => state,
            () = until_stopped(stop) => {
                return Err(McpError::Stopped { server: self.server.name.clone() });
            }
        };
        if let Some(connection) = &state.connection
            && connection.is_open()
        {
            return Ok(connection.clone());
        }
        match &state.failed {
            Some((attempts, error)) if *attempts > seen => return Err(error.clone()),
            _ => {}
        }
        if state.closed {
            return Err(McpError::Gone {
                server: self.server.name.clone(),
                why: "was ended".to_owned(),
                stderr: String::new(),
            });
        }
        if let Some(old) = state.connection.take() {
            // Two processes of one server might disturb each other.
            old.close().await;
        }
        let started = self.start(stop).await;
        let attempts = self.attempts.fetch_add(1, Ordering::SeqCst) + 1;
        match started {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.connection = Some(connection.clone());
                Ok(connection)
            }
            // Only this caller was stopped: the others try again.
            Err(error @ McpError::Stopped { .. }) => Err(error),
            Err(error) => {
                state.failed = Some((attempts, error.clone()));
                Err(error)
            }
        }
    }

    async fn start(&self, stop: &Stop) -> Result<Connection, McpError> {
        #[cfg(test)]
        if let Some(pipes) = &self.pipes {
            let list_changed = self.list_changed.clone();
            return Box::pin(Connection::over_pipe(&self.server, pipes(), list_changed, stop))
                .await;
        }
        let context = StartContext {
            root: &self.root,
            watch: self.watch.clone(),
            list_changed: self.list_changed.clone(),
        };
        // The future is large, and rare.
        Box::pin(Connection::start(&self.server, context, stop)).await
    }

    /// Ends it, and waits until nothing of it is left. It is not started again.
    pub(super) async fn close(&self) {
        let mut state = self.state.lock().await;
        state.closed = true;
        if let Some(connection) = state.connection.take() {
            connection.close().await;
        }
    }
}
