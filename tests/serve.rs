//! The MCP server over a connection in memory, with tools that are functions.

use std::sync::{Arc, Mutex};

use jp_policy::{
    config::{Config, Source},
    coordinator::Nobody,
    policy::Native,
    serve::{Desk, Handler, Ordered},
    server::{Invocation, Outcome, Running, Stop, Terms, Tools},
};
use rmcp::{serve_server, transport::async_rw::AsyncRwTransport};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    runtime::Runtime,
};

/// Notes its argument `n` when it begins.
struct Notes {
    config: Config,
    begun: Arc<Mutex<Vec<u64>>>,
}

impl Tools for Notes {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.config.tools.get(tool).map(Terms::from)
    }

    fn names(&self) -> Vec<&str> {
        self.config.tools.keys().map(String::as_str).collect()
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        let n = invocation.arguments["n"].as_u64().unwrap_or_default();
        self.begun.lock().expect("no test panics here").push(n);
        Box::pin(async move {
            if invocation.tool == "hangs" {
                stop.gently.cancelled().await;
                return jp_policy::server::Ran {
                    stopped: true,
                    ..Outcome::error("stopped").into()
                };
            }
            tokio::task::yield_now().await;
            Outcome::Success { content: n.to_string() }.into()
        })
    }
}

/// A client that writes frames by hand.
struct Client {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

impl Client {
    async fn send(&mut self, message: &Json) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.expect("the server reads");
    }

    async fn receive(&mut self) -> Json {
        let mut line = String::new();
        self.read.read_line(&mut line).await.expect("the server writes");
        serde_json::from_str(&line).expect("a frame is JSON")
    }

    async fn call(&mut self, id: u64, tool: &str, n: u64) {
        let params = json!({ "name": tool, "arguments": { "n": n } });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
            .await;
    }
}

const TOOLS: &str = "
    [conversation.tools.keyed]
    run = 'unattended'
    concurrency = { key = 'k' }
    [conversation.tools.hangs]
    run = 'unattended'
    concurrency = { key = 'k' }
";

fn runtime() -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(4).enable_all().build().expect("a runtime")
}

fn desk() -> (Arc<Desk>, Arc<Mutex<Vec<u64>>>) {
    let config = Config::from_sources(&[Source::new("tools.toml", TOOLS)]).expect("it holds");
    let begun = Arc::new(Mutex::new(Vec::new()));
    let tools = Arc::new(Notes { config: config.clone(), begun: begun.clone() });
    let people = Arc::new(Nobody { approve: true });
    let desk = Desk::new(Arc::new(config), tools, Arc::new(Native::rules()), people, None);
    (desk.expect("the rules take everything"), begun)
}

/// A client of this desk that has said hello.
async fn connect(desk: &Arc<Desk>) -> Client {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(far);
    let (desk, connection) =
        (desk.clone(), Ordered::new(AsyncRwTransport::new_server(read, write), desk.clone()));
    tokio::spawn(async move {
        let service = serve_server(Handler::new(desk), connection).await.expect("hello");
        let _ = service.waiting().await;
    });
    let (read, write) = tokio::io::split(near);
    let mut client = Client { read: BufReader::new(read), write };
    let info = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }))
        .await;
    assert_eq!(client.receive().await["result"]["serverInfo"]["name"], "jp-policy");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client
}

#[test]
fn a_thousand_pipelined_requests_begin_in_the_order_of_their_frames() {
    const CALLS: u64 = 1_000;
    runtime().block_on(async {
        let (desk, begun) = desk();
        let mut client = connect(&desk).await;
        for n in 1..=CALLS {
            client.call(n, "keyed", n).await;
        }
        for _ in 0..CALLS {
            let response = client.receive().await;
            assert_eq!(response["result"]["isError"], false, "{response}");
            assert_eq!(response["result"]["content"][0]["text"], response["id"].to_string());
        }
        assert!(begun.lock().expect("no test panics here").iter().copied().eq(1..=CALLS));
        desk.idle().await;
    });
}

#[test]
fn two_clients_share_the_limits_and_one_that_goes_leaves_nothing() {
    runtime().block_on(async {
        let (desk, begun) = desk();
        let (mut first, mut second) = (connect(&desk).await, connect(&desk).await);
        first.call(1, "hangs", 1).await;
        while begun.lock().expect("no test panics here").is_empty() {
            tokio::task::yield_now().await;
        }
        // It waits for the slot that the other client's call holds.
        second.call(1, "keyed", 2).await;
        let cancel = json!({ "requestId": 1, "reason": "enough" });
        first
            .send(
                &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }),
            )
            .await;
        assert_eq!(second.receive().await["result"]["content"][0]["text"], "2");
        assert_eq!(*begun.lock().expect("no test panics here"), [1, 2]);

        // A client that is gone takes its calls with it: the one that runs, and the one that waits.
        first.call(2, "hangs", 3).await;
        first.call(3, "keyed", 4).await;
        while begun.lock().expect("no test panics here").len() < 3 {
            tokio::task::yield_now().await;
        }
        drop(first);
        desk.idle().await;
        second.call(2, "keyed", 5).await;
        assert_eq!(second.receive().await["result"]["content"][0]["text"], "5");
        assert_eq!(*begun.lock().expect("no test panics here"), [1, 2, 3, 5]);
    });
}
