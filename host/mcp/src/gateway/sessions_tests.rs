use jp_policy_config::{Config, Source};
use jp_policy_core::catalog::Terms;
use jp_policy_core::policy::Native;
use jp_policy_runtime::{
    coordinator::AutoPrompter,
    tools::{Invocation, Ran, Running, Stop, Tools},
};
use rmcp::serve_server;
use serde_json::{Value as Json, json};
use tokio::{sync::Notify, time::Instant};

use super::*;
use crate::gateway::{ClientPrompter, Handler};

/// Its only tool says that it has begun, and runs until it is stopped.
struct Hangs(Arc<Notify>);

impl Tools for Hangs {
    fn terms(&self, _: &str) -> Option<Terms<'_>> {
        Some(Terms::default())
    }

    fn names(&self) -> Vec<&str> {
        vec!["hangs"]
    }

    fn run<'a>(&'a self, _: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        self.0.notify_one();
        Box::pin(async {
            stop.gently.cancelled().await;
            Ran { stopped: true, ..jp_policy_core::outcome::Outcome::error("stopped").into() }
        })
    }
}

fn message(message: Json) -> ClientJsonRpcMessage {
    serde_json::from_value(message).expect("a message")
}

/// A session whose client is initialized, and what is notified when a call has begun.
async fn session() -> (Arc<Dispatcher>, Arc<Sessions>, SessionId, Arc<Notify>) {
    let begun = Arc::new(Notify::new());
    let text = "conversation.tools.hangs.run = 'unattended'";
    let config = Config::from_sources(&[Source::new("tools.toml", text)]).expect("it holds");
    let prompter = Arc::new(ClientPrompter::new(Arc::new(AutoPrompter { approve: true }), false));
    let rules = Arc::new(Native::rules());
    let dispatcher =
        Dispatcher::new(Arc::new(config), Arc::new(Hangs(begun.clone())), rules, prompter, None);
    let dispatcher = dispatcher.expect("the rules take everything");
    let sessions = Arc::new(Sessions::new(dispatcher.clone()));
    let (id, transport) = sessions.create_session().await.expect("a session");
    let handler = Handler::new(dispatcher.clone());
    tokio::spawn(async move {
        let service = serve_server(handler, transport).await.expect("hello");
        let _ = service.waiting().await;
    });
    let info = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    sessions.initialize_session(&id, message(hello)).await.expect("it is welcome");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    sessions.accept_message(&id, message(ready)).await.expect("it is there");
    (dispatcher, sessions, id, begun)
}

fn call() -> ClientJsonRpcMessage {
    let params = json!({ "name": "hangs", "arguments": {} });
    message(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_client_has_gone_is_cancelled_after_a_while() {
    let (dispatcher, sessions, id, begun) = session().await;
    let answer = sessions.create_stream(&id, call()).await.expect("it is taken");
    begun.notified().await;
    let start = Instant::now();
    drop(answer);
    dispatcher.idle().await;
    assert_eq!(start.elapsed().as_secs(), RESUME_TIMEOUT.as_secs());
}

#[tokio::test(start_paused = true)]
async fn one_that_comes_back_finds_its_call_running() {
    let (dispatcher, sessions, id, begun) = session().await;
    let answer = sessions.create_stream(&id, call()).await.expect("it is taken");
    begun.notified().await;
    drop(answer);
    tokio::time::sleep(RESUME_TIMEOUT / 2).await;
    let _answer = sessions.resume(&id, "0/0".to_owned()).await.expect("it is known");
    let still = tokio::select! {
        () = dispatcher.idle() => false,
        () = tokio::time::sleep(RESUME_TIMEOUT * 100) => true,
    };
    assert!(still, "it was cancelled");
    // The end of the session is that of its calls.
    sessions.close_session(&id).await.expect("it is there");
    dispatcher.idle().await;
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_is_left_alone() {
    let (dispatcher, sessions, id, begun) = session().await;
    let _answer = sessions.create_stream(&id, call()).await.expect("it is taken");
    begun.notified().await;
    let still = tokio::select! {
        () = dispatcher.idle() => false,
        () = tokio::time::sleep(RESUME_TIMEOUT * 100) => true,
    };
    assert!(still, "it was cancelled");
}
