//! The connection to a server that runs, from its start to its end.

use std::{
    path::Path,
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use jp_policy_config::{McpServer, McpTransport};
use jp_policy_core::text::clean;
use jp_policy_runtime::tools::{DRAIN, ProcessWatch, Stop};
use rmcp::{
    RoleClient, ServiceExt as _,
    model::{PaginatedRequestParams, Tool},
    service::{ClientInitializeError, Peer, RunningService, ServiceError},
    transport::async_rw::AsyncRwTransport,
};
use tokio::{
    sync::{Mutex, watch},
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    bounded::{BoundedLines, MAX_MESSAGE},
    client::UpstreamClient,
    error::McpError,
    http,
    in_flight::InFlightCalls,
    process::{Process, ProcessEnd},
};

/// Pages of a list of tools at most: a longer one is taken for one without end.
const MAX_PAGES: usize = 1000;

/// How long the transport may take to close, which over HTTP ends the session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection to a server that runs.
#[derive(Debug)]
pub(super) struct Connection {
    server: String,
    pub(super) peer: Peer<RoleClient>,
    pub(super) calls: Arc<InFlightCalls>,
    list_changes: Arc<AtomicU64>,
    /// The tools that it offers, and how often the list had changed when it was requested.
    tools: Mutex<Option<(u64, Arc<Vec<Tool>>)>>,
    startup_timeout: Option<Duration>,
    shutdown: Shutdown,
    /// Why it is closed, once it is.
    closed: watch::Receiver<Option<McpError>>,
    /// Ends the server when the last handle is dropped.
    _dropped: DropGuard,
}

/// Tells the task that supervises a connection to end it.
#[derive(Debug, Clone, Default)]
struct Shutdown {
    gently: CancellationToken,
    now: CancellationToken,
    why: Arc<OnceLock<String>>,
}

/// What a start needs beside the configuration of the server.
#[derive(Clone)]
pub(super) struct StartContext<'a> {
    pub(super) root: &'a Path,
    pub(super) watch: Option<Arc<dyn ProcessWatch>>,
    /// Notified when the server says that its list of tools has changed.
    pub(super) list_changed: watch::Sender<()>,
}

impl Connection {
    /// Starts a server and waits until it is ready. Fails if it is not ready in time, or before `stop`; then nothing of it is left.
    pub(super) async fn start(
        server: &McpServer,
        context: StartContext<'_>,
        stop: &Stop,
    ) -> Result<Self, McpError> {
        let what = match &server.transport {
            McpTransport::Stdio(command) => {
                let words = std::iter::once(&command.program).chain(&command.args);
                clean(&words.map(String::as_str).collect::<Vec<_>>().join(" "))
            }
            McpTransport::Http(endpoint) => clean(&endpoint.url),
        };
        tracing::debug!(target: "upstream", server = %server.name, %what, "starting the server");
        let failed = |why: String, stderr: String| McpError::Start {
            server: server.name.clone(),
            what: what.clone(),
            why,
            stderr,
        };
        let client = UpstreamClient::new(&server.name, context.list_changed);
        let exceeded = Arc::new(AtomicBool::new(false));
        match &server.transport {
            McpTransport::Stdio(command) => {
                let started = Process::start(&server.name, command, context.root, context.watch);
                let (process, stdout, stdin) = started.map_err(|why| failed(why, String::new()))?;
                let stdout = BoundedLines::new(stdout, MAX_MESSAGE, exceeded.clone());
                let transport =
                    AsyncRwTransport::new(stdout, stdin).with_max_line_length(usize::MAX);
                let serving = client.clone().serve(transport);
                let ready =
                    Self::ready(server, client, serving, Some(process), exceeded, stop, failed);
                // The future is large, as the handshake is.
                Box::pin(ready).await
            }
            McpTransport::Http(endpoint) => {
                let transport =
                    http::transport(endpoint).map_err(|why| failed(why, String::new()))?;
                let serving = client.clone().serve(transport);
                Self::ready(server, client, serving, None, exceeded, stop, failed).await
            }
        }
    }

    /// The same for a server at the other end of a pipe.
    #[cfg(test)]
    pub(super) async fn over_pipe(
        server: &McpServer,
        pipe: tokio::io::DuplexStream,
        list_changed: watch::Sender<()>,
        stop: &Stop,
    ) -> Result<Self, McpError> {
        let (read, write) = tokio::io::split(pipe);
        let client = UpstreamClient::new(&server.name, list_changed);
        let exceeded = Arc::new(AtomicBool::new(false));
        let read = BoundedLines::new(read, MAX_MESSAGE, exceeded.clone());
        let transport = AsyncRwTransport::new(read, write).with_max_line_length(usize::MAX);
        let serving = client.clone().serve(transport);
        let failed = |why: String, stderr: String| McpError::Start {
            server: server.name.clone(),
            what: "a pipe".to_owned(),
            why,
            stderr,
        };
        Self::ready(server, client, serving, None, exceeded, stop, failed).await
    }

