//! The library's coordinator with real processes and people that are a function.

mod coordinator {
    mod asking;
    mod gate;
    mod late;
    mod pace;
    mod puppets;
    mod time;
}

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
};

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::Carried,
    policy::{Arguments, FaultKind, Identity, Native, Policy, PolicyFactory, Refusal},
    scheduler::{Event, EventKind},
};
use jp_policy_core::{
    prompt::{Answer, Approval, Prompt, Reply},
    response::{Response, Status},
};
use jp_policy_guest::{Batch, Decision, Settings, View};
use jp_policy_runtime::{
    coordinator::{
        AutoPrompter, Coordinator, Finished, Handle, Observer, Prompter, Setup, Snapshot,
    },
    message::{self, Requests},
    tools::{LocalTools, Workspace},
};
use jp_policy_wasm::{Component, Engine};
use serde_json::{Value as Json, json};

/// People that reply as a function says, one prompt after the other.
struct Scripted<F>(Mutex<F>);

impl<F: FnMut(&Prompt) -> Reply + Send> Prompter for Scripted<F> {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        let reply = (self.0.lock().expect("no test panics here"))(&prompt);
        Box::pin(std::future::ready(reply))
    }
}

fn scripted(reply: impl FnMut(&Prompt) -> Reply + Send + 'static) -> Arc<dyn Prompter> {
    Arc::new(Scripted(Mutex::new(reply)))
}

fn run(
    config: &str,
    batch: &Json,
    people: Arc<dyn Prompter>,
    factory: &dyn PolicyFactory,
) -> Finished {
    let config = Config::from_sources(&[Source::new("tools.toml", config)])
        .expect("the configuration holds");
    let Requests { calls, .. } = message::parse(&batch.to_string()).expect("the batch is one");
    let workspace = Workspace { root: std::env::temp_dir(), ..Workspace::default() };
    let setup = Setup {
        config: &config,
        tools: Arc::new(LocalTools::new(&config, workspace)),
        factory,
        prompter: people,
        timeout: None,
        carried: Carried::default(),
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime can be made").block_on(async {
        let coordinator = Coordinator::new(setup).expect("the policy takes the configuration");
        coordinator.run(calls, &mut ()).await
    })
}

fn component() -> Component {
    let engine = Engine::new().expect("an engine can be made");
    Component::embedded(&engine).expect("the default component loads")
}

fn nobody() -> Arc<dyn Prompter> {
    Arc::new(AutoPrompter { approve: true })
}

fn contents(responses: &[Response]) -> Vec<(&str, Status, &str)> {
    responses
        .iter()
        .map(|response| (&*response.id, response.status, response.content.trim()))
        .collect()
}

/// Case 37: two calls ask under the same name at once; each gets its own answer, and the prompts name their call.
#[test]
fn answers_go_to_the_call_that_asked() {
    let config = r#"
        [conversation.tools.make_shape]
        run = "unattended"
        command = { program = "sh", args = ["-c", """
            if [ "$1" = null ]; then
                echo '{"type":"needs_input","question":{"id":"color","text":"Which?","answer_type":"Text"}}'
            else
                echo "$2 is $1"
            fi
        """, "sh", "{{tool.answers.color}}", "{{tool.arguments.shape}}"] }
    "#;
    let batch = json!([
        { "id": "A", "name": "make_shape", "arguments": { "shape": "circle" } },
        { "id": "B", "name": "make_shape", "arguments": { "shape": "square" } },
    ]);
    let people = scripted(|prompt| match prompt {
        Prompt::Question { id, .. } => {
            Reply::Answer(Answer::Given(json!(if **id == *"A" { "red" } else { "blue" })))
        }
        other => panic!("nobody asked for {other:?}"),
    });
    let finished = run(config, &batch, people, &component());
    assert_eq!(
        contents(&finished.responses),
        [("A", Status::Ok, "circle is red"), ("B", Status::Ok, "square is blue")]
    );
}

