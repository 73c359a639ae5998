//! How much work it is to watch, counted in calls that are looked at.

use std::sync::Arc;

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::Carried, catalog::Terms, outcome::Outcome, policy::Native, request::Request,
};
use jp_policy_runtime::{
    coordinator::{AutoPrompter, Coordinator, Setup, Submitter, Ticket},
    tools::{Invocation, Running, Stop, Tools},
};
use serde_json::{Value as Json, json};
use tokio::sync::{Semaphore, watch};

use super::*;
use crate::gateway::CallStatus;

/// Tools whose calls end when the test says so, but for `free`.
struct TestTools {
    config: Config,
    ends: Semaphore,
}

impl Tools for TestTools {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.config.tools.get(tool).map(Terms::from)
    }

    fn names(&self) -> Vec<&str> {
        self.config.tools.keys().map(String::as_str).collect()
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, _: &'a Stop) -> Running<'a> {
        Box::pin(async move {
            if &*invocation.tool != "free" {
                self.ends.acquire().await.expect("it is never closed").forget();
            }
            Outcome::Success { content: String::new() }.into()
        })
    }
}

/// An agent that talks to a batch whose calls are watched.
struct Agent {
    tools: Arc<TestTools>,
    submitter: Submitter,
    watched: WatchedCalls,
}

impl Agent {
    fn submit(&self, id: &str, tool: &str, arguments: &Json) -> watch::Receiver<CallStatus> {
        let status = self.watched.add(id);
        self.unwatched(id, tool, arguments);
        status
    }

    fn unwatched(&self, id: &str, tool: &str, arguments: &Json) -> Ticket {
        let arguments = arguments.as_object().expect("an object").clone();
        let arguments = Ok(Arc::new(arguments));
        self.submitter.submit(Request { id: id.into(), name: tool.into(), arguments })
    }

    /// Calls with which the others have nothing to do, one after the other.
    async fn unrelated(&self, count: usize) {
        for n in 0..count {
            let mut call = self.unwatched(&format!("u{n}"), "free", &json!({}));
            call.response().await.expect("the coordinator runs");
        }
    }
}

/// Lets an agent do something, and says how many waiting calls the watcher has looked at.
async fn looked_at<F: Future<Output = ()>>(agent: impl FnOnce(Agent) -> F) -> usize {
    let text = "
        [conversation.tools.keyed]
        run = 'unattended'
        concurrency = { key = 'k' }
        fan_out = {}
        [conversation.tools.free]
        run = 'unattended'
    ";
    let config = Config::from_sources(&[Source::new("tools.toml", text)]).expect("it holds");
    let tools = Arc::new(TestTools { config: config.clone(), ends: Semaphore::new(0) });
    let coordinator = Coordinator::new(Setup {
        config: &config,
        tools: tools.clone(),
        factory: &Native::rules(),
        prompter: Arc::new(AutoPrompter { approve: true }),
        timeout: None,
        carried: Carried::default(),
    });
    let mut coordinator = coordinator.expect("the rules take everything");
    let watched = WatchedCalls::default();
    let submitter = coordinator.submitter();
    let mut observer = StatusWatcher::new(watched.clone());
    let agent = agent(Agent { tools, submitter, watched });
    tokio::join!(coordinator.run(Vec::new(), &mut observer), agent);
    observer.looked_at
}

fn queued(ahead: usize) -> CallStatus {
    CallStatus::Queued(match ahead {
        0 => "queued: key k, next in line".to_owned(),
        _ => format!("queued: key k, {ahead} ahead"),
    })
}

async fn until(status: &mut watch::Receiver<CallStatus>, expected: &CallStatus) {
    status.wait_for(|status| status == expected).await.expect("it is told");
}

#[tokio::test]
async fn each_waiting_call_is_looked_at_once_whatever_others_do() {
    const WAITING: usize = 2_000;
    let looked_at = looked_at(async |agent: Agent| {
        let mut holder = agent.submit("holder", "keyed", &json!({}));
        until(&mut holder, &CallStatus::Running("running".to_owned())).await;
        // All of them come in one turn of the loop.
        let mut waiting: Vec<_> =
            (0..WAITING).map(|n| agent.submit(&format!("w{n}"), "keyed", &json!({}))).collect();
        for (ahead, status) in waiting.iter_mut().enumerate() {
            until(status, &queued(ahead)).await;
            status.mark_unchanged();
        }
        agent.unrelated(100).await;
        for status in &waiting {
            assert!(!status.has_changed().expect("it waits"));
        }
        agent.submitter.handle().cancel();
        agent.tools.ends.add_permits(1);
    })
    .await;
    assert_eq!(looked_at, WAITING);
}

#[tokio::test]
async fn of_operations_the_first_that_waits_is_looked_at() {
    const OPERATIONS: usize = 2_000;
    let operations = json!({ "operations": vec![json!({}); OPERATIONS] });
    let looked_at = looked_at(async |agent: Agent| {
        let mut holder = agent.submit("holder", "keyed", &json!({}));
        until(&mut holder, &CallStatus::Running("running".to_owned())).await;
        let mut status = agent.submit("w", "keyed", &operations);
        until(&mut status, &queued(0)).await;
        status.mark_unchanged();
        agent.unrelated(100).await;
        assert!(!status.has_changed().expect("it waits"));
        // What runs waits for nothing, so nothing is looked at while one ends after the other.
        agent.tools.ends.add_permits(1 + OPERATIONS);
        while status.changed().await.is_ok() {}
        let last = CallStatus::Running(format!("running, {} of {OPERATIONS} done", OPERATIONS - 1));
        assert_eq!(*status.borrow(), last);
    })
    .await;
    assert_eq!(looked_at, 1);
}
