//! The MCP server over a connection in memory, with tools that are functions.

use std::sync::{Arc, Mutex};

use jp_policy_config::{Config, Source};
use jp_policy_core::policy::Native;
use jp_policy_core::{
    catalog::Terms,
    outcome::{AnswerType, Outcome, Question},
};
use jp_policy_mcp::gateway::{Clients, Desk, Handler, Ordered};
use jp_policy_runtime::{
    coordinator::AutoPrompter,
    tools::{Invocation, Progress, Running, Stop, Tools},
};
use rmcp::{serve_server, transport::async_rw::AsyncRwTransport};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    runtime::Runtime,
    sync::watch,
};

/// Notes its argument `n` when it begins.
struct Notes {
    config: Config,
    begun: Arc<Mutex<Vec<u64>>>,
    /// Told when its tools change.
    changes: watch::Sender<()>,
}

impl Tools for Notes {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.config.tools.get(tool).map(Terms::from)
    }

    fn names(&self) -> Vec<&str> {
        self.config.tools.keys().map(String::as_str).collect()
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.changes.subscribe())
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        let n = invocation.arguments["n"].as_u64().unwrap_or_default();
        self.begun.lock().expect("no test panics here").push(n);
        Box::pin(async move {
            if &*invocation.tool == "asks" {
                return match invocation.answers.get("color") {
                    Some(color) => Outcome::Success { content: color.to_string() }.into(),
                    None => Outcome::NeedsInput { question: question() }.into(),
                };
            }
            if &*invocation.tool == "counts" {
                for done in [1.0, 2.0, 2.0, 3.0] {
                    let message = Some(format!("page {done}"));
                    invocation.host.progress(Progress { done, total: Some(3.0), message });
                    // Until it is told, or is no news.
                    for _ in 0..1_000 {
                        tokio::task::yield_now().await;
                    }
                }
            }
            if &*invocation.tool == "hangs" {
                stop.gently.cancelled().await;
                return jp_policy_runtime::tools::Ran {
                    stopped: true,
                    ..Outcome::error("stopped").into()
                };
            }
            tokio::task::yield_now().await;
            Outcome::Success { content: n.to_string() }.into()
        })
    }
}

fn question() -> Question {
    Question {
        id: "color".to_owned(),
        text: "Which color?".to_owned(),
        pre_amble: Some("There are two.".to_owned()),
        answer_type: AnswerType::Select { options: vec!["red".to_owned(), "blue".to_owned()] },
        default: Some("red".into()),
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
    [conversation.tools.asks]
    run = 'unattended'
    [conversation.tools.asked]
    run = 'ask'
    [conversation.tools.reviewed]
    run = 'unattended'
    result = 'edit'
    [conversation.tools.counts]
    run = 'unattended'
";

fn runtime() -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(4).enable_all().build().expect("a runtime")
}

fn desk() -> (Arc<Desk>, Arc<Mutex<Vec<u64>>>) {
    desk_with(false)
}

/// A desk whose clients are asked for approvals too, or not.
fn desk_with(approvals: bool) -> (Arc<Desk>, Arc<Mutex<Vec<u64>>>) {
    let begun = Arc::new(Mutex::new(Vec::new()));
    (desk_of(begun.clone(), watch::Sender::new(()), approvals), begun)
}

fn desk_of(begun: Arc<Mutex<Vec<u64>>>, changes: watch::Sender<()>, approvals: bool) -> Arc<Desk> {
    let config = Config::from_sources(&[Source::new("tools.toml", TOOLS)]).expect("it holds");
    let tools = Arc::new(Notes { config: config.clone(), begun, changes });
    let clients = Arc::new(Clients::new(Arc::new(AutoPrompter { approve: !approvals }), approvals));
    let desk = Desk::new(Arc::new(config), tools, Arc::new(Native::rules()), clients, None);
    desk.expect("the rules take everything")
}

/// A client of this desk that has said hello.
async fn connect(desk: &Arc<Desk>) -> Client {
    connect_with(desk, json!({})).await
}

/// A client that can do this.
async fn connect_with(desk: &Arc<Desk>, capabilities: Json) -> Client {
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
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info });
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

        // A client that is gone takes its calls with it: the one that runs, and those that wait for its slot.
        first.call(2, "hangs", 3).await;
        for n in 0..100 {
            first.call(3 + n, "keyed", 100 + n).await;
        }
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