/// Prompts come one at a time, in written order, while nothing is released; a rejection concerns its own call.
#[test]
fn approvals_come_in_written_order_before_anything_runs() {
    let config = r#"
        [conversation.tools.t]
        run = "ask"
        concurrency = 1
        command = "echo {{tool.arguments.n}}"
    "#;
    let batch = json!([
        { "id": "A", "name": "t", "arguments": { "n": 1 } },
        { "id": "B", "name": "t", "arguments": { "n": 2 } },
        { "id": "C", "name": "t", "arguments": { "n": 3 } },
    ]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let people = scripted({
        let asked = asked.clone();
        move |prompt| {
            let Prompt::Approve { arguments, .. } = prompt else { panic!("an approval") };
            let n = arguments["n"].as_i64().expect("a number");
            asked.lock().expect("no panic").push(n);
            Reply::Approval(match n {
                1 => Approval::Reject("not this one".to_owned()),
                2 => Approval::Run(json!({ "n": 20 }).as_object().cloned()),
                _ => Approval::Run(None),
            })
        }
    });
    let finished = run(config, &batch, people, &component());
    assert_eq!(*asked.lock().expect("no panic"), [1, 2, 3]);
    assert_eq!(
        contents(&finished.responses),
        [("A", Status::NotRun, "not this one"), ("B", Status::Ok, "20"), ("C", Status::Ok, "3"),]
    );
    let parked = finished.record.calls[2].parked[0].from;
    assert!(finished.record.calls[1].runs[0].span.from >= parked, "B waits until C is decided");
}

/// Case 112: sixteen calls in two waves, and no response is lost, however often.
#[test]
fn no_response_is_lost_when_many_end_together() {
    let config = r#"
        [conversation.tools.sed]
        run = "unattended"
        concurrency = 8
        command = "echo {{tool.arguments.n}}"
    "#;
    let calls: Vec<Json> = (0..16)
        .map(|n| json!({ "id": format!("c{n}"), "name": "sed", "arguments": { "n": n } }))
        .collect();
    let ids: Vec<(String, String)> = (0..16).map(|n| (format!("c{n}"), n.to_string())).collect();
    let expected: Vec<(&str, Status, &str)> =
        ids.iter().map(|(id, n)| (id.as_str(), Status::Ok, n.as_str())).collect();
    for _ in 0..30 {
        let finished = run(config, &Json::Array(calls.clone()), nobody(), &Native::rules());
        assert_eq!(contents(&finished.responses), expected);
        assert!(finished.record.peaks[0] <= 8);
    }
}

/// Case 107: five hundred calls without a key start at once, and have their responses in written order.
#[test]
fn five_hundred_calls_without_a_key_are_all_released_at_once() {
    let config = r#"
        [conversation.tools.read]
        run = "unattended"
        command = "echo {{tool.arguments.n}}"
    "#;
    let calls: Vec<Json> =
        (0..500).map(|n| json!({ "name": "read", "arguments": { "n": n } })).collect();
    let finished = run(config, &Json::Array(calls), nobody(), &component());
    let numbers: Vec<usize> = finished
        .responses
        .iter()
        .map(|response| response.content.trim().parse().expect("a number"))
        .collect();
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
    assert_eq!(finished.cost.decisions, 1, "one decision releases them all");
}

/// What is skipped never waits for a decision.
#[test]
fn a_thousand_calls_that_are_not_run_cost_no_decision() {
    let config = r#"
        [conversation.tools.t]
        run = "skip"
        concurrency = 4
    "#;
    let calls: Vec<Json> = (0..1000).map(|_| json!({ "name": "t" })).collect();
    let finished = run(config, &Json::Array(calls), nobody(), &component());
    assert!(finished.responses.iter().all(|response| response.status == Status::NotRun));
    assert_eq!(finished.cost.decisions, 0, "what is not run is not asked about");
}

/// A policy that thinks for ever when it is asked for the second time.
struct Thinks {
    identity: Identity,
    asked: Arc<Mutex<Option<Sender<()>>>>,
}

struct Thinking {
    questions: u32,
    asked: Arc<Mutex<Option<Sender<()>>>>,
    never: Mutex<Receiver<()>>,
    /// What keeps `never` from ending.
    _open: Sender<()>,
}

impl PolicyFactory for Thinks {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn instantiate(&self, _: &Settings, _: Arguments) -> Result<Box<dyn Policy>, Refusal> {
        let (open, never) = channel();
        Ok(Box::new(Thinking {
            questions: 0,
            asked: self.asked.clone(),
            never: Mutex::new(never),
            _open: open,
        }))
    }
}

impl Policy for Thinking {
    fn view(&self) -> View {
        View::Front
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        self.questions += 1;
        if self.questions == 2 {
            // Dropped, so that whoever waits for the second question goes on.
            drop(self.asked.lock().expect("no panic").take());
            let _ = self.never.get_mut().expect("no panic").recv();
        }
        let first = batch.calls.iter().filter(|call| call.key.is_none()).chain(batch.calls.first());
        Ok(Decision::release(first.map(|call| call.id)))
    }
}

/// Cancels as soon as the call of this place has ended.
struct CancelsAfter(u32, Option<Handle>);

impl Observer for CancelsAfter {
    fn event(&mut self, event: &Event, _: &Snapshot<'_>) {
        if let EventKind::Ended(Some(call), ..) = event.kind
            && call == self.0
            && let Some(handle) = self.1.take()
        {
            handle.cancel();
        }
    }
}

/// Case 121: while the policy hangs, results are taken, the person can cancel, and every call has its response.
#[test]
fn a_policy_that_hangs_blocks_nothing_but_releases() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = r#"
        [conversation.tools.t]
        run = "unattended"
        concurrency = 1
        command = "true"
        [conversation.tools.u]
        run = "unattended"
        command = { program = "until [ -e go ]; do sleep 0.01; done; echo went", shell = true }
    "#;
    let config = Config::from_sources(&[Source::new("tools.toml", config)]).expect("it holds");
    let batch =
        json!([{ "id": "A", "name": "t" }, { "id": "B", "name": "t" }, { "id": "U", "name": "u" }]);
    let (asked, second) = channel::<()>();
    let factory = Thinks {
        identity: Identity { name: "thinks".into(), digest: None },
        asked: Arc::new(Mutex::new(Some(asked))),
    };
    let go = folder.path().join("go");
    let waiter = std::thread::spawn(move || {
        // Ends with the sender: the policy has been asked twice, and thinks.
        assert!(second.recv().is_err());
        std::fs::write(go, "").expect("it can be written");
    });
    let workspace = Workspace { root: folder.path().to_owned(), ..Workspace::default() };
    let setup = Setup {
        config: &config,
        tools: Arc::new(LocalTools::new(&config, workspace)),
        factory: &factory,
        prompter: nobody(),
        timeout: None,
        carried: Carried::default(),
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let finished = runtime.block_on(async {
        let coordinator = Coordinator::new(setup).expect("it takes everything");
        let mut observer = CancelsAfter(2, Some(coordinator.handle()));
        let calls = message::parse(&batch.to_string()).expect("a batch").calls;
        coordinator.run(calls, &mut observer).await
    });
    waiter.join().expect("the second question came");
    runtime.shutdown_background();
    assert_eq!(
        contents(&finished.responses),
        [
            ("A", Status::Ok, ""),
            ("B", Status::Cancelled, "The tool call was cancelled."),
            ("U", Status::Ok, "went"),
        ]
    );
}
