//! The MCP server over a connection in memory, with tools that are functions.

use std::sync::Arc;

use jp_policy_config::{Config, Source};
use jp_policy_core::policy::Native;
use jp_policy_core::{
    catalog::Terms,
    outcome::{AnswerType, Outcome, Question},
};
use jp_policy_mcp::gateway::{ClientPrompter, Dispatcher, Handler, Ingress};
use jp_policy_runtime::{
    coordinator::AutoPrompter,
    tools::{Invocation, Progress, Running, Stop, Tools},
};
use rmcp::{serve_server, transport::async_rw::AsyncRwTransport};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    runtime::Runtime,
    sync::{Semaphore, watch},
};

/// Functions as tools. What they do can be waited for, and what they wait for can be given.
struct TestTools {
    config: Config,
    /// The argument `n` of each execution that has begun, in this order.
    begun: watch::Sender<Vec<u64>>,
    /// One permit lets `steps` end once, or `counts` report its next progress.
    steps: Semaphore,
    /// Told when the tools change.
    changes: watch::Sender<()>,
    /// How many want to be told that.
    subscribers: watch::Sender<usize>,
}

impl TestTools {
    fn begun(&self) -> Vec<u64> {
        self.begun.borrow().clone()
    }

    /// Waits until this many executions have begun.
    async fn until_begun(&self, count: usize) {
        let mut begun = self.begun.subscribe();
        begun.wait_for(|begun| begun.len() >= count).await.expect("its sender lives");
    }

    async fn step(&self) {
        self.steps.acquire().await.expect("it is never closed").forget();
    }
}