/// What the client is asked next, as an elicitation; and the id to answer it by.
async fn elicited(client: &mut Client) -> (Json, Json) {
    let request = client.receive().await;
    assert_eq!(request["method"], "elicitation/create", "{request}");
    (request["params"].clone(), request["id"].clone())
}

async fn answer(client: &mut Client, id: Json, result: Json) {
    client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
}

#[test]
fn a_client_answers_what_its_calls_ask_and_another_one_is_not_kept_waiting() {
    runtime().block_on(async {
        let (desk, _) = desk();
        let can = json!({ "elicitation": {} });
        let mut first = connect_with(&desk, can.clone()).await;
        let mut second = connect_with(&desk, can).await;
        first.call(1, "asks", 1).await;
        let (asked, first_id) = elicited(&mut first).await;
        assert_eq!(asked["message"], "Tool `asks` asks:\nThere are two.");
        let color =
            json!({ "type": "string", "title": "Which color?", "enum": ["red", "blue"], "default": "red" });
        let schema =
            json!({ "type": "object", "properties": { "color": color }, "required": ["color"] });
        assert_eq!(asked["requestedSchema"], schema);

        // The first one's prompt is still open.
        second.call(1, "asks", 2).await;
        let (_, id) = elicited(&mut second).await;
        answer(&mut second, id, json!({ "action": "accept", "content": { "color": "blue" } })).await;
        assert_eq!(second.receive().await["result"]["content"][0]["text"], "\"blue\"");

        // To dismiss it is no answer.
        answer(&mut first, first_id, json!({ "action": "decline" })).await;
        let response = first.receive().await;
        assert_eq!(response["result"]["isError"], true, "{response}");
    });
}

#[test]
fn a_client_that_cannot_be_asked_gets_the_questions_default() {
    runtime().block_on(async {
        let (desk, _) = desk();
        let mut client = connect(&desk).await;
        client.call(1, "asks", 1).await;
        assert_eq!(client.receive().await["result"]["content"][0]["text"], "\"red\"");
    });
}

#[test]
fn a_call_that_is_no_clients_gets_it_too() {
    runtime().block_on(async {
        let (desk, _) = desk();
        let arguments = std::iter::once(("n".to_owned(), 1.into())).collect();
        let mut pending = desk.submit("asks".to_owned(), arguments, false);
        let pending = pending.as_mut().expect("it is taken");
        let response = pending.response().await.expect("there is one");
        assert_eq!(response.content, "\"red\"");
    });
}

#[test]
fn approvals_and_reviews_are_the_clients_where_they_are_wanted() {
    runtime().block_on(async {
        let (desk, begun) = desk_with(true);
        let mut client = connect_with(&desk, json!({ "elicitation": { "form": {} } })).await;
        client.call(1, "asked", 1).await;
        let (asked, id) = elicited(&mut client).await;
        let expected = "Run tool `asked` with these arguments?\n{\n  \"n\": 1\n}";
        assert_eq!(asked["message"], expected);
        answer(&mut client, id, json!({ "action": "cancel" })).await;
        let response = client.receive().await;
        assert_eq!(response["result"]["content"][0]["text"], "tool `asked` was not approved");
        assert!(begun.lock().expect("no test panics here").is_empty());

        client.call(2, "asked", 2).await;
        let (_, id) = elicited(&mut client).await;
        answer(&mut client, id, json!({ "action": "accept", "content": {} })).await;
        assert_eq!(client.receive().await["result"]["content"][0]["text"], "2");

        client.call(3, "reviewed", 3).await;
        let (asked, id) = elicited(&mut client).await;
        assert_eq!(asked["requestedSchema"]["properties"]["text"]["default"], "3");
        let edited = json!({ "action": "accept", "content": { "text": "three" } });
        answer(&mut client, id, edited).await;
        assert_eq!(client.receive().await["result"]["content"][0]["text"], "three");

        // One that can't be asked.
        let mut mute = connect(&desk).await;
        mute.call(1, "asked", 4).await;
        let response = mute.receive().await;
        assert_eq!(
            response["result"]["content"][0]["text"],
            "tool `asked` runs after approval only, and there was nobody to ask"
        );
    });
}

