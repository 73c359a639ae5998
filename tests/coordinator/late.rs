//! Calls that are handed in one by one while others run.

use std::sync::Arc;

use jp_policy_core::{
    outcome::{AnswerType, Outcome, Question},
    prompt::{Answer, Approval, Prompt, Reply},
    response::{Response, Status},
};
use jp_policy_runtime::coordinator::{AutoPrompter, Prompter};
use tokio::sync::{Mutex, oneshot};

use super::puppets::{call, coordinator, play, play_with};

const T: &str = r#"
    [conversation.tools.t]
    run = "unattended"
    concurrency = 1
    [conversation.tools.v]
    run = "unattended"
    concurrency = 1
    [conversation.tools.read]
    run = "unattended"
    [conversation.tools.ask]
    run = "ask"
    concurrency = { key = "t" }
"#;

fn all(responses: &[Response]) -> String {
    let each = responses.iter().map(|response| {
        let status = match response.status {
            Status::Ok => "ok",
            Status::Error => "error",
            Status::NotRun => "not run",
            Status::Cancelled => "cancelled",
        };
        format!("{} {status}: {}", response.id, response.content)
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Cases 73 and 74: a newcomer takes its place behind those that wait, and pushes nobody out.
#[test]
fn a_newcomer_waits_behind_those_before_it() {
    let responses = play(T, |mut coordinator, mut play| {
        let submitter = coordinator.submitter();
        (coordinator, async move {
            submitter.submit(call("A", "t"));
            let a = play.run("A").await;
            for id in ["B", "C", "D"] {
                submitter.submit(call(id, "t"));
            }
            play.until("D parked").await;
            a.succeed();
            for id in ["B", "C", "D"] {
                play.run(id).await.succeed();
            }
            drop(submitter);
            assert_eq!(
                play.rest().await.join(", "),
                "A parked, A released, B parked, C parked, D parked, A ended, A settled, B released, B ended, B settled, \
                 C released, C ended, C settled, D released, D ended, D settled"
            );
        })
    });
    assert_eq!(all(&responses), "A ok: A, B ok: B, C ok: C, D ok: D");
}

/// Case 76: while a reply is being written nothing of it starts.
#[test]
fn nothing_starts_before_the_reply_is_written() {
    let responses = play(T, |mut coordinator, mut play| {
        let submitter = coordinator.reply_submitter();
        (coordinator, async move {
            submitter.submit(call("A", "read"));
            play.until("A parked").await;
            submitter.submit(call("K", "t"));
            play.until("K parked").await;
            submitter.submit(call("B", "read"));
            play.until("B parked").await;
            assert_eq!(play.log.join(", "), "A parked, K parked, B parked");
            drop(submitter);
            play.until("B released").await;
            assert_eq!(play.log[3..].join(", "), "A released, K released, B released");
            for id in ["B", "K", "A"] {
                play.run(id).await.succeed();
            }
        })
    });
    assert_eq!(all(&responses), "A ok: A, K ok: K, B ok: B");
}

/// Case 76: of a reply that breaks off nothing has run.
#[test]
fn of_a_reply_that_breaks_off_nothing_runs() {
    let responses = play(T, |mut coordinator, mut play| {
        let (submitter, handle) = (coordinator.reply_submitter(), coordinator.handle());
        (coordinator, async move {
            submitter.submit(call("A", "read"));
            submitter.submit(call("K", "t"));
            play.until("K parked").await;
            handle.cancel();
            drop(submitter);
            assert_eq!(
                play.rest().await.join(", "),
                "A parked, K parked, cancelled, A settled, K settled"
            );
        })
    });
    assert_eq!(
        all(&responses),
        "A cancelled: The tool call was cancelled., K cancelled: The tool call was cancelled."
    );
}

/// After a cancel a newcomer is settled at once, although the batch is open for more and a stopped call may still run.
#[test]
fn after_a_cancel_a_newcomer_is_settled_at_once() {
    let responses = play(T, |mut coordinator, mut play| {
        let (submitter, handle) = (coordinator.submitter(), coordinator.handle());
        (coordinator, async move {
            submitter.submit(call("A", "t"));
            let a = play.run("A").await;
            handle.cancel();
            let b = submitter.submit(call("B", "ask")).response().await.expect("it has one");
            let c = submitter.submit(call("C", "nobody")).response().await.expect("it has one");
            assert_eq!(
                all(&[b, c]),
                "B cancelled: The tool call was cancelled., C cancelled: cancelled"
            );
            a.stop.gently.cancelled().await;
            drop(submitter);
            assert_eq!(
                play.rest().await.iter().filter(|line| line.ends_with("released")).count(),
                1
            );
        })
    });
    assert_eq!(
        all(&responses),
        "A cancelled: The tool call was cancelled., B cancelled: The tool call was cancelled., C cancelled: cancelled"
    );
}

/// A batch in which nothing is left to do stays open for whoever may still submit, and clones count.
#[test]
fn a_batch_stays_open_until_nobody_can_submit() {
    let responses = play(T, |mut coordinator, mut play| {
        let first = coordinator.submitter();
        (coordinator, async move {
            let second = first.clone();
            let mut a = first.submit(call("A", "t"));
            play.run("A").await.succeed();
            assert_eq!(a.response().await.map(|response| response.content).as_deref(), Some("A"));
            drop(first);
            let mut b = second.submit(call("B", "t"));
            play.run("B").await.succeed();
            assert_eq!(b.response().await.map(|response| response.content).as_deref(), Some("B"));
        })
    });
    assert_eq!(all(&responses), "A ok: A, B ok: B");
}

/// People who are asked one after the other, and say yes when the test does.
struct Slow(Mutex<Vec<oneshot::Receiver<()>>>);

impl Prompter for Slow {
    fn ask(&self, prompt: Prompt) -> std::pin::Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        Box::pin(async move {
            let said = self.0.lock().await.remove(0);
            said.await.expect("the test says so");
            match prompt {
                Prompt::Approve { .. } => Reply::Approval(Approval::Run(None)),
                Prompt::Question { .. } => Reply::Answer(Answer::Given("yes".into())),
                other @ Prompt::Review { .. } => panic!("nobody asked for {other:?}"),
            }
        })
    }
}

/// A newcomer that is undecided holds back later calls of its key, and nothing else.
#[test]
fn an_undecided_newcomer_holds_back_its_key_only() {
    let (yes, said) = oneshot::channel();
    let responses =
        play_with(T, Arc::new(Slow(Mutex::new(vec![said]))), |mut coordinator, mut play| {
            let submitter = coordinator.submitter();
            (coordinator, async move {
                submitter.submit(call("A", "read"));
                let a = play.run("A").await;
                submitter.submit(call("B", "ask"));
                submitter.submit(call("C", "t"));
                submitter.submit(call("D", "v"));
                play.run("D").await.succeed();
                play.until("D settled").await;
                yes.send(()).expect("somebody is asked");
                play.run("B").await.succeed();
                play.run("C").await.succeed();
                a.succeed();
                play.until("C settled").await;
                let order = |line: &str| play.log.iter().position(|known| known == line);
                assert!(order("D settled") < order("B parked"), "{:?}", play.log);
                assert!(order("B ended") < order("C released"), "{:?}", play.log);
            })
        });
    assert_eq!(all(&responses), "A ok: A, B ok: B, C ok: C, D ok: D");
}

/// Case 77: a newcomer of another key starts beside an open question, one of the same key after it.
#[test]
fn a_newcomer_of_another_key_starts_beside_a_question() {
    let (yes, said) = oneshot::channel();
    let responses = play_with(
        T,
        Arc::new(Slow(Mutex::new(vec![said]))),
        |mut coordinator, mut play| {
            let submitter = coordinator.submitter();
            (coordinator, async move {
                submitter.submit(call("A", "t"));
                let question = Question {
                    id: "q".to_owned(),
                    text: "Really?".to_owned(),
                    pre_amble: None,
                    answer_type: AnswerType::Text,
                    default: None,
                };
                let asks = play.run("A").await;
                asks.end.send(Outcome::NeedsInput { question }).expect("it is waited for");
                play.until("A asks").await;
                submitter.submit(call("B", "t"));
                submitter.submit(call("D", "v"));
                play.run("D").await.succeed();
                play.until("D settled").await;
                yes.send(()).expect("somebody is asked");
                play.run("A").await.succeed();
                play.run("B").await.succeed();
                drop(submitter);
                assert_eq!(
                    play.rest().await.join(", "),
                    "A parked, A released, A asks, B parked, D parked, D released, D ended, D settled, A ended, A settled, \
                     B released, B ended, B settled"
                );
            })
        },
    );
    assert_eq!(all(&responses), "A ok: A, B ok: B, D ok: D");
}

/// The written order is the order of submission, however many threads run executions.
#[test]
fn the_written_order_is_the_order_of_submission() {
    const CALLS: usize = 1000;
    let responses =
        play_with(T, Arc::new(AutoPrompter { approve: true }), |mut coordinator, mut play| {
            let submitter = coordinator.submitter();
            (coordinator, async move {
                let ids: Vec<String> = (0..CALLS).map(|n| n.to_string()).collect();
                for id in &ids {
                    submitter.submit(call(id, "t"));
                }
                drop(submitter);
                for id in &ids {
                    play.run(id).await.succeed();
                }
                let released: Vec<String> = play
                    .rest()
                    .await
                    .iter()
                    .filter_map(|line| line.strip_suffix(" released").map(str::to_owned))
                    .collect();
                assert_eq!(released, ids);
            })
        });
    assert_eq!(responses.len(), CALLS);
    assert!((0..CALLS).all(|n| *responses[n].id == *n.to_string()));
}

/// Who waits for a response of a coordinator that is dropped learns that there is none.
#[test]
fn a_ticket_of_a_dropped_coordinator_is_void() {
    let (mut coordinator, _started) = coordinator(T, Arc::new(AutoPrompter { approve: true }));
    let mut ticket = coordinator.submitter().submit(call("A", "t"));
    drop(coordinator);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    assert_eq!(runtime.block_on(ticket.response()), None);
}

/// Who takes back one call settles it alone: a parked one at once, a running one when it is gone.
#[test]
fn a_call_can_be_withdrawn_alone() {
    let responses = play(T, |mut coordinator, mut play| {
        let submitter = coordinator.submitter();
        (coordinator, async move {
            let mut a = submitter.submit(call("A", "t"));
            let mut b = submitter.submit(call("B", "t"));
            let _c = submitter.submit(call("C", "t"));
            let a_runs = play.run("A").await;
            b.withdraw();
            assert_eq!(b.response().await.map(|response| response.id).as_deref(), Some("B"));
            a.withdraw();
            a_runs.stop.gently.cancelled().await;
            assert_eq!(a.response().await.map(|response| response.id).as_deref(), Some("A"));
            // Its slot is handed on, and what has its response is nobody's to take back.
            play.run("C").await.succeed();
            a.withdraw();
        })
    });
    assert_eq!(
        all(&responses),
        "A cancelled: The tool call was cancelled., B cancelled: The tool call was cancelled., C ok: C"
    );
}
