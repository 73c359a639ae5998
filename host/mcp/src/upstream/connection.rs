//! A server that runs and is talked to, from its start to its end.

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
    bounded::{Bounded, MESSAGE},
    client::Client,
    error::McpError,
    http,
    in_flight::InFlight,
    process::{Ended, Process},
};

/// Pages of a list of tools, after which it is taken for one without end.
const PAGES: usize = 1000;

/// How long a server on the net may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);

/// A server that runs.
#[derive(Debug)]
pub(super) struct Connection {
    server: String,
    pub(super) peer: Peer<RoleClient>,
    pub(super) calls: Arc<InFlight>,
    changes: Arc<AtomicU64>,
    /// What it offers, and how often that had changed when it was asked.
    offered: Mutex<Option<(u64, Arc<Vec<Tool>>)>>,
    startup: Option<Duration>,
    ending: Ending,
    over: watch::Receiver<Option<McpError>>,
    /// Nobody has it any more: it is ended.
    _dropped: DropGuard,
}

/// Asks a connection to end.
#[derive(Debug, Clone, Default)]
struct Ending {
    gently: CancellationToken,
    now: CancellationToken,
    why: Arc<OnceLock<String>>,
}

/// Where a server is started from, and who is told.
#[derive(Clone)]
pub(super) struct Ground<'a> {
    pub(super) root: &'a Path,
    pub(super) watch: Option<Arc<dyn ProcessWatch>>,
    /// Told when it says that it offers other tools now.
    pub(super) news: watch::Sender<()>,
}

impl Connection {
    /// Starts a server and waits until it is ready. One that is not in time, or not before `stop`, is gone again.
    pub(super) async fn start(
        server: &McpServer,
        ground: Ground<'_>,
        stop: &Stop,
    ) -> Result<Self, McpError> {
        let what = match &server.transport {
            McpTransport::Stdio(command) => {
                let words = std::iter::once(&command.program).chain(&command.args);
                clean(&words.map(String::as_str).collect::<Vec<_>>().join(" "))
            }
            McpTransport::Http(endpoint) => clean(&endpoint.url),
        };
        tracing::debug!(target: "mcp", server = %server.name, %what, "starts");
        let failed = |why: String, stderr: String| McpError::Start {
            server: server.name.clone(),
            what: what.clone(),
            why,
            stderr,
        };
        let client = Client::new(&server.name, ground.news);
        let exceeded = Arc::new(AtomicBool::new(false));
        match &server.transport {
            McpTransport::Stdio(command) => {
                let started = Process::start(&server.name, command, ground.root, ground.watch);
                let (process, stdout, stdin) = started.map_err(|why| failed(why, String::new()))?;
                let stdout = Bounded::new(stdout, MESSAGE, exceeded.clone());
                let transport =
                    AsyncRwTransport::new(stdout, stdin).with_max_line_length(usize::MAX);
                let serving = client.clone().serve(transport);
                let ready =
                    Self::ready(server, client, serving, Some(process), exceeded, stop, failed);
                // It is large, as the handshake is.
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
        news: watch::Sender<()>,
        stop: &Stop,
    ) -> Result<Self, McpError> {
        let (read, write) = tokio::io::split(pipe);
        let client = Client::new(&server.name, news);
        let exceeded = Arc::new(AtomicBool::new(false));
        let read = Bounded::new(read, MESSAGE, exceeded.clone());
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
        client: Client,
        serving: impl Future<Output = Result<RunningService<RoleClient, Client>, ClientInitializeError>>,
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
                        return Ok(Self::supervised(server, client, running, process, exceeded));
                    }
                    Err(error) => unready(&error, process.is_some()),
                },
                () = elapsed(server.startup_timeout) => {
                    now.cancel();
                    let allowed = server.startup_timeout.unwrap_or_default();
                    Some(format!(
                        "not ready within {} (`startup_timeout_secs`)",
                        humantime::format_duration(allowed)
                    ))
                }
                () = stopped(stop) => {
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
            None => Ended { status: None, stderr: String::new() },
        };
        let why = match (why, ended.status) {
            (Some(why), _) => why,
            (None, Some(status)) => format!("it ended before it was ready: {status}"),
            (None, None) => "it closed the connection before it was ready".to_owned(),
        };
        Err(failed(why, ended.stderr))
    }

    fn supervised(
        server: &McpServer,
        client: Client,
        running: RunningService<RoleClient, Client>,
        process: Option<Process>,
        exceeded: Arc<AtomicBool>,
    ) -> Self {
        let ending = Ending::default();
        let (ended, over) = watch::channel(None);
        let connection = Self {
            server: server.name.clone(),
            peer: running.peer().clone(),
            calls: client.calls.clone(),
            changes: client.changes.clone(),
            offered: Mutex::default(),
            startup: server.startup_timeout,
            ending: ending.clone(),
            over,
            _dropped: ending.gently.clone().drop_guard(),
        };
        tokio::spawn(supervise(client, running, process, exceeded, ending, ended));
        connection
    }

    /// Whether it can be talked to.
    pub(super) fn is_open(&self) -> bool {
        self.over.borrow().is_none()
            && !self.ending.gently.is_cancelled()
            && !self.ending.now.is_cancelled()
            && !self.peer.is_transport_closed()
    }

