//! The coordinator on tokio, with tools that are functions of this program and a person that is one too.
//!
//! `cargo run -p jp-policy-runtime --example coordinator`

use std::{error::Error, pin::Pin, sync::Arc, time::Duration};

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::Carried,
    policy::Native,
    scheduler::{Event, EventKind},
    terms::RunMode,
};
use jp_policy_core::{
    catalog::Terms,
    outcome::{AnswerType, Outcome, Question},
    prompt::{Answer, Approval, Prompt, Reply, Review},
};
use jp_policy_runtime::{
    coordinator::{Coordinator, Observer, Prompter, Setup, Snapshot},
    message,
    tools::{Invocation, Ran, Running, Stop, Tools},
};

/// One account, and its tools. The limits stand in the configuration, as for any tool.
struct Account;

const LIMITS: &str = "
    [conversation.tools.pay]
    concurrency = { key = 'account' }
    [conversation.tools.close]
    concurrency = { key = 'account' }
";

impl Tools for Account {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        let run = if tool == "close" { RunMode::Ask } else { RunMode::Unattended };
        self.names().contains(&tool).then(|| Terms { run, ..Terms::default() })
    }

    fn names(&self) -> Vec<&str> {
        vec!["pay", "close"]
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        Box::pin(async move {
            // A question ends the run; it is run again with the answer, and keeps its slot meanwhile.
            if &*invocation.tool == "pay" && !invocation.answers.contains_key("from") {
                return Outcome::NeedsInput { question: from() }.into();
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
                // Cancelled: what was begun is undone here, and only then is this ready.
                () = stop.gently.cancelled() => {
                    return Ran { stopped: true, ..Outcome::error("stopped").into() };
                }
            }
            let from = invocation.answers.get("from").and_then(serde_json::Value::as_str);
            let amount = invocation.arguments.get("amount").and_then(serde_json::Value::as_u64);
            let content = match (&*invocation.tool, amount) {
                ("pay", Some(amount)) => {
                    format!("paid {amount} from {}", from.unwrap_or("nowhere"))
                }
                ("pay", None) => return Outcome::error("`amount` is not a number").into(),
                _ => "closed".to_owned(),
            };
            Outcome::Success { content }.into()
        })
    }
}

fn from() -> Question {
    Question {
        id: "from".to_owned(),
        text: "From which account?".to_owned(),
        pre_amble: None,
        answer_type: AnswerType::Select { options: vec!["savings".into(), "current".into()] },
        default: None,
    }
}

/// Where a program would show a dialog.
struct Person;

impl Prompter for Person {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        Box::pin(async move {
            match prompt {
                Prompt::Approve { tool, .. } => {
                    println!("person: {tool} may run");
                    Reply::Approval(Approval::Run(None))
                }
                Prompt::Question { question, .. } => {
                    println!("person: {} current", question.text);
                    Reply::Answer(Answer::Given("current".into()))
                }
                Prompt::Review { .. } => Reply::Review(Review::Deliver),
            }
        })
    }
}

/// What happens, for whoever watches.
struct Watch;

impl Observer for Watch {
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>) {
        let name = |call: u32| &snapshot.request(call).expect("it is not handed over yet").name;
        match &event.kind {
            EventKind::Released(call, _) => println!("{call} {} starts", name(*call)),
            EventKind::Ended(Some(call), ..) => println!("{call} {} has ended", name(*call)),
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = Config::from_sources(&[Source::new("limits.toml", LIMITS)])?;
    // As a provider's interface gives it, in any of the usual forms.
    let calls = message::parse(
        r#"[
            { "id": "a", "name": "pay", "arguments": { "amount": 20 } },
            { "id": "b", "name": "pay", "arguments": { "amount": "all" } },
            { "id": "c", "name": "close", "arguments": {} }
        ]"#,
    )?;
    let coordinator = Coordinator::new(Setup {
        config: &config,
        tools: Arc::new(Account),
        factory: &Native::rules(),
        prompter: Arc::new(Person),
        timeout: Some(Duration::from_secs(30)),
        carried: Carried::default(),
    })?;
    // Whoever has a handle can cancel, kill or restart the batch while it runs.
    let _handle = coordinator.handle();
    let finished = coordinator.run(calls.calls, &mut Watch).await;
    for response in finished.responses {
        println!("{}: {:?}: {}", response.id, response.status, response.content);
    }
    Ok(())
}
