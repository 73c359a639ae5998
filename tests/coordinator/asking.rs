//! Tools that ask while they run: the answer reaches the same run, and the slot stays until it has ended.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use jp_policy_config::{Config, Source};
use jp_policy_core::{batch::Carried, policy::Native, request::Request};
use jp_policy_core::{
    catalog::Terms,
    outcome::{AnswerType, Outcome, Question},
    prompt::{Answer, Prompt, Reply},
    response::Status,
};
use jp_policy_runtime::{
    coordinator::{Coordinator, Finished, Prompter, Setup},
    tools::{Invocation, Ran, Running, Stop, Tools},
};
use serde_json::{Value as Json, json};
use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    time::Instant,
};

use super::puppets::call;

/// Every tool asks twice, tells the test what it hears, and answers with it. Stopped, it ends when the test lets it.
struct Curious {
    config: Config,
    runs: UnboundedSender<String>,
    end: tokio::sync::Semaphore,
}

fn question(id: &str) -> Question {
    Question {
        id: id.to_owned(),
        text: "Which?".to_owned(),
        pre_amble: None,
        answer_type: AnswerType::Text,
        default: None,
    }
}

impl Tools for Curious {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.config.tools.get(tool).map(Terms::from)
    }

    fn names(&self) -> Vec<&str> {
        self.config.tools.keys().map(String::as_str).collect()
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        let name = invocation.arguments["as"].as_str().unwrap_or_default();
        let tell = |line: String| {
            // A test that has seen enough does not look any more.
            let _ = self.runs.send(line);
        };
        tell(format!("{name} runs"));
        Box::pin(async move {
            let mut answers = Vec::new();
            for id in ["color", "size"] {
                let answer = invocation.host.ask(question(id)).await;
                tell(format!("{name} hears {answer:?}"));
                answers.push(answer);
            }
            let stopped = stop.gently.is_cancelled();
            if stopped {
                let permit = self.end.acquire().await.expect("the test lets it");
                permit.forget();
            }
            tell(format!("{name} ends"));
            let content = json!(answers).to_string();
            Ran { stopped, ..Outcome::Success { content }.into() }
        })
    }
}

/// People whose replies the test gives.
struct Slow(UnboundedSender<(String, oneshot::Sender<Reply>)>);

impl Prompter for Slow {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        let Prompt::Question { id, question, .. } = prompt else { panic!("{prompt:?}") };
        let (sender, reply) = oneshot::channel();
        self.0.send((format!("{id} {}", question.id), sender)).expect("the test listens");
        Box::pin(async { reply.await.expect("the test replies") })
    }
}

struct Scene {
    runs: UnboundedReceiver<String>,
    prompts: UnboundedReceiver<(String, oneshot::Sender<Reply>)>,
    tools: Arc<Curious>,
}

impl Scene {
    async fn hears(&mut self, line: &str) {
        assert_eq!(self.runs.recv().await.as_deref(), Some(line));
    }

    async fn prompt(&mut self, what: &str) -> oneshot::Sender<Reply> {
        let (prompt, reply) = self.prompts.recv().await.expect("somebody asks");
        assert_eq!(prompt, what);
        reply
    }

    async fn reply(&mut self, what: &str, answer: Option<Json>) {
        let answer = answer.map_or(Answer::Dismissed, Answer::Given);
        self.prompt(what).await.send(Reply::Answer(answer)).expect("it is waited for");
    }
}

fn scene(tools: &str, timeout: Option<Duration>) -> (Coordinator, Scene) {
    let config = Config::from_sources(&[Source::new("tools.toml", tools)]).expect("it holds");
    let (runs, heard) = unbounded_channel();
    let (asked, prompts) = unbounded_channel();
    let end = tokio::sync::Semaphore::new(0);
    let tools = Arc::new(Curious { config: config.clone(), runs, end });
    let setup = Setup {
        config: &config,
        tools: tools.clone(),
        factory: &Native::rules(),
        prompter: Arc::new(Slow(asked)),
        timeout,
        carried: Carried::default(),
    };
    let coordinator = Coordinator::new(setup).expect("the rules take everything");
    (coordinator, Scene { runs: heard, prompts, tools })
}

/// Runs a batch beside what the test does.
async fn both(
    coordinator: Coordinator,
    calls: Vec<Request>,
    script: impl Future<Output = ()>,
) -> Finished {
    let mut observer = ();
    let (finished, ()) = tokio::join!(coordinator.run(calls, &mut observer), script);
    finished
}