impl Tools for TestTools {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.config.tools.get(tool).map(Terms::from)
    }

    fn names(&self) -> Vec<&str> {
        self.config.tools.keys().map(String::as_str).collect()
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        let changes = self.changes.subscribe();
        self.subscribers.send_modify(|subscribers| *subscribers += 1);
        Some(changes)
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        let n = invocation.arguments["n"].as_u64().unwrap_or_default();
        self.begun.send_modify(|begun| begun.push(n));
        Box::pin(async move {
            if &*invocation.tool == "asks" {
                return match invocation.answers.get("color") {
                    Some(color) => Outcome::Success { content: color.to_string() }.into(),
                    None => Outcome::NeedsInput { question: question() }.into(),
                };
            }
            if &*invocation.tool == "counts" {
                for done in [1.0, 2.0, 2.0, 3.0] {
                    self.step().await;
                    let message = Some(format!("page {done}"));
                    invocation.host.progress(Progress { done, total: Some(3.0), message });
                }
                self.step().await;
            }
            if &*invocation.tool == "steps" {
                self.step().await;
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
    [conversation.tools.steps]
    run = 'unattended'
    concurrency = { key = 'k' }
    fan_out = {}
    [conversation.tools.free]
    run = 'unattended'
";

fn runtime() -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(4).enable_all().build().expect("a runtime")
}

fn dispatcher() -> (Arc<Dispatcher>, Arc<TestTools>) {
    dispatcher_with(false)
}

/// A dispatcher whose clients are asked for approvals too, or not.
fn dispatcher_with(approvals: bool) -> (Arc<Dispatcher>, Arc<TestTools>) {
    let config = Config::from_sources(&[Source::new("tools.toml", TOOLS)]).expect("it holds");
    let tools = Arc::new(TestTools {
        config: config.clone(),
        begun: watch::Sender::default(),
        steps: Semaphore::new(0),
        changes: watch::Sender::default(),
        subscribers: watch::Sender::default(),
    });
    let prompter =
        Arc::new(ClientPrompter::new(Arc::new(AutoPrompter { approve: !approvals }), approvals));
    let dispatcher =
        Dispatcher::new(Arc::new(config), tools.clone(), Arc::new(Native::rules()), prompter, None);
    (dispatcher.expect("the rules take everything"), tools)
}

/// A client of this dispatcher that has said hello.
async fn connect(dispatcher: &Arc<Dispatcher>) -> Client {
    connect_with(dispatcher, json!({})).await
}

/// A client that can do this.
async fn connect_with(dispatcher: &Arc<Dispatcher>, capabilities: Json) -> Client {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(far);
    let (dispatcher, connection) = (
        dispatcher.clone(),
        Ingress::new(AsyncRwTransport::new_server(read, write), dispatcher.clone()),
    );
    tokio::spawn(async move {
        let service = serve_server(Handler::new(dispatcher), connection).await.expect("hello");
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
        let (dispatcher, tools) = dispatcher();
        let mut client = connect(&dispatcher).await;
        for n in 1..=CALLS {
            client.call(n, "keyed", n).await;
        }
        for _ in 0..CALLS {
            let response = client.receive().await;
            assert_eq!(response["result"]["isError"], false, "{response}");
            assert_eq!(response["result"]["content"][0]["text"], response["id"].to_string());
        }
        assert!(tools.begun().into_iter().eq(1..=CALLS));
        dispatcher.idle().await;
    });
}

#[test]
fn two_clients_share_the_limits_and_one_that_goes_leaves_nothing() {
    runtime().block_on(async {
        let (dispatcher, tools) = dispatcher();
        let (mut first, mut second) = (connect(&dispatcher).await, connect(&dispatcher).await);
        first.call(1, "hangs", 1).await;
        tools.until_begun(1).await;
        // It waits for the slot that the other client's call holds.
        second.call(1, "keyed", 2).await;
        let cancel = json!({ "requestId": 1, "reason": "enough" });
        first
            .send(
                &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }),
            )
            .await;
        assert_eq!(second.receive().await["result"]["content"][0]["text"], "2");
        assert_eq!(tools.begun(), [1, 2]);

        // A client that is gone takes its calls with it: the one that runs, and those that wait for its slot.
        first.call(2, "hangs", 3).await;
        for n in 0..100 {
            first.call(3 + n, "keyed", 100 + n).await;
        }
        tools.until_begun(3).await;
        drop(first);
        dispatcher.idle().await;
        second.call(2, "keyed", 5).await;
        assert_eq!(second.receive().await["result"]["content"][0]["text"], "5");
        assert_eq!(tools.begun(), [1, 2, 3, 5]);
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
        let (dispatcher, _) = dispatcher();
        let can = json!({ "elicitation": {} });
        let mut first = connect_with(&dispatcher, can.clone()).await;
        let mut second = connect_with(&dispatcher, can).await;
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

        // Not to want to answer cancels the call, whichever way it is said.
        answer(&mut first, first_id, json!({ "action": "decline" })).await;
        let cancelled = json!({
            "content": [{ "type": "text", "text": "The tool call was cancelled." }],
            "isError": true,
        });
        assert_eq!(first.receive().await["result"], cancelled);
        first.call(2, "asks", 3).await;
        let (_, id) = elicited(&mut first).await;
        answer(&mut first, id, json!({ "action": "cancel" })).await;
        assert_eq!(first.receive().await["result"], cancelled);

        // To accept a form without its field says nothing.
        first.call(3, "asks", 4).await;
        let (_, id) = elicited(&mut first).await;
        answer(&mut first, id, json!({ "action": "accept", "content": {} })).await;
        assert_eq!(
            first.receive().await["result"]["content"][0]["text"],
            "tool `asks` asks \"Which color?\" and nobody answered; set `questions.color.answer` to answer it without a person"
        );
    });
}

#[test]
fn a_client_that_cannot_be_asked_gets_the_questions_default() {
    runtime().block_on(async {
        let (dispatcher, _) = dispatcher();
        let mut client = connect(&dispatcher).await;
        client.call(1, "asks", 1).await;
        assert_eq!(client.receive().await["result"]["content"][0]["text"], "\"red\"");
    });
}

#[test]
fn a_call_that_is_no_clients_gets_it_too() {
    runtime().block_on(async {
        let (dispatcher, _) = dispatcher();
        let arguments = std::iter::once(("n".to_owned(), 1.into())).collect();
        let mut pending = dispatcher.submit("asks".to_owned(), arguments, false);
        let pending = pending.as_mut().expect("it is taken");
        let response = pending.response().await.expect("there is one");
        assert_eq!(response.content, "\"red\"");
    });
}

#[test]
fn approvals_and_reviews_are_the_clients_where_they_are_wanted() {
    runtime().block_on(async {
        let (dispatcher, tools) = dispatcher_with(true);
        let mut client = connect_with(&dispatcher, json!({ "elicitation": { "form": {} } })).await;
        client.call(1, "asked", 1).await;
        let (asked, id) = elicited(&mut client).await;
        let expected = "Run tool `asked` with these arguments?\n{\n  \"n\": 1\n}";
        assert_eq!(asked["message"], expected);
        answer(&mut client, id, json!({ "action": "cancel" })).await;
        let response = client.receive().await;
        assert_eq!(response["result"]["content"][0]["text"], "tool `asked` was not approved");
        assert!(tools.begun().is_empty());

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
        let mut mute = connect(&dispatcher).await;
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
        let (dispatcher, _) = dispatcher();
        let mut client = connect_with(&dispatcher, json!({ "elicitation": {} })).await;
        client.call(1, "asks", 1).await;
        let _ = elicited(&mut client).await;
        drop(client);
        dispatcher.idle().await;
    });
}

/// A call whose client wants to be told how far it is.
async fn watched_call(client: &mut Client, id: u64, tool: &str, arguments: Json) {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "t" } });
    client
        .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
        .await;
}

