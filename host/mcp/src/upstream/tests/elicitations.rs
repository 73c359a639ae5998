use jp_policy_core::outcome::AnswerType;
use serde_json::{Value as Json, json};

use super::fake_server::*;

fn elicitation(id: &str, property: &Json) -> Json {
    let schema =
        json!({ "type": "object", "properties": { "color": property }, "required": ["color"] });
    let params = json!({ "message": "About the paint", "requestedSchema": schema });
    json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params })
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_a_question_goes_on_with_the_open_request() {
    let (servers, [mut a]) = servers(["a"]);
    let mut running = call(&servers, "a", "paint");
    let mut server = a.next().await;
    server.serve(&["paint"]).await;
    let request = server.call().await;
    let property = json!({ "type": "string", "title": "Colour", "enum": ["red", "blue"] });
    server.send(&elicitation("q", &property)).await;
    let (question, reply) = running.question().await;
    assert_eq!(question.id, "color");
    assert_eq!(question.text, "Colour");
    assert_eq!(question.pre_amble.as_deref(), Some("About the paint"));
    let options = vec!["red".to_owned(), "blue".to_owned()];
    assert_eq!(question.answer_type, AnswerType::Select { options });
    assert!(!running.is_over());
    reply.send(Some("blue".into())).expect("it waits");
    assert_eq!(
        server.next().await,
        json!({
            "jsonrpc": "2.0", "id": "q",
            "result": { "action": "accept", "content": { "color": "blue" } },
        })
    );
    server.say(&request, "painted").await;
    assert_eq!(running.outcome().await, success("painted"));
}

#[tokio::test(start_paused = true)]
async fn a_dismissed_question_is_a_cancelled_form() {
    let (servers, [mut a]) = servers(["a"]);
    let mut running = call(&servers, "a", "paint");
    let mut server = a.next().await;
    server.serve(&["paint"]).await;
    let request = server.call().await;
    server.send(&elicitation("q", &json!({ "type": "string" }))).await;
    let (_, reply) = running.question().await;
    reply.send(None).expect("it waits");
    assert_eq!(server.next().await["result"], json!({ "action": "cancel" }));
    server.say(&request, "not painted").await;
    assert_eq!(running.outcome().await, success("not painted"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_while_it_asks_answers_the_server_and_waits_for_it() {
    let (servers, [mut a]) = servers(["a"]);
    let mut running = call(&servers, "a", "paint");
    let mut server = a.next().await;
    server.serve(&["paint"]).await;
    let request = server.call().await;
    server.send(&elicitation("q", &json!({ "type": "string" }))).await;
    let (_, reply) = running.question().await;
    running.stop.gently.cancel();
    let mut messages = [server.next().await, server.next().await];
    messages.sort_by_key(|message| message["method"].is_string());
    assert_eq!(messages[0]["result"], json!({ "action": "cancel" }));
    assert_eq!(messages[1]["method"], "notifications/cancelled");
    assert!(reply.is_closed());
    assert!(!running.is_over());
    server.say(&request, "too late").await;
    let (_, stopped) = running.ran().await;
    assert!(stopped);
}

#[tokio::test(start_paused = true)]
async fn a_server_may_withdraw_its_question() {
    let (servers, [mut a]) = servers(["a"]);
    let mut running = call(&servers, "a", "paint");
    let mut server = a.next().await;
    server.serve(&["paint"]).await;
    let request = server.call().await;
    server.send(&elicitation("q", &json!({ "type": "string" }))).await;
    let (_, mut reply) = running.question().await;
    server
        .send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "q" },
        }))
        .await;
    reply.closed().await;
    server.say(&request, "without").await;
    assert_eq!(running.outcome().await, success("without"));
}

#[tokio::test(start_paused = true)]
async fn a_question_outlives_the_call_in_whose_name_it_was_asked() {
    let (servers, [mut a]) = servers(["a"]);
    let mut first = call(&servers, "a", "paint");
    let mut server = a.next().await;
    server.serve(&["paint"]).await;
    let of_first = server.call().await;
    let second = call(&servers, "a", "paint");
    let of_second = server.call().await;
    // Of whom it is does not stand in it: it is taken for the first one's.
    server.send(&elicitation("q", &json!({ "type": "string" }))).await;
    let (_, reply) = first.question().await;
    server.say(&of_first, "one").await;
    // The host has read it when it answers what comes after it.
    server.send(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" })).await;
    assert_eq!(server.next().await["id"], "p");
    assert!(!first.is_over());
    reply.send(Some("red".into())).expect("it waits");
    assert_eq!(server.next().await["result"]["content"], json!({ "color": "red" }));
    server.say(&of_second, "two").await;
    assert_eq!(first.outcome().await, success("one"));
    assert_eq!(second.outcome().await, success("two"));
}

#[tokio::test(start_paused = true)]
async fn two_calls_that_ask_ask_both() {
    let (servers, [mut a]) = servers(["a"]);
    let mut first = call(&servers, "a", "paint");
    let mut server = a.next().await;
    server.serve(&["paint"]).await;
    let of_first = server.call().await;
    let mut second = call(&servers, "a", "paint");
    let of_second = server.call().await;
    server.send(&elicitation("q1", &json!({ "type": "integer" }))).await;
    let (_, one) = first.question().await;
    server.send(&elicitation("q2", &json!({ "type": "boolean" }))).await;
    let (_, two) = second.question().await;
    two.send(Some(true.into())).expect("it waits");
    let answer = server.next().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"]),
        (&"q2".into(), &json!({ "color": true }))
    );
    one.send(Some("7".into())).expect("it waits");
    let answer = server.next().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"]),
        (&"q1".into(), &json!({ "color": 7 }))
    );
    server.say(&of_first, "one").await;
    server.say(&of_second, "two").await;
    assert_eq!(first.outcome().await, success("one"));
    assert_eq!(second.outcome().await, success("two"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_without_a_call_gets_no_answer() {
    let (servers, [mut a]) = servers(["a"]);
    let running = call(&servers, "a", "paint");
    let mut server = a.next().await;
    server.serve(&["paint"]).await;
    let request = server.call().await;
    server.say(&request, "painted").await;
    assert_eq!(running.outcome().await, success("painted"));
    server.send(&elicitation("q", &json!({ "type": "string" }))).await;
    assert_eq!(server.next().await["result"], json!({ "action": "cancel" }));
}
