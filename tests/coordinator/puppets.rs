//! Tools that the test itself plays, and a log of what the coordinator did.

use std::{collections::BTreeMap, sync::Arc};

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::Carried,
    policy::Native,
    request::Request,
    scheduler::{Event, EventKind},
};
use jp_policy_core::{catalog::Terms, outcome::Outcome, response::Response};
use jp_policy_runtime::{
    coordinator::{AutoPrompter, Coordinator, Observer, Prompter, Setup, Snapshot},
    tools::{Invocation, Ran, Running, Stop, Tools},
};
use serde_json::json;
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

/// Tools as they are configured; what they do, the test says.
struct Puppets {
    config: Config,
    started: UnboundedSender<Run>,
}

/// A run of a tool that the test plays.
pub(super) struct Run {
    /// The argument `as` of its call.
    pub(super) name: String,
    /// How it ends.
    pub(super) end: oneshot::Sender<Outcome>,
    /// How it is asked to stop. It obeys at once.
    pub(super) stop: Stop,
}

impl Run {
    pub(super) fn succeed(self) {
        self.end.send(Outcome::Success { content: self.name }).expect("it is waited for");
    }
}

impl Tools for Puppets {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.config.tools.get(tool).map(Terms::from)
    }

    fn names(&self) -> Vec<&str> {
        self.config.tools.keys().map(String::as_str).collect()
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        let name = invocation.arguments["as"].as_str().unwrap_or_default().to_owned();
        let (end, ended) = oneshot::channel();
        self.started.send(Run { name, end, stop: stop.clone() }).expect("the test plays");
        Box::pin(async move {
            tokio::select! {
                outcome = ended => outcome.expect("the test ends it").into(),
                () = stop.gently.cancelled() => {
                    Ran { stopped: true, ..Outcome::error("stopped").into() }
                }
            }
        })
    }
}

/// Tells the test what happened, a line an event.
struct Log(UnboundedSender<String>);

impl Observer for Log {
    fn event(&mut self, event: &Event, snapshot: &Snapshot<'_>) {
        let id = |call: &u32| snapshot.request(*call).expect("it runs").id.clone();
        let line = match &event.kind {
            EventKind::Parked(call) => format!("{} parked", id(call)),
            EventKind::Released(call, _) => format!("{} released", id(call)),
            EventKind::Asked(call) => format!("{} asks", id(call)),
            EventKind::Ended(Some(call), ..) => format!("{} ended", id(call)),
            EventKind::Settled(call, _) => format!("{} settled", id(call)),
            EventKind::Cancelled => "cancelled".to_owned(),
            _ => return,
        };
        // The test may have seen enough.
        let _ = self.0.send(line);
    }
}

/// A batch that the test plays.
pub(super) struct Play {
    started: UnboundedReceiver<Run>,
    /// The runs that the test has not looked at yet.
    runs: BTreeMap<String, Run>,
    happened: UnboundedReceiver<String>,
    /// What happened, as far as the test has looked.
    pub(super) log: Vec<String>,
}

impl Play {
    /// Waits for the run of a call to begin.
    pub(super) async fn run(&mut self, name: &str) -> Run {
        loop {
            if let Some(run) = self.runs.remove(name) {
                return run;
            }
            let run = self.started.recv().await.expect("the coordinator runs");
            self.runs.insert(run.name.clone(), run);
        }
    }

    /// Waits until this has happened.
    pub(super) async fn until(&mut self, line: &str) {
        while !self.log.iter().any(|known| known == line) {
            self.log.push(self.happened.recv().await.expect("the coordinator runs"));
        }
    }

    /// The whole log, once the batch is over.
    pub(super) async fn rest(mut self) -> Vec<String> {
        while let Some(line) = self.happened.recv().await {
            self.log.push(line);
        }
        self.log
    }
}

pub(super) fn call(id: &str, tool: &str) -> Request {
    let arguments = json!({ "as": id }).as_object().cloned().unwrap_or_default();
    Request { id: id.into(), name: tool.into(), arguments: Ok(arguments.into()) }
}

/// Plays a batch, empty at first, of these tools under the default rules; gives the responses and the log.
pub(super) fn play<F: Future<Output = ()>>(
    tools: &str,
    script: impl FnOnce(Coordinator, Play) -> (Coordinator, F),
) -> Vec<Response> {
    play_with(tools, Arc::new(AutoPrompter { approve: true }), script)
}

/// The same with these people.
pub(super) fn play_with<F: Future<Output = ()>>(
    tools: &str,
    people: Arc<dyn Prompter>,
    script: impl FnOnce(Coordinator, Play) -> (Coordinator, F),
) -> Vec<Response> {
    let (coordinator, started) = coordinator(tools, people);
    let (events, happened) = unbounded_channel();
    let play = Play { started, runs: BTreeMap::new(), happened, log: Vec::new() };
    let (coordinator, script) = script(coordinator, play);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
    let run = async move { coordinator.run(Vec::new(), &mut Log(events)).await };
    let (finished, ()) = runtime.block_on(async { tokio::join!(run, script) });
    finished.responses
}

/// A coordinator of these tools under the default rules, and where their runs begin.
pub(super) fn coordinator(
    tools: &str,
    people: Arc<dyn Prompter>,
) -> (Coordinator, UnboundedReceiver<Run>) {
    let config = Config::from_sources(&[Source::new("tools.toml", tools)]).expect("it holds");
    let (starts, started) = unbounded_channel();
    let setup = Setup {
        config: &config,
        tools: Arc::new(Puppets { config: config.clone(), started: starts }),
        factory: &Native::rules(),
        prompter: people,
        timeout: None,
        carried: Carried::default(),
    };
    (Coordinator::new(setup).expect("the rules take everything"), started)
}
