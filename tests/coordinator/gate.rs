//! The stop gate of a fanned-out call under a real runtime: who runs an operation shuts it before the Host learns of the failure.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::{Carried, End},
    policy::Native,
    request::Request,
    scheduler::{Event, EventKind},
};
use jp_policy_core::{catalog::Terms, outcome::Outcome};
use jp_policy_runtime::{
    coordinator::{AutoPrompter, Coordinator, Finished, Observer, Setup, Snapshot},
    tools::{Invocation, Running, Stop, Tools},
};
use serde_json::{Map, json};

/// An operation that fails if it says so.
struct Failing {
    config: Config,
    /// The Host has learned of a failure.
    known: Arc<AtomicBool>,
    /// Operations that began after that.
    late: Arc<AtomicUsize>,
}

impl Tools for Failing {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.config.tools.get(tool).map(Terms::from)
    }

    fn names(&self) -> Vec<&str> {
        self.config.tools.keys().map(String::as_str).collect()
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, _: &'a Stop) -> Running<'a> {
        if self.known.load(Ordering::SeqCst) {
            self.late.fetch_add(1, Ordering::SeqCst);
        }
        let fails = invocation.arguments["fails"] == true;
        Box::pin(async move {
            // Whoever else is ready goes first, so that ends and failures come in every order.
            tokio::task::yield_now().await;
            let done = Outcome::Success { content: String::new() };
            let outcome = if fails { Outcome::error("unlucky") } else { done };
            outcome.into()
        })
    }
}

/// Notes when the Host has learned of a failure.
struct Learns(Arc<AtomicBool>);

impl Observer for Learns {
    fn event(&mut self, event: &Event, _: &Snapshot<'_>) {
        if matches!(event.kind, EventKind::Ended(_, _, End::Failed)) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

fn fan_out(operations: usize, failing: usize) -> (Finished, usize) {
    let text = "[conversation.tools.apply]
        run = 'unattended'
        concurrency = 3
        fan_out = { on_error = 'stop' }";
    let config = Config::from_sources(&[Source::new("tools.toml", text)]).expect("it holds");
    let (known, late) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let tools = Failing { config: config.clone(), known: known.clone(), late: late.clone() };
    let setup = Setup {
        config: &config,
        tools: Arc::new(tools),
        factory: &Native::rules(),
        prompter: Arc::new(AutoPrompter { approve: true }),
        timeout: None,
        carried: Carried::default(),
    };
    let sets: Vec<_> = (0..operations).map(|n| json!({ "fails": n == failing })).collect();
    let arguments = std::iter::once(("operations".to_owned(), json!(sets))).collect::<Map<_, _>>();
    let request = Request { id: "F".into(), name: "apply".into(), arguments: Ok(arguments.into()) };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    let finished = runtime.expect("a runtime").block_on(async {
        let coordinator = Coordinator::new(setup).expect("the rules take anything");
        coordinator.run(vec![request], &mut Learns(known)).await
    });
    let late = late.load(Ordering::SeqCst);
    (finished, late)
}

#[test]
fn no_operation_begins_once_the_host_knows_of_a_failure() {
    for round in 0..300 {
        let (operations, failing) = (12, round % 12);
        let (finished, late) = fan_out(operations, failing);
        assert_eq!(late, 0, "round {round}: the gate was open after a failure was known");
        let listed: serde_json::Value =
            serde_json::from_str(&finished.responses[0].content).expect("a list");
        assert_eq!(listed.as_array().map(Vec::len), Some(operations));
        assert_eq!(listed[failing]["status"], "error");
    }
}
