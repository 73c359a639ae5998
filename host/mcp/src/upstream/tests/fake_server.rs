//! A server at the other end of a pipe, which the test plays message by message, and a Host that passes events to the test.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use jp_policy_config::{McpCommand, McpServer, McpTransport};
use jp_policy_core::outcome::{Outcome, Question};
use jp_policy_runtime::tools::{Answering, Host, Invocation, Progress, Ran, Stop};
use serde_json::{Map, Value as Json, json};
use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf,
        WriteHalf, duplex, split,
    },
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot, watch,
    },
};

use crate::upstream::{server::Upstream, servers::McpServers};

/// The server's end of a pipe.
pub(super) struct FakeServer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    to: WriteHalf<DuplexStream>,
}

impl FakeServer {
    fn new(pipe: DuplexStream) -> Self {
        let (read, to) = split(pipe);
        Self { lines: BufReader::new(read).lines(), to }
    }

    /// The next message; none: the host has closed the connection.
    pub(super) async fn next_if_any(&mut self) -> Option<Json> {
        let line = self.lines.next_line().await.expect("a pipe can be read")?;
        Some(serde_json::from_str(&line).expect("it is JSON"))
    }

    pub(super) async fn next(&mut self) -> Json {
        self.next_if_any().await.expect("a message")
    }

    /// Waits until the next message has begun, without reading it.
    pub(super) async fn until_message(&mut self) {
        let begun = self.lines.get_mut().fill_buf().await;
        assert!(!begun.expect("a pipe can be read").is_empty());
    }

    /// The next message, which has to be of this method.
    pub(super) async fn expect(&mut self, method: &str) -> Json {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    pub(super) async fn send(&mut self, message: &Json) {
        self.raw(&format!("{message}\n")).await;
    }

    pub(super) async fn raw(&mut self, text: &str) {
        // A host that is gone does not read.
        let _ = self.to.write_all(text.as_bytes()).await;
    }

    pub(super) async fn answer(&mut self, request: &Json, result: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    /// Answers a call with this text.
    pub(super) async fn say(&mut self, request: &Json, text: &str) {
        self.answer(request, json!({ "content": [{ "type": "text", "text": text }] })).await;
    }

    pub(super) async fn initialize(&mut self) {
        let request = self.expect("initialize").await;
        assert_eq!(request["params"]["capabilities"], json!({ "elicitation": { "form": {} } }));
        self.answer(
            &request,
            json!({
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "played", "version": "1" },
            }),
        )
        .await;
        self.expect("notifications/initialized").await;
    }

    /// Answers `tools/list` with tools of these names.
    pub(super) async fn list(&mut self, names: &[&str]) {
        let request = self.expect("tools/list").await;
        let tools = tools(names);
        self.answer(&request, json!({ "tools": tools })).await;
    }

    /// Is ready, and offers these tools.
    pub(super) async fn serve(&mut self, names: &[&str]) {
        self.initialize().await;
        self.list(names).await;
    }

    /// The next message is a call; gives it.
    pub(super) async fn call(&mut self) -> Json {
        self.expect("tools/call").await
    }
}

pub(super) fn tools(names: &[&str]) -> Json {
    names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect()
}

/// How often servers were started, and each of them.
pub(super) struct Starts(UnboundedReceiver<FakeServer>);

impl Starts {
    pub(super) async fn next(&mut self) -> FakeServer {
        self.0.recv().await.expect("the servers are there")
    }

    pub(super) fn is_none(&mut self) -> bool {
        self.0.try_recv().is_err()
    }
}

pub(super) fn stdio(name: &str, program: &str, args: &[&str]) -> McpServer {
    McpServer {
        name: name.to_owned(),
        transport: McpTransport::Stdio(McpCommand {
            program: program.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: BTreeMap::new(),
            variables: Vec::new(),
            folder: None,
            checksum: None,
        }),
        startup_timeout: Some(Duration::from_mins(1)),
    }
}

/// Servers of these names, played by the test.
pub(super) fn servers<const N: usize>(names: [&str; N]) -> (Arc<McpServers>, [Starts; N]) {
    let mut servers = BTreeMap::new();
    let list_changed = watch::Sender::new(());
    let starts = names.map(|name| {
        let (started, starts) = unbounded_channel();
        let mut upstream =
            Upstream::new(stdio(name, "played", &[]), PathBuf::new(), list_changed.clone());
        upstream.pipes = Some(Box::new(move || {
            let (ours, theirs) = duplex(1 << 16);
            // A test that has seen enough does not look any more.
            let _ = started.send(FakeServer::new(theirs));
            ours
        }));
        servers.insert(name.to_owned(), Arc::new(upstream));
        Starts(starts)
    });
    (Arc::new(McpServers::with_upstreams(servers, list_changed)), starts)
}

/// What a call tells its Host.
#[derive(Debug)]
pub(super) enum HostEvent {
    Progress(Progress),
    Asks(Question, oneshot::Sender<Option<Json>>),
}

#[derive(Debug)]
struct TestHost(UnboundedSender<HostEvent>);

impl Host for TestHost {
    fn progress(&self, progress: Progress) {
        self.0.send(HostEvent::Progress(progress)).expect("the test listens");
    }

    fn ask(&self, question: Question) -> Answering<'_> {
        let (reply, answer) = oneshot::channel();
        self.0.send(HostEvent::Asks(question, reply)).expect("the test listens");
        Box::pin(async { answer.await.ok().flatten() })
    }
}

/// A call that runs.
pub(super) struct Running {
    pub(super) stop: Stop,
    pub(super) events: UnboundedReceiver<HostEvent>,
    ran: tokio::task::JoinHandle<Ran>,
}

impl Running {
    pub(super) async fn ran(self) -> (Outcome, bool) {
        let ran = self.ran.await.expect("it does not panic");
        (ran.outcome, ran.stopped)
    }

    /// It ended by itself, so.
    pub(super) async fn outcome(self) -> Outcome {
        let (outcome, stopped) = self.ran().await;
        assert!(!stopped, "{outcome:?}");
        outcome
    }

    pub(super) fn is_over(&self) -> bool {
        self.ran.is_finished()
    }

    pub(super) async fn question(&mut self) -> (Question, oneshot::Sender<Option<Json>>) {
        match self.events.recv().await.expect("it runs") {
            HostEvent::Asks(question, reply) => (question, reply),
            other @ HostEvent::Progress(_) => panic!("{other:?}"),
        }
    }
}

/// Calls a tool, configured under the name that it has at the server.
pub(super) fn call(servers: &Arc<McpServers>, server: &str, tool: &str) -> Running {
    call_with(servers, server, tool, json!({}))
}

pub(super) fn call_with(
    servers: &Arc<McpServers>,
    server: &str,
    tool: &str,
    arguments: Json,
) -> Running {
    let (sender, events) = unbounded_channel();
    let stop = Stop::default();
    let arguments = match arguments {
        Json::Object(arguments) => arguments,
        _ => Map::new(),
    };
    let invocation = Invocation {
        tool: tool.into(),
        arguments: arguments.into(),
        answers: Map::new(),
        host: Arc::new(TestHost(sender)),
    };
    let (servers, server, stopping) = (servers.clone(), server.to_owned(), stop.clone());
    let ran = tokio::spawn(async move {
        servers.run(&server, &invocation.tool, &invocation, &stopping).await
    });
    Running { stop, events, ran }
}

pub(super) fn success(content: &str) -> Outcome {
    Outcome::Success { content: content.to_owned() }
}

pub(super) fn failure(message: &str, transient: bool) -> Outcome {
    Outcome::Error { message: message.to_owned(), trace: Vec::new(), transient }
}