    async fn ready(
        server: &McpServer,
        client: UpstreamClient,
        serving: impl Future<
            Output = Result<RunningService<RoleClient, UpstreamClient>, ClientInitializeError>,
        >,
        mut process: Option<Process>,
        exceeded: Arc<AtomicBool>,
        stop: &Stop,
        failed: impl Fn(String, String) -> McpError,
    ) -> Result<Self, McpError> {
        let now = CancellationToken::new();
        let why = {
            let serving = pin!(serving);
            tokio::select! {
                ready = serving => match ready {
                    Ok(running) => {
                        return Ok(Self::spawn_supervised(server, client, running, process, exceeded));
                    }
                    Err(error) => startup_failure(&error, process.is_some()),
                },
                () = sleep_or_forever(server.startup_timeout) => {
                    now.cancel();
                    let allowed = server.startup_timeout.unwrap_or_default();
                    Some(format!(
                        "not ready within {} (`startup_timeout_secs`)",
                        humantime::format_duration(allowed)
                    ))
                }
                () = until_stopped(stop) => {
                    now.cancel();
                    if let Some(process) = process.take() {
                        process.end(&now).await;
                    }
                    return Err(McpError::Stopped { server: server.name.clone() });
                }
            }
        };
        let ended = match process {
            Some(process) => process.end(&now).await,
            None => ProcessEnd { status: None, stderr: String::new() },
        };
        let why = match (why, ended.status) {
            (Some(why), _) => why,
            (None, Some(status)) => format!("it ended before it was ready: {status}"),
            (None, None) => "it closed the connection before it was ready".to_owned(),
        };
        Err(failed(why, ended.stderr))
    }

    fn spawn_supervised(
        server: &McpServer,
        client: UpstreamClient,
        running: RunningService<RoleClient, UpstreamClient>,
        process: Option<Process>,
        exceeded: Arc<AtomicBool>,
    ) -> Self {
        let shutdown = Shutdown::default();
        let (reason, closed) = watch::channel(None);
        let connection = Self {
            server: server.name.clone(),
            peer: running.peer().clone(),
            calls: client.calls.clone(),
            list_changes: client.list_changes.clone(),
            tools: Mutex::default(),
            startup_timeout: server.startup_timeout,
            shutdown: shutdown.clone(),
            closed,
            _dropped: shutdown.gently.clone().drop_guard(),
        };
        tokio::spawn(supervise(client, running, process, exceeded, shutdown, reason));
        connection
    }

    /// Whether requests can be sent.
    pub(super) fn is_open(&self) -> bool {
        self.closed.borrow().is_none()
            && !self.shutdown.gently.is_cancelled()
            && !self.shutdown.now.is_cancelled()
            && !self.peer.is_transport_closed()
    }

    /// Waits until it is closed and nothing of the server is left, and says why.
    pub(super) async fn closed(&self) -> McpError {
        let mut closed = self.closed.clone();
        let unknown = || McpError::Gone {
            server: self.server.clone(),
            why: "is gone".to_owned(),
            stderr: String::new(),
        };
        // Without a sender the runtime is ending.
        match closed.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_else(unknown),
            Err(_) => unknown(),
        }
    }

    /// The same after the transport has failed. If the server does not end with it, it is ended.
    pub(super) async fn broken(&self) -> McpError {
        if let Ok(error) = timeout(2 * DRAIN, self.closed()).await {
            return error;
        }
        self.shutdown.gently.cancel();
        self.closed().await
    }

    /// Ends it, and waits until nothing of it is left.
    pub(super) async fn close(&self) {
        self.shutdown.gently.cancel();
        self.closed().await;
    }

    /// Kills the server for this reason, and waits until nothing of it is left.
    pub(super) async fn kill(&self, why: String) {
        // The first reason counts.
        let _ = self.shutdown.why.set(why);
        self.shutdown.now.cancel();
        self.closed().await;
    }

    /// Whether the list of tools has changed since it had changed this often.
    pub(super) fn has_changed_since(&self, changes: u64) -> bool {
        self.list_changes.load(Ordering::SeqCst) != changes
    }

    /// The tools that it offers, from all pages, and how often the list had changed before. Requested again when it has changed.
    pub(super) async fn list_tools(&self) -> Result<(Arc<Vec<Tool>>, u64), McpError> {
        let mut known = self.tools.lock().await;
        let changes = self.list_changes.load(Ordering::SeqCst);
        if let Some((at, tools)) = &*known
            && *at == changes
        {
            return Ok((tools.clone(), changes));
        }
        let refused = |message: String| McpError::Refused { server: self.server.clone(), message };
        let pages = async {
            let mut tools = Vec::new();
            let mut cursor = None;
            for _ in 0..MAX_PAGES {
                let params = PaginatedRequestParams::default().with_cursor(cursor.take());
                let page = match self.peer.list_tools(Some(params)).await {
                    Ok(page) => page,
                    Err(ServiceError::McpError(error)) => {
                        return Err(refused(format!(
                            "`tools/list` failed: {}",
                            clean(&error.message)
                        )));
                    }
                    Err(ServiceError::TransportSend(error)) if self.is_open() => {
                        let why = clean(&http::transport_error(&error));
                        return Err(refused(format!("`tools/list` failed: {why}")));
                    }
                    Err(error) if self.is_open() => {
                        return Err(refused(format!("`tools/list` failed: {error}")));
                    }
                    Err(_) => return Err(self.broken().await),
                };
                tools.extend(page.tools);
                cursor = page.next_cursor;
                if cursor.is_none() {
                    return Ok(tools);
                }
            }
            Err(refused(format!("its list of tools has more than {MAX_PAGES} pages")))
        };
        let tools = tokio::select! {
            tools = pages => Arc::new(tools?),
            error = self.closed() => return Err(error),
            () = sleep_or_forever(self.startup_timeout) => {
                return Err(refused(format!(
                    "`tools/list` was not answered within {} (`startup_timeout_secs`)",
                    humantime::format_duration(self.startup_timeout.unwrap_or_default())
                )));
            }
        };
        *known = Some((changes, tools.clone()));
        Ok((tools, changes))
    }
}