    /// Waits until it is over and nothing of it is left, and says why.
    pub(super) async fn over(&self) -> McpError {
        let mut over = self.over.clone();
        let unknown = || McpError::Gone {
            server: self.server.clone(),
            why: "is gone".to_owned(),
            stderr: String::new(),
        };
        // Without a sender the runtime is ending.
        match over.wait_for(Option::is_some).await {
            Ok(over) => over.clone().unwrap_or_else(unknown),
            Err(_) => unknown(),
        }
    }

    /// The same where the talk has ended, but perhaps not the server: it is ended then.
    pub(super) async fn broken(&self) -> McpError {
        if let Ok(error) = timeout(2 * DRAIN, self.over()).await {
            return error;
        }
        self.ending.gently.cancel();
        self.over().await
    }

    /// Ends it, and waits until nothing of it is left.
    pub(super) async fn close(&self) {
        self.ending.gently.cancel();
        self.over().await;
    }

    /// Ends it at once, because of this, and waits until nothing of it is left.
    pub(super) async fn kill(&self, why: String) {
        // The first reason is the one.
        let _ = self.ending.why.set(why);
        self.ending.now.cancel();
        self.over().await;
    }

    /// Whether it has said that it offers other tools since it had done so this often.
    pub(super) fn has_changed_since(&self, changes: u64) -> bool {
        self.changes.load(Ordering::SeqCst) != changes
    }

    /// What it offers now: all pages, asked again when the server has said that it is something else; and how often it had said
    /// so before.
    pub(super) async fn offered(&self) -> Result<(Arc<Vec<Tool>>, u64), McpError> {
        let mut offered = self.offered.lock().await;
        let changes = self.changes.load(Ordering::SeqCst);
        if let Some((at, tools)) = &*offered
            && *at == changes
        {
            return Ok((tools.clone(), changes));
        }
        let refused = |message: String| McpError::Refused { server: self.server.clone(), message };
        let pages = async {
            let mut tools = Vec::new();
            let mut cursor = None;
            for _ in 0..PAGES {
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
                        let why = clean(&http::of_transport(&error));
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
            Err(refused(format!("its list of tools has more than {PAGES} pages")))
        };
        let tools = tokio::select! {
            tools = pages => Arc::new(tools?),
            error = self.over() => return Err(error),
            () = elapsed(self.startup) => {
                return Err(refused(format!(
                    "`tools/list` was not answered within {} (`startup_timeout_secs`)",
                    humantime::format_duration(self.startup.unwrap_or_default())
                )));
            }
        };
        *offered = Some((changes, tools.clone()));
        Ok((tools, changes))
    }
}

/// Waits until whoever needs something is asked to stop.
pub(super) async fn stopped(stop: &Stop) {
    tokio::select! {
        () = stop.gently.cancelled() => {}
        () = stop.now.cancelled() => {}
    }
}

async fn elapsed(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Why a server did not become ready; none: it has gone, and how says more.
fn unready(error: &ClientInitializeError, is_process: bool) -> Option<String> {
    match error {
        ClientInitializeError::ConnectionClosed(_) => None,
        // Nothing but its end breaks the pipe to a process.
        ClientInitializeError::TransportError { .. } if is_process => None,
        ClientInitializeError::JsonRpcError(error) => {
            Some(format!("it refused: {}", clean(&error.message)))
        }
        ClientInitializeError::TransportError { error, .. } => {
            Some(clean(&http::of_transport(error)))
        }
        error => Some(clean(&http::chain(error))),
    }
}

/// Waits for the end of a server, its own or one that is asked for, and sees to it that nothing is left.
async fn supervise(
    client: Client,
    running: RunningService<RoleClient, Client>,
    mut process: Option<Process>,
    exceeded: Arc<AtomicBool>,
    ending: Ending,
    over: watch::Sender<Option<McpError>>,
) {
    let Client { server, over: nobody_asks, .. } = client;
    let talk = running.cancellation_token();
    let mut talking = pin!(running.waiting());
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
            _ = &mut talking => closed = true,
            () = exited => {}
            () = ending.gently.cancelled() => asked = true,
            () = ending.now.cancelled() => asked = true,
        }
    }
    nobody_asks.cancel();
    if !closed && !asked {
        // What it said last is still in the pipe.
        closed = timeout(DRAIN, &mut talking).await.is_ok();
    }
    talk.cancel();
    let goodbye = async {
        if !closed {
            // A transport that is stuck is given up.
            let _ = timeout(GOODBYE, &mut talking).await;
        }
    };
    let end = async {
        match process {
            Some(process) => Some(process.end(&ending.now).await),
            None => None,
        }
    };
    let ((), ended) = tokio::join!(goodbye, end);
    let (status, stderr) = match ended {
        Some(Ended { status, stderr }) => (status, stderr),
        None => (None, String::new()),
    };
    let why = match (ending.why.get(), status) {
        (Some(why), _) => why.clone(),
        _ if exceeded.load(Ordering::SeqCst) => format!(
            "was ended: it sent a message of more than {}",
            bytesize::ByteSize(MESSAGE as u64)
        ),
        _ if asked => "was ended".to_owned(),
        (None, Some(status)) => format!("ended: {status}"),
        (None, None) => "closed the connection".to_owned(),
    };
    tracing::debug!(target: "mcp", %server, %why);
    over.send_replace(Some(McpError::Gone { server, why, stderr }));
}
