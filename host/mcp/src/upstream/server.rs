//! A configured server: started when it is needed, and again when it has died.

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
    connection::{Connection, Ground, stopped},
    error::McpError,
};

/// A configured server.
pub(super) struct Upstream {
    server: McpServer,
    root: PathBuf,
    pub(super) watch: Option<Arc<dyn ProcessWatch>>,
    /// Told when it says that it offers other tools now.
    news: watch::Sender<()>,
    state: Mutex<State>,
    /// How often it was tried to start it.
    tried: AtomicU64,
    /// Tests play the server at the other end of these pipes.
    #[cfg(test)]
    pub(super) pipes: Option<Box<dyn Fn() -> tokio::io::DuplexStream + Send + Sync>>,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    /// The last try that failed, and why.
    failed: Option<(u64, McpError)>,
    closed: bool,
}

impl Upstream {
    pub(super) fn new(server: McpServer, root: PathBuf, news: watch::Sender<()>) -> Self {
        Self {
            server,
            root,
            watch: None,
            news,
            state: Mutex::default(),
            tried: AtomicU64::new(0),
            #[cfg(test)]
            pipes: None,
        }
    }

    /// The server, started if it does not run. Whoever comes while it starts waits with the one who came first, and fails with
    /// it; nobody else waits.
    pub(super) async fn connection(&self, stop: &Stop) -> Result<Arc<Connection>, McpError> {
        let seen = self.tried.load(Ordering::SeqCst);
        let mut state = tokio::select! {
            state = self.state.lock() => state,
            () = stopped(stop) => {
                return Err(McpError::Stopped { server: self.server.name.clone() });
            }
        };
        if let Some(connection) = &state.connection
            && connection.is_open()
        {
            return Ok(connection.clone());
        }
        match &state.failed {
            Some((tried, error)) if *tried > seen => return Err(error.clone()),
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
            // Two of them at once might disturb each other.
            old.close().await;
        }
        let started = self.start(stop).await;
        let tried = self.tried.fetch_add(1, Ordering::SeqCst) + 1;
        match started {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.connection = Some(connection.clone());
                Ok(connection)
            }
            // The others have not been asked to stop.
            Err(error @ McpError::Stopped { .. }) => Err(error),
            Err(error) => {
                state.failed = Some((tried, error.clone()));
                Err(error)
            }
        }
    }

    async fn start(&self, stop: &Stop) -> Result<Connection, McpError> {
        #[cfg(test)]
        if let Some(pipes) = &self.pipes {
            let news = self.news.clone();
            return Box::pin(Connection::over_pipe(&self.server, pipes(), news, stop)).await;
        }
        let ground =
            Ground { root: &self.root, watch: self.watch.clone(), news: self.news.clone() };
        // It is large, and rare.
        Box::pin(Connection::start(&self.server, ground, stop)).await
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