/// Waits until a stop is requested.
pub(super) async fn until_stopped(stop: &Stop) {
    tokio::select! {
        () = stop.gently.cancelled() => {}
        () = stop.now.cancelled() => {}
    }
}

async fn sleep_or_forever(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Why a server did not become ready; none: its process has ended, and how it did says more.
fn startup_failure(error: &ClientInitializeError, is_process: bool) -> Option<String> {
    match error {
        ClientInitializeError::ConnectionClosed(_) => None,
        // Only its end breaks the pipe to a process.
        ClientInitializeError::TransportError { .. } if is_process => None,
        ClientInitializeError::JsonRpcError(error) => {
            Some(format!("it refused: {}", clean(&error.message)))
        }
        ClientInitializeError::TransportError { error, .. } => {
            Some(clean(&http::transport_error(error)))
        }
        error => Some(clean(&http::with_causes(error))),
    }
}

/// Waits until a server ends or is to be ended, and ends it so that nothing is left.
async fn supervise(
    client: UpstreamClient,
    running: RunningService<RoleClient, UpstreamClient>,
    mut process: Option<Process>,
    exceeded: Arc<AtomicBool>,
    shutdown: Shutdown,
    reason: watch::Sender<Option<McpError>>,
) {
    let UpstreamClient { server, closing, .. } = client;
    let transport = running.cancellation_token();
    let mut serving = pin!(running.waiting());
    let mut asked = false;
    let mut closed = false;
    {
        let exited = async {
            match &mut process {
                Some(process) => drop(process.exited().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = &mut serving => closed = true,
            () = exited => {}
            () = shutdown.gently.cancelled() => asked = true,
            () = shutdown.now.cancelled() => asked = true,
        }
    }
    closing.cancel();
    if !closed && !asked {
        // Its last messages are still in the pipe.
        closed = timeout(DRAIN, &mut serving).await.is_ok();
    }
    transport.cancel();
    let close = async {
        if !closed {
            // A transport that is stuck is not waited for.
            let _ = timeout(CLOSE_TIMEOUT, &mut serving).await;
        }
    };
    let end = async {
        match process {
            Some(process) => Some(process.end(&shutdown.now).await),
            None => None,
        }
    };
    let ((), ended) = tokio::join!(close, end);
    let (status, stderr) = match ended {
        Some(ProcessEnd { status, stderr }) => (status, stderr),
        None => (None, String::new()),
    };
    let why = match (shutdown.why.get(), status) {
        (Some(why), _) => why.clone(),
        _ if exceeded.load(Ordering::SeqCst) => format!(
            "was ended: it sent a message of more than {}",
            bytesize::ByteSize(MAX_MESSAGE as u64)
        ),
        _ if asked => "was ended".to_owned(),
        (None, Some(status)) => format!("ended: {status}"),
        (None, None) => "closed the connection".to_owned(),
    };
    tracing::debug!(target: "upstream", %server, %why, "the connection is closed");
    reason.send_replace(Some(McpError::Gone { server, why, stderr }));
}