/// The next message, which has to be a progress notification: its number and its words.
async fn told(client: &mut Client) -> (f64, String) {
    let message = client.receive().await;
    assert_eq!(message["method"], "notifications/progress", "{message}");
    assert_eq!(message["params"]["progressToken"], "t");
    let number = message["params"]["progress"].as_f64().expect("a number");
    (number, message["params"]["message"].as_str().expect("a text").to_owned())
}

#[test]
fn how_far_a_call_is_reaches_its_client_and_only_ever_grows() {
    runtime().block_on(async {
        let (dispatcher, tools) = dispatcher();
        let mut client = connect(&dispatcher).await;
        watched_call(&mut client, 1, "counts", json!({ "n": 7 })).await;
        assert_eq!(told(&mut client).await, (1.0, "running".to_owned()));
        // The third one is no news.
        for (steps, number, page) in [(1, 2.0, "page 1"), (1, 3.0, "page 2"), (2, 4.0, "page 3")] {
            tools.steps.add_permits(steps);
            assert_eq!(told(&mut client).await, (number, page.to_owned()));
        }
        tools.steps.add_permits(1);
        assert_eq!(client.receive().await["result"]["content"][0]["text"], "7");
    });
}

fn operations(count: u64) -> Json {
    json!({ "operations": (1..=count).map(|n| json!({ "n": n })).collect::<Vec<_>>() })
}

/// A fanned-out call is told about as one thing, when that changes.
#[test]
fn how_far_operations_are_is_told_once_for_all_of_them() {
    runtime().block_on(async {
        let (dispatcher, tools) = dispatcher();
        let (mut first, mut second) = (connect(&dispatcher).await, connect(&dispatcher).await);
        first.call(1, "steps", 100).await;
        tools.until_begun(1).await;
        first.call(2, "steps", 101).await;
        // The second call stands before it: it is read when what comes after it is answered.
        first.call(3, "free", 102).await;
        assert_eq!(first.receive().await["id"], 3);
        watched_call(&mut second, 1, "steps", operations(3)).await;
        assert_eq!(told(&mut second).await, (1.0, "queued: key k, 1 ahead".to_owned()));
        for (id, number, message) in [
            (Some(1), 2.0, "queued: key k, next in line"),
            (Some(2), 3.0, "running, 0 of 3 done"),
            (None, 4.0, "running, 1 of 3 done"),
            (None, 5.0, "running, 2 of 3 done"),
        ] {
            tools.steps.add_permits(1);
            assert_eq!(told(&mut second).await, (number, message.to_owned()));
            if let Some(id) = id {
                assert_eq!(first.receive().await["id"], id);
            }
        }
        tools.steps.add_permits(1);
        assert_eq!(second.receive().await["result"]["isError"], false);
    });
}

#[test]
fn calls_of_others_are_no_news_to_those_that_wait() {
    const OTHERS: u64 = 100;
    runtime().block_on(async {
        let (dispatcher, tools) = dispatcher();
        let (mut first, mut second) = (connect(&dispatcher).await, connect(&dispatcher).await);
        first.call(1, "hangs", 0).await;
        tools.until_begun(1).await;
        watched_call(&mut second, 1, "steps", operations(2_000)).await;
        assert_eq!(told(&mut second).await, (1.0, "queued: key k, next in line".to_owned()));
        for n in 0..OTHERS {
            first.call(2 + n, "free", n).await;
            assert_eq!(first.receive().await["id"], 2 + n);
        }
        let params = json!({ "requestId": 1 });
        let cancelled =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        first.send(&cancelled).await;
        assert_eq!(told(&mut second).await, (2.0, "running, 0 of 2000 done".to_owned()));
    });
}

/// Each client is told once, whoever said it and however often it has said hello; of one that has gone nothing is left.
#[test]
fn clients_are_told_when_tools_change() {
    runtime().block_on(async {
        let (dispatcher, tools) = dispatcher();
        let mut clients = [connect(&dispatcher).await, connect(&dispatcher).await];
        for client in &mut clients {
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        }
        let mut subscribers = tools.subscribers.subscribe();
        let expected = clients.len();
        subscribers.wait_for(|count| *count == expected).await.expect("its sender lives");
        tools.changes.send_replace(());
        for client in &mut clients {
            assert_eq!(client.receive().await["method"], "notifications/tools/list_changed");
            client.call(2, "keyed", 2).await;
            assert_eq!(client.receive().await["id"], 2);
        }
        drop(clients);
        tools.changes.closed().await;
    });
}

/// What is refused, and that the next call is served all the same.
#[test]
fn bad_input_is_refused_and_nothing_of_the_rest_is_lost() {
    runtime().block_on(async {
        let (dispatcher, _) = dispatcher();
        let mut client = connect(&dispatcher).await;
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
