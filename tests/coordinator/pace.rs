//! Policies that answer at once, that take their time, and that never answer: none of them keeps anybody waiting but the releases.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Sender, channel},
    },
    time::Duration,
};

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::Carried,
    policy::{Arguments, FaultKind, Identity, Policy, PolicyFactory, Refusal},
    request::Request,
};
use jp_policy_core::{catalog::Terms, outcome::Outcome, response::Status};
use jp_policy_guest::{Batch, CallId, Decision, Settings, View};
use jp_policy_runtime::{
    coordinator::{AutoPrompter, Coordinator, Finished, Setup},
    tools::{Invocation, Running, Stop, Tools},
};
use jp_policy_wasm::{Budget, Component, Engine};

/// A tool that is done as soon as it starts.
struct Done;

impl Tools for Done {
    fn terms(&self, _: &str) -> Option<Terms<'_>> {
        Some(Terms::default())
    }

    fn names(&self) -> Vec<&str> {
        vec!["t"]
    }

    fn run<'a>(&'a self, _: &'a Invocation, _: &'a Stop) -> Running<'a> {
        let outcome = Outcome::Success { content: String::new() };
        Box::pin(async { outcome.into() })
    }
}

/// Tells with whom in front the policy is asked where there is time for it.
struct Watched {
    policy: Component,
    asked: Sender<CallId>,
}

struct WatchedPolicy {
    policy: Box<dyn Policy>,
    asked: Mutex<Sender<CallId>>,
}

impl PolicyFactory for Watched {
    fn identity(&self) -> &Identity {
        self.policy.identity()
    }

    fn instantiate(
        &self,
        settings: &Settings,
        arguments: Arguments,
    ) -> Result<Box<dyn Policy>, Refusal> {
        let policy = self.policy.instantiate(settings, arguments)?;
        Ok(Box::new(WatchedPolicy { policy, asked: Mutex::new(self.asked.clone()) }))
    }
}

impl Policy for WatchedPolicy {
    fn view(&self) -> View {
        self.policy.view()
    }

    fn release(&mut self, batch: &Batch) -> Result<Decision, FaultKind> {
        let asked = self.asked.get_mut().expect("no panic");
        asked.send(batch.calls[0].id).expect("the test listens");
        self.policy.release(batch)
    }

    fn release_at_once(&mut self, batch: &Batch) -> Option<Result<Decision, FaultKind>> {
        self.policy.release_at_once(batch)
    }
}

/// Runs four calls of one key under a hostile policy; gives what came of it, and with whom in front there had to be time for it.
/// With `cancel` it is cancelled when that happens for the second time.
fn run(policy: &[u8], budget: Budget, cancel: bool) -> (Finished, Vec<CallId>) {
    let text = "conversation.tools.t.concurrency = 1";
    let config = Config::from_sources(&[Source::new("tools.toml", text)]).expect("it holds");
    let engine = Engine::new().expect("an engine can be made");
    let component = Component::from_bytes(&engine, "hostile.wasm", policy, budget);
    let (asked, all) = channel();
    let factory = Watched { policy: component.expect("it loads"), asked };
    let setup = Setup {
        config: &config,
        tools: Arc::new(Done),
        factory: &factory,
        prompter: Arc::new(AutoPrompter { approve: true }),
        timeout: None,
        carried: Carried::default(),
    };
    let calls = (0..4).map(|n| Request {
        id: n.to_string().into(),
        name: "t".into(),
        arguments: Ok(Arc::default()),
    });
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
    let (finished, listener) = runtime.block_on(async {
        let coordinator = Coordinator::new(setup).expect("it takes everything");
        let handle = coordinator.handle();
        let listener = std::thread::spawn(move || {
            let mut asked = Vec::new();
            while let Ok(call) = all.recv() {
                asked.push(call);
                if cancel && asked.len() == 2 {
                    handle.cancel();
                    break;
                }
            }
            asked
        });
        (coordinator.run(calls.collect(), &mut ()).await, listener)
    });
    // The policy may think on.
    runtime.shutdown_background();
    drop(factory);
    (finished, listener.join().expect("it only listens"))
}

fn statuses(finished: &Finished) -> Vec<Status> {
    finished.responses.iter().map(|response| response.status).collect()
}

/// It was quick twice, so it is asked where nobody can wait; there it takes longer than that, is asked again where there is time,
/// and its answer counts.
#[test]
fn a_quick_policy_may_take_its_time_later() {
    let policy = include_bytes!("../hostile/think-at-the-third.wasm");
    let (finished, asked) = run(policy, Budget::default(), false);
    assert_eq!(statuses(&finished), [Status::Ok; 4]);
    assert!(finished.record.faults.is_empty(), "{:?}", finished.record.faults);
    assert_eq!(asked, [0, 2, 3]);
    assert_eq!(finished.cost.decisions, 4, "the one that was cut off counts once");
}

/// One that never answers again has its whole budget, and is told of it as a fault of that budget.
#[test]
fn a_quick_policy_that_loops_later_runs_out_of_its_whole_budget() {
    let policy = include_bytes!("../hostile/loop-at-the-third.wasm");
    let budget = Budget { fuel: 20_000_000, time: Duration::from_hours(1), ..Budget::default() };
    let (finished, asked) = run(policy, budget, false);
    assert_eq!(statuses(&finished), [Status::Ok; 4], "the default rules take over");
    let faults: Vec<String> = finished.record.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "policy \"loop-at-the-third\" used up its budget of 20000000 instructions for one question"
        ]
    );
    assert_eq!(asked, [0, 2]);
}

/// Case 121: one that has fuel and time without end hangs for good, and still a cancel settles everything.
#[test]
fn a_quick_policy_that_hangs_later_blocks_no_cancel() {
    let policy = include_bytes!("../hostile/loop-at-the-third.wasm");
    let budget = Budget { fuel: u64::MAX, time: Duration::from_hours(1), ..Budget::default() };
    let (finished, asked) = run(policy, budget, true);
    assert_eq!(statuses(&finished), [Status::Ok, Status::Ok, Status::Cancelled, Status::Cancelled]);
    assert_eq!(asked, [0, 2]);
}