fn contents(finished: &Finished) -> Vec<(Status, &str)> {
    let responses = finished.responses.iter();
    responses.map(|response| (response.status, response.content.as_str())).collect()
}

const PAINT: &str =
    "conversation.tools.paint = { source = 'mcp.x', run = 'unattended', concurrency = 1";

#[tokio::test]
async fn the_same_run_gets_the_answers_and_keeps_the_slot() {
    let (coordinator, mut scene) = scene(&format!("{PAINT} }}"), None);
    let script = async {
        scene.hears("a runs").await;
        scene.reply("a color", Some(json!("red"))).await;
        scene.hears("a hears Some(String(\"red\"))").await;
        scene.reply("a size", Some(json!(7))).await;
        scene.hears("a hears Some(Number(7))").await;
        // Only now there is room for the other.
        scene.hears("a ends").await;
        scene.hears("b runs").await;
        scene.reply("b color", None).await;
        scene.hears("b hears None").await;
        scene.reply("b size", Some(json!(8))).await;
        scene.hears("b hears Some(Number(8))").await;
    };
    let calls = vec![call("a", "paint"), call("b", "paint")];
    let finished = both(coordinator, calls, script).await;
    assert_eq!(contents(&finished), [(Status::Ok, r#"["red",7]"#), (Status::Ok, "[null,8]")]);
}

#[tokio::test]
async fn the_configuration_answers_before_a_person_is_asked() {
    let (coordinator, mut scene) =
        scene(&format!("{PAINT}, questions.color.answer = 'blue' }}"), None);
    let script = async {
        scene.hears("a runs").await;
        scene.hears("a hears Some(String(\"blue\"))").await;
        scene.reply("a size", Some(json!(7))).await;
    };
    let finished = both(coordinator, vec![call("a", "paint")], script).await;
    assert_eq!(contents(&finished), [(Status::Ok, r#"["blue",7]"#)]);
}

#[tokio::test]
async fn a_cancelled_run_gets_no_answer_and_counts_until_it_has_ended() {
    let (coordinator, mut scene) = scene(&format!("{PAINT} }}"), None);
    let handle = coordinator.handle();
    let script = async {
        scene.hears("a runs").await;
        let reply = scene.prompt("a color").await;
        handle.cancel();
        scene.hears("a hears None").await;
        scene.hears("a hears None").await;
        // The prompt is closed, and the batch is not over before the run is.
        assert!(reply.is_closed());
        scene.tools.end.add_permits(1);
        scene.hears("a ends").await;
    };
    let finished = both(coordinator, vec![call("a", "paint")], script).await;
    assert_eq!(contents(&finished), [(Status::Cancelled, "The tool call was cancelled.")]);
}

#[tokio::test]
async fn a_restarted_call_asks_again_when_its_old_run_is_gone() {
    let (coordinator, mut scene) = scene(&format!("{PAINT} }}"), None);
    let handle = coordinator.handle();
    let script = async {
        scene.hears("a runs").await;
        let reply = scene.prompt("a color").await;
        handle.restart();
        scene.hears("a hears None").await;
        scene.hears("a hears None").await;
        assert!(reply.is_closed());
        scene.tools.end.add_permits(1);
        scene.hears("a ends").await;
        scene.hears("a runs").await;
        scene.reply("a color", Some(json!("red"))).await;
        scene.hears("a hears Some(String(\"red\"))").await;
        scene.reply("a size", Some(json!(7))).await;
    };
    let finished = both(coordinator, vec![call("a", "paint")], script).await;
    assert_eq!(contents(&finished), [(Status::Ok, r#"["red",7]"#)]);
}

#[tokio::test(start_paused = true)]
async fn a_persons_time_is_not_the_calls() {
    let (coordinator, mut scene) = scene(&format!("{PAINT} }}"), Some(Duration::from_secs(1)));
    let script = async {
        scene.hears("a runs").await;
        let reply = scene.prompt("a color").await;
        let start = Instant::now();
        tokio::time::advance(Duration::from_hours(1)).await;
        reply.send(Reply::Answer(Answer::Given(json!("red")))).expect("it is waited for");
        scene.hears("a hears Some(String(\"red\"))").await;
        scene.reply("a size", Some(json!(7))).await;
        assert!(start.elapsed() >= Duration::from_hours(1));
    };
    let finished = both(coordinator, vec![call("a", "paint")], script).await;
    assert_eq!(contents(&finished), [(Status::Ok, r#"["red",7]"#)]);
}