#[test]
fn a_question_of_a_client_that_goes_is_nobodys_and_the_call_is_over() {
    runtime().block_on(async {
        let (desk, _) = desk();
        let mut client = connect_with(&desk, json!({ "elicitation": {} })).await;
        client.call(1, "asks", 1).await;
        let _ = elicited(&mut client).await;
        drop(client);
        desk.idle().await;
    });
}

#[test]
fn how_far_a_call_is_reaches_its_client_and_only_ever_grows() {
    runtime().block_on(async {
        let (desk, _) = desk();
        let mut client = connect(&desk).await;
        let params = json!({
            "name": "counts", "arguments": { "n": 7 }, "_meta": { "progressToken": "t" },
        });
        client
            .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
            .await;
        let mut told = Vec::new();
        let response = loop {
            let message = client.receive().await;
            if message.get("id").is_some() {
                break message;
            }
            assert_eq!(message["params"]["progressToken"], "t");
            told.push(message["params"]["progress"].as_f64().expect("a number"));
        };
        assert_eq!(response["result"]["content"][0]["text"], "7");
        assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
        assert!(told.last() >= Some(&3.0), "{told:?}");
    });
}

/// Each client is told once, whoever said it and however often it has said hello; of one that has gone nothing is left.
#[test]
fn clients_are_told_when_tools_change() {
    runtime().block_on(async {
        let changes = watch::Sender::new(());
        let desk = desk_of(Arc::default(), changes.clone(), false);
        let mut clients = [connect(&desk).await, connect(&desk).await];
        for client in &mut clients {
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        }
        while changes.receiver_count() < clients.len() {
            tokio::task::yield_now().await;
        }
        changes.send_replace(());
        for client in &mut clients {
            assert_eq!(client.receive().await["method"], "notifications/tools/list_changed");
            client.call(2, "keyed", 2).await;
            assert_eq!(client.receive().await["id"], 2);
        }
        drop(clients);
        changes.closed().await;
    });
}

/// What is refused, and that the next call is served all the same.
#[test]
fn bad_input_is_refused_and_nothing_of_the_rest_is_lost() {
    runtime().block_on(async {
        let (desk, _) = desk();
        let mut client = connect(&desk).await;
        client.call(1, "keyed", 1).await;
        // No JSON, and half of some: nobody could be told.
        client.write.write_all(b"{\"jsonrpc\": \n\xff\xfe\n\n").await.expect("it reads");
        // JSON that is no message.
        client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": 7 })).await;
        // A message that is no call; calls that can't be run.
        client.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/cal" })).await;
        client.call(4, "kyed", 4).await;
        let wrong = json!({ "name": "keyed", "arguments": [] });
        client
            .send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": wrong }))
            .await;
        client.call(6, "keyed", 6).await;
        let mut answers = std::collections::BTreeMap::new();
        while !answers.contains_key("6") || answers.len() < 6 {
            let answer = client.receive().await;
            answers.insert(answer["id"].to_string(), answer);
        }
        assert_eq!(answers["1"]["result"]["content"][0]["text"], "1");
        assert_eq!(answers["null"]["error"]["code"], -32600, "{answers:#?}");
        assert_eq!(answers["3"]["error"]["code"], -32601, "{answers:#?}");
        let text = "no tool `kyed` is configured; did you mean `keyed`?";
        assert_eq!(answers["4"]["result"]["content"][0]["text"], text);
        assert_eq!(answers["6"]["result"]["content"][0]["text"], "6");
        assert!(answers["5"].get("result").is_none(), "{answers:#?}");
    });
}
