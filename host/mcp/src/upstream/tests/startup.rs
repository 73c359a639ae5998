use serde_json::json;

use super::fake_server::*;
use crate::upstream::error::McpError;

#[tokio::test(start_paused = true)]
async fn a_server_is_started_by_the_first_call_and_serves_the_next_ones() {
    let (servers, [mut a, mut b]) = servers(["a", "b"]);
    assert!(a.is_none());
    let first = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    server.say(&request, "one").await;
    assert_eq!(first.outcome().await, success("one"));
    let second = call(&servers, "a", "echo");
    let request = server.call().await;
    server.say(&request, "two").await;
    assert_eq!(second.outcome().await, success("two"));
    assert!(a.is_none() && b.is_none());
}

#[tokio::test(start_paused = true)]
async fn all_pages_of_the_list_count() {
    let (servers, [mut a]) = servers(["a"]);
    let found = call(&servers, "a", "three");
    let mut server = a.next().await;
    server.initialize().await;
    let mut request = server.expect("tools/list").await;
    for (page, next) in [("one", Some("x")), ("two", Some("y")), ("three", None)] {
        let result = json!({ "tools": tools(&[page]), "nextCursor": next });
        server.answer(&request, result).await;
        if let Some(next) = next {
            request = server.expect("tools/list").await;
            assert_eq!(request["params"]["cursor"], next);
        }
    }
    let request = server.call().await;
    assert_eq!(request["params"]["name"], "three");
    server.say(&request, "found").await;
    assert_eq!(found.outcome().await, success("found"));
    assert_eq!(
        call(&servers, "a", "thre").outcome().await,
        failure(
            "tool `thre`: MCP server `a` offers no tool `thre`; offered are `one`, `two`, `three`; did you mean `three`?",
            false
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_without_end_is_given_up() {
    let (servers, [mut a]) = servers(["a"]);
    let lost = call(&servers, "a", "x");
    let mut server = a.next().await;
    server.initialize().await;
    for _ in 0..1000 {
        let request = server.expect("tools/list").await;
        server.answer(&request, json!({ "tools": [], "nextCursor": "again" })).await;
    }
    assert_eq!(
        lost.outcome().await,
        failure("tool `x`: MCP server `a`: its list of tools has more than 1000 pages", false)
    );
}

#[tokio::test]
async fn a_server_that_is_not_configured_is_said_to_be_so() {
    let (some, _starts) = servers(["everything", "git"]);
    assert_eq!(
        call(&some, "got", "add").outcome().await,
        failure(
            "tool `add`: MCP server `got` is not configured; configured are `everything`, `git`; did you mean `git`?",
            false
        )
    );
    let (none, []) = servers([]);
    assert_eq!(
        call(&none, "got", "add").outcome().await,
        failure("tool `add`: MCP server `got` is not configured; none is configured", false)
    );
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_start_fails_with_it_and_the_next_call_tries_again() {
    let (servers, [mut a]) = servers(["a"]);
    let waiting = [(); 3].map(|()| call(&servers, "a", "echo"));
    let mut server = a.next().await;
    let request = server.expect("initialize").await;
    let error = json!({ "code": -32000, "message": "not today" });
    server.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    let message = "tool `echo`: failed to start MCP server `a` (`a pipe`): it refused: not today";
    for call in waiting {
        assert_eq!(call.outcome().await, failure(message, false));
    }
    assert!(a.is_none());
    let again = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    server.say(&request, "well").await;
    assert_eq!(again.outcome().await, success("well"));
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_keeps_nobody_else_waiting_and_has_an_end() {
    let (servers, [mut slow, mut quick]) = servers(["slow", "quick"]);
    let waits = call(&servers, "slow", "echo");
    let mut stuck = slow.next().await;
    stuck.expect("initialize").await;
    let runs = call(&servers, "quick", "echo");
    let mut server = quick.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    server.say(&request, "quick").await;
    assert_eq!(runs.outcome().await, success("quick"));
    assert!(!waits.is_over());
    assert_eq!(
        waits.outcome().await,
        failure(
            "tool `echo`: failed to start MCP server `slow` (`a pipe`): not ready within 1m (`startup_timeout_secs`)",
            false
        )
    );
    // It is not there any more.
    assert_eq!(stuck.next_if_any().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_stopped_while_its_server_starts_leaves_the_others_theirs() {
    let (servers, [mut a]) = servers(["a"]);
    let first = call(&servers, "a", "echo");
    let mut stuck = a.next().await;
    let second = call(&servers, "a", "echo");
    first.stop.gently.cancel();
    let (_, stopped) = first.ran().await;
    assert!(stopped);
    stuck.expect("initialize").await;
    assert_eq!(stuck.next_if_any().await, None);
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    server.say(&request, "second").await;
    assert_eq!(second.outcome().await, success("second"));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_has_changed_is_asked_for_again() {
    let (servers, [mut a]) = servers(["a"]);
    let missing = call(&servers, "a", "new");
    let mut server = a.next().await;
    server.serve(&["old"]).await;
    assert_eq!(
        missing.outcome().await,
        failure("tool `new`: MCP server `a` offers no tool `new`; offered are `old`", false)
    );
    let mut changes = servers.changes();
    assert!(!changes.has_changed().expect("the servers are there"));
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })).await;
    // What the host answers to a ping comes after what it has done about the notification.
    server.send(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" })).await;
    assert_eq!(server.next().await["id"], "p");
    // Whoever offers its tools on is told.
    changes.changed().await.expect("the servers are there");
    let found = call(&servers, "a", "new");
    server.list(&["old", "new"]).await;
    let request = server.call().await;
    server.say(&request, "there").await;
    assert_eq!(found.outcome().await, success("there"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_fails_its_calls_and_is_started_again() {
    let (servers, [mut a]) = servers(["a"]);
    let calls = [(); 2].map(|()| call(&servers, "a", "echo"));
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    server.call().await;
    server.call().await;
    drop(server);
    for call in calls {
        let message = "tool `echo`: MCP server `a` closed the connection";
        assert_eq!(call.outcome().await, failure(message, true));
    }
    let next = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    server.say(&request, "back").await;
    assert_eq!(next.outcome().await, success("back"));
}

#[tokio::test(start_paused = true)]
async fn a_message_without_end_ends_the_server() {
    let (servers, [mut a]) = servers(["a"]);
    let lost = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    server.call().await;
    let chunk = "x".repeat(1 << 20);
    for _ in 0..17 {
        server.raw(&chunk).await;
    }
    assert_eq!(
        lost.outcome().await,
        failure(
            "tool `echo`: MCP server `a` was ended: it sent a message of more than 16.0 MiB",
            true
        )
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_no_message_is_passed_over() {
    let (servers, [mut a]) = servers(["a"]);
    let found = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.raw("Server running on stdio\n\n").await;
    server.serve(&["echo"]).await;
    let request = server.call().await;
    server.raw("{\"jsonrpc\":\n").await;
    server.say(&request, "fine").await;
    assert_eq!(found.outcome().await, success("fine"));
}

#[tokio::test(start_paused = true)]
async fn closed_servers_are_gone_and_do_not_come_back() {
    let (servers, [mut a, mut b]) = servers(["a", "b"]);
    let running = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.serve(&["echo"]).await;
    server.call().await;
    servers.close().await;
    assert_eq!(server.next_if_any().await, None);
    let ended = failure("tool `echo`: MCP server `a` was ended", true);
    assert_eq!(running.outcome().await, ended);
    assert_eq!(call(&servers, "a", "echo").outcome().await, ended);
    assert!(a.is_none() && b.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_does_not_come_has_an_end_too() {
    let (servers, [mut a]) = servers(["a"]);
    let lost = call(&servers, "a", "echo");
    let mut server = a.next().await;
    server.initialize().await;
    server.expect("tools/list").await;
    assert_eq!(
        lost.outcome().await,
        failure(
            "tool `echo`: MCP server `a`: `tools/list` was not answered within 1m (`startup_timeout_secs`)",
            false
        )
    );
}

#[test]
fn a_long_list_of_names_is_cut() {
    let known = (0..23).map(|n| format!("t{n}")).collect();
    let error = McpError::UnknownTool { server: "a".into(), tool: "zzzzzz".into(), known };
    let names: Vec<String> = (0..20).map(|n| format!("`t{n}`")).collect();
    assert_eq!(
        error.to_string(),
        format!(
            "MCP server `a` offers no tool `zzzzzz`; offered are {} and 3 more",
            names.join(", ")
        )
    );
}
