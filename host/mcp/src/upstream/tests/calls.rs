use jp_policy_runtime::tools::{GRACE, Progress};
use serde_json::json;
use tokio::time::Instant;

use super::fake_server::*;

#[tokio::test(start_paused = true)]
async fn arguments_reach_the_server_as_they_are() {
    let (servers, [mut a]) = servers(["a"]);
    let arguments = json!({ "n": 1.5, "list": [null, "x"], "table": { "y": true } });
    let running = call_with(&servers, "a", "echo", arguments.clone());
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    assert_eq!(request["params"]["arguments"], arguments);
    server.say(&request, "").await;
    assert_eq!(running.outcome().await, success(""));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_a_failure_in_the_servers_words() {
    let (servers, [mut a]) = servers(["a"]);
    let running = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    let error = json!({ "code": -32602, "message": "`n` is\n missing\u{1b}[31m" });
    server.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    let message = "tool `echo`: MCP server `a`: `n` is  missing\u{fffd}[31m";
    assert_eq!(running.outcome().await, failure(message, false));
}

#[tokio::test(start_paused = true)]
async fn progress_reaches_the_call_it_is_of() {
    let (servers, [mut a]) = servers(["a"]);
    let mut running = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    let token = &request["params"]["_meta"]["progressToken"];
    let params = json!({ "progressToken": token, "progress": 3, "total": 4, "message": "a\nb" });
    let progress = json!({
        "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
    });
    server.send(&progress).await;
    match running.events.recv().await {
        Some(HostEvent::Progress(progress)) => assert_eq!(
            progress,
            Progress { done: 3.0, total: Some(4.0), message: Some("a b".to_owned()) }
        ),
        other => panic!("{other:?}"),
    }
    server.say(&request, "done").await;
    assert_eq!(running.outcome().await, success("done"));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_when_the_server_says_so() {
    let (servers, [mut a]) = servers(["a"]);
    let running = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    running.stop.gently.cancel();
    let cancelled = server.expect("notifications/cancelled").await;
    assert_eq!(
        cancelled["params"],
        json!({ "requestId": request["id"], "reason": "the call was cancelled" })
    );
    assert!(!running.is_over());
    let error = json!({ "code": 0, "message": "Request cancelled" });
    server.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    let (_, stopped) = running.ran().await;
    assert!(stopped);
    // The server is as good as before.
    let next = call(&servers, "a", "echo");
    let request = server.call().await;
    server.say(&request, "next").await;
    assert_eq!(next.outcome().await, success("next"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_stop_a_call_is_ended_after_the_grace_time() {
    let (servers, [mut a]) = servers(["a"]);
    let (running, beside) = (call(&servers, "a", "echo"), call(&servers, "a", "other"));
    let mut server = a.next().await;
    server.serve(&["echo", "other"]).await;
    server.call().await;
    server.call().await;
    let start = Instant::now();
    running.stop.gently.cancel();
    server.expect("notifications/cancelled").await;
    assert_eq!(server.next_if_any().await, None);
    let (_, stopped) = running.ran().await;
    assert!(stopped);
    assert_eq!(start.elapsed().as_secs(), GRACE.as_secs());
    let message = "tool `other`: MCP server `a` was killed, because it did not stop a cancelled call of tool `echo`";
    assert_eq!(beside.outcome().await, failure(message, true));
}

#[tokio::test(start_paused = true)]
async fn a_killed_call_does_not_wait_for_the_server() {
    let (servers, [mut a]) = servers(["a"]);
    let running = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    server.call().await;
    let start = Instant::now();
    running.stop.gently.cancel();
    server.expect("notifications/cancelled").await;
    running.stop.now.cancel();
    let (_, stopped) = running.ran().await;
    assert!(stopped);
    assert_eq!(start.elapsed().as_secs(), 0);
    assert_eq!(server.next_if_any().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_keeps_no_cancelled_call() {
    let (servers, [mut a]) = servers(["a"]);
    let running = call_with(&servers, "a", "echo", json!({ "x": "y".repeat(1 << 20) }));
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    // The call does not fit into the pipe, and nobody reads it to its end.
    server.until_message().await;
    running.stop.gently.cancel();
    let (_, stopped) = running.ran().await;
    assert!(stopped);
    drop(server);
}
