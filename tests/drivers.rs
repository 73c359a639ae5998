//! One session, two drivers: what a scenario brings about in virtual time is what it brings about on tokio, event by event.
//!
//! Every span of time in a scenario of this test is another power of two, in milliseconds, so no two things that have different
//! causes happen at the same instant, and there is no order between them that a driver could choose.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::{CallId, Carried, ExecutionId, Instant},
    catalog::Terms,
    outcome::{AnswerType, Outcome, Question},
    policy::Native,
    prompt::{Answer, Approval, Prompt, Reply, Review},
    request::Request,
    scheduler::{Event, EventKind},
    terms::{ResultMode, RunMode},
};
use jp_policy_harness::{self as harness, Behaviour, Ending, Scenario, simulate_with};
use jp_policy_runtime::{
    coordinator::{Clock, Coordinator, Observer, Prompter, Setup, Snapshot},
    tools::{Invocation, Ran, Running, Stop, Tools},
};
use proptest::prelude::*;

/// A thing that may happen in a scenario, drawn at random; what takes time gets its time from the scenario's spans.
#[derive(Debug, Clone)]
struct Draw {
    tool: usize,
    decision: Decision,
    asks: bool,
    ending: Ending,
    /// Beyond the first: operations of a fanned-out call.
    operations: usize,
}

/// What a person says of a call.
#[derive(Debug, Clone)]
enum Decision {
    ApprovedAtOnce,
    Approved,
    Rejected,
}

const TOOLS: &str = r#"
    conversation.tools.free = { fan_out = true }
    conversation.tools.one = { concurrency = 1, fan_out = { on_error = "stop" } }
    conversation.tools.two = { concurrency = { key = "k", limit = 2 }, fan_out = true }
    conversation.tools.also = { concurrency = { key = "k", limit = 2 } }
"#;

/// The tool whose results people review.
const REVIEWED: &str = "also";

/// The id of questions that nobody wants to answer.
const DISMISSED: &str = "dismissed";

const NAMES: [&str; 4] = ["free", "one", "two", "also"];

fn draw() -> impl Strategy<Value = Draw> {
    let decision = prop_oneof![
        4 => Just(Decision::ApprovedAtOnce),
        4 => Just(Decision::Approved),
        1 => Just(Decision::Rejected),
    ];
    let often = || prop::bool::weighted(0.3);
    let ending = prop_oneof![
        6 => Just(Ending::Succeeds),
        3 => Just(Ending::Fails),
        1 => Just(Ending::Dismissed),
    ];
    (0..NAMES.len(), decision, often(), ending, often(), 0..3_usize).prop_map(
        |(tool, decision, asks, ending, several, operations)| Draw {
            tool,
            decision,
            asks,
            ending,
            // The last tool does not fan out.
            operations: if several && tool < 3 { operations + 1 } else { 0 },
        },
    )
}

/// Spans of time, no two sums of which are equal.
struct Spans(Vec<u64>);

impl Spans {
    fn next(&mut self) -> f64 {
        let millis = self.0.pop().unwrap_or(1);
        Duration::from_millis(millis).as_secs_f64()
    }
}

/// The scenario as it would stand in a file.
fn scenario(draws: &[Draw], cancel: bool, restart: bool, order: &[u32]) -> String {
    let mut spans = Spans(order.iter().map(|power| 1 << power).collect());
    let mut text = format!("title = \"drawn\"\n{TOOLS}\n");
    if cancel {
        text += &format!("[[event]]\nat = {}\ncancel = true\n", spans.next());
    }
    if restart {
        text += &format!("[[event]]\nat = {}\nrestart = true\n", spans.next());
    }
    for (n, draw) in draws.iter().enumerate() {
        text += &format!("[[call]]\nname = \"c{n}\"\ntool = \"{}\"\n", NAMES[draw.tool]);
        match draw.decision {
            Decision::ApprovedAtOnce => {}
            Decision::Approved => text += &format!("approved = {}\n", spans.next()),
            Decision::Rejected => text += &format!("rejected = {}\n", spans.next()),
        }
        let asks = draw.asks && draw.operations == 0;
        let mut does = || {
            let mut does = format!("{}s", spans.next());
            if asks && draw.ending != Ending::Dismissed {
                does += &format!(" ask {}s", spans.next());
            }
            match draw.ending {
                Ending::Dismissed if asks => does += " ask dismissed",
                Ending::Fails => does += " fail",
                Ending::Dismissed | Ending::Succeeds => {}
            }
            does
        };
        if draw.operations > 0 {
            let operations: Vec<String> =
                (0..=draw.operations).map(|o| format!("c{n}o{o} = \"{}\"", does())).collect();
            text += &format!("operations = {{ {} }}\n", operations.join(", "));
        } else {
            text += &format!("does = \"{}\"\n", does());
        }
        if asks {
            // The second one is for the run after a restart.
            text += &format!("answered_after = [{}, {}]\n", spans.next(), spans.next());
        }
        if NAMES[draw.tool] == REVIEWED {
            text += &format!("reviewed = {}\n", spans.next());
        }
    }
    text
}

/// What is compared: when, and what; of executions only whose they are.
#[derive(Default)]
struct Lines {
    lines: Vec<(Instant, String)>,
    calls: HashMap<ExecutionId, CallId>,
}

impl Lines {
    fn add(&mut self, event: &Event) {
        let text = match &event.kind {
            EventKind::Submitted(call) => format!("{call} submitted"),
            EventKind::Parked(call) => format!("{call} parked"),
            EventKind::Released(call, execution) => {
                self.calls.insert(*execution, *call);
                format!("{call} released")
            }
            EventKind::Asked(call) => format!("{call} asks"),
            EventKind::Answered(call) => format!("{call} answered"),
            EventKind::Ended(call, execution, end) => {
                let old = if call.is_none() { " before the restart" } else { "" };
                format!("{} ended{old}: {end:?}", self.calls[execution])
            }
            EventKind::Settled(call, how) => format!("{call} settled: {how:?}"),
            EventKind::Stop(execution) => format!("{} is to stop", self.calls[execution]),
            EventKind::Cancelled => "cancelled".to_owned(),
            EventKind::Restarted(call) => format!("{call} restarted"),
            EventKind::Fault(fault) => format!("fault {fault}"),
            // How often the policy is asked is the driver's.
            EventKind::Decided(_) => return,
        };
        self.lines.push((event.at, text));
    }

    /// The events, those of one instant in an order of their own.
    fn sorted(mut self) -> Vec<(Instant, String)> {
        // What comes when all calls are over concerns nobody: on tokio the batch has ended by then.
        while self.lines.last().is_some_and(|(_, text)| text == "cancelled") {
            self.lines.pop();
        }
        self.lines.sort();
        self.lines
    }
}

impl harness::SimulationObserver for Lines {
    fn event(&mut self, event: &Event) {
        self.add(event);
    }
}

impl Observer for Lines {
    fn event(&mut self, event: &Event, _: &Snapshot<'_>) {
        self.add(event);
    }
}

/// The scenario as real tools and real people: they take as long as it says, by tokio's clock.
struct Played {
    scenario: Scenario,
    config: Config,
    start: tokio::time::Instant,
    /// How many runs each call has had.
    runs: Mutex<HashMap<CallId, usize>>,
    /// How many questions each call has asked.
    asked: Mutex<HashMap<CallId, usize>>,
}

impl Played {
    fn behaviour(&self, call: CallId) -> Behaviour {
        let behaviour = self.scenario.calls[call as usize].behaviour(count(&self.runs, call));
        behaviour.cloned().expect("a call of a scenario does something")
    }

    async fn until(&self, at: Instant) {
        tokio::time::sleep_until(self.start + Duration::from_nanos(at)).await;
    }
}

/// How often this was called for a call before.
fn count(counts: &Mutex<HashMap<CallId, usize>>, call: CallId) -> usize {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry(call).or_default();
    *count += 1;
    *count - 1
}

/// The call that arguments are of.
fn call_of(arguments: &serde_json::Map<String, serde_json::Value>) -> CallId {
    let call = arguments["call"].as_u64().expect("every call of this test has its number");
    CallId::try_from(call).expect("it is small")
}

impl Tools for Played {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        let own = Terms::from(self.config.tools.get(tool)?);
        let reviewed = tool == REVIEWED;
        let result = if reviewed { ResultMode::Ask } else { ResultMode::Unattended };
        Some(Terms { run: RunMode::Ask, result, ..own })
    }

    fn names(&self) -> Vec<&str> {
        self.config.tools.keys().map(String::as_str).collect()
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        let call = call_of(&invocation.arguments);
        let behaviour = self.behaviour(call);
        let work = async move {
            for (number, phase) in behaviour.phases.iter().enumerate() {
                tokio::time::sleep(Duration::from_nanos(phase.takes)).await;
                if phase.asks {
                    let dismissed = behaviour.is_dismissed(number);
                    let question = Question {
                        id: if dismissed { DISMISSED } else { "question" }.to_owned(),
                        text: call.to_string(),
                        pre_amble: None,
                        answer_type: AnswerType::Text,
                        default: None,
                    };
                    if dismissed {
                        return Outcome::NeedsInput { question };
                    }
                    invocation.host.ask(question).await;
                }
            }
            if behaviour.ending == Ending::Fails {
                Outcome::error("failed")
            } else {
                Outcome::Success { content: String::new() }
            }
        };
        Box::pin(async move {
            tokio::select! {
                biased;
                () = stop.gently.cancelled() => {
                    Ran { stopped: true, ..Outcome::error("stopped").into() }
                }
                outcome = work => outcome.into(),
            }
        })
    }
}

/// The people of the scenario.
struct People(Arc<Played>);

impl Prompter for People {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        let played = self.0.clone();
        Box::pin(async move {
            match prompt {
                Prompt::Approve { arguments, .. } => {
                    let spec = &played.scenario.calls[call_of(&arguments) as usize];
                    match &spec.decision {
                        harness::PersonEvent::Approved(times) => {
                            // After a restart what was decided is decided at once.
                            played.until(times[0]).await;
                            Reply::Approval(Approval::Run(None))
                        }
                        harness::PersonEvent::NotRun(at) => {
                            played.until(*at).await;
                            Reply::Approval(Approval::Reject("not approved".to_owned()))
                        }
                        harness::PersonEvent::Never => std::future::pending().await,
                    }
                }
                Prompt::Question { question, .. } => {
                    let call: CallId = question.text.parse().expect("the number of the call");
                    let spec = &played.scenario.calls[call as usize];
                    let after = spec.answered_after[count(&played.asked, call)];
                    tokio::time::sleep(Duration::from_nanos(after)).await;
                    Reply::Answer(if question.id == DISMISSED {
                        Answer::Dismissed
                    } else {
                        Answer::Given(serde_json::Value::Null)
                    })
                }
                Prompt::Review { response, .. } => {
                    let calls = &mut played.scenario.calls.iter();
                    let spec = calls.find(|call| *call.label == *response.id);
                    let at = spec.and_then(|call| call.reviewed);
                    played.until(at.expect("this tool's results are reviewed")).await;
                    Reply::Review(Review::Deliver)
                }
            }
        })
    }

    fn one_at_a_time(&self) -> bool {
        false
    }
}

/// The tool calls of the scenario, operations in one envelope.
fn requests(scenario: &Scenario) -> Vec<Request> {
    let mut calls: Vec<(u32, Vec<CallId>)> = Vec::new();
    for (n, call) in (0..).zip(&scenario.calls) {
        match calls.last_mut() {
            Some((parent, operations)) if *parent == call.parent => operations.push(n),
            _ => calls.push((call.parent, vec![n])),
        }
    }
    let own = |call: &CallId| serde_json::json!({ "call": call });
    let requests = calls.into_iter().map(|(_, operations)| {
        let arguments = match &*operations {
            [one] => own(one),
            several => {
                let sets: Vec<_> = several.iter().map(own).collect();
                serde_json::json!({ "operations": sets })
            }
        };
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let spec = &scenario.calls[operations[0] as usize];
        Request {
            id: spec.label.as_str().into(),
            name: spec.tool.as_str().into(),
            arguments: Ok(arguments.into()),
        }
    });
    requests.collect()
}

fn at(event: &harness::ScenarioEvent) -> Instant {
    match event {
        harness::ScenarioEvent::Cancel(at)
        | harness::ScenarioEvent::Restart(at)
        | harness::ScenarioEvent::EndAgain(at, _) => *at,
    }
}

/// Lives through a scenario on tokio, with its clock paused.
fn on_tokio(scenario: &Scenario) -> Vec<(Instant, String)> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let config = scenario.config.clone().expect("it holds");
        let played = Arc::new(Played {
            scenario: scenario.clone(),
            config: config.clone(),
            start: tokio::time::Instant::now(),
            runs: Mutex::default(),
            asked: Mutex::default(),
        });
        let coordinator = Coordinator::new(Setup {
            config: &config,
            tools: played.clone(),
            factory: &Native::rules(),
            prompter: Arc::new(People(played.clone())),
            timeout: None,
            carried: Carried::default(),
        });
        let start = played.start;
        let coordinator = coordinator.expect("the rules take everything");
        let coordinator = coordinator.with_clock(Clock::new(move || start.elapsed()));
        let handle = coordinator.handle();
        let mut events = scenario.events.clone();
        events.sort_by_key(at);
        let others = async {
            for event in events {
                match event {
                    harness::ScenarioEvent::Cancel(at) => {
                        played.until(at).await;
                        handle.cancel();
                    }
                    harness::ScenarioEvent::Restart(at) => {
                        played.until(at).await;
                        handle.restart();
                    }
                    harness::ScenarioEvent::EndAgain(..) => unreachable!("none is drawn"),
                }
            }
            std::future::pending::<()>().await;
        };
        let mut lines = Lines::default();
        tokio::select! {
            _ = coordinator.run(requests(scenario), &mut lines) => {}
            () = others => unreachable!("it is pending"),
            // What nobody decides about waits for ever: in virtual time that is the end.
            () = tokio::time::sleep(Duration::from_secs(1 << 32)) => {}
        }
        lines.sorted()
    })
}

fn in_virtual_time(scenario: &Scenario) -> Vec<(Instant, String)> {
    let mut lines = Lines::default();
    let setup = harness::SimulateOptions {
        observer: Some(&mut lines),
        ..harness::SimulateOptions::default()
    };
    simulate_with(scenario, &Native::rules(), setup).expect("it comes to an end");
    lines.sorted()
}

fn same(text: &str) -> Result<(), TestCaseError> {
    let scenario = Scenario::parse(&Source::new("drawn.toml", text));
    let scenario = scenario.map_err(|error| TestCaseError::fail(format!("{error:?}\n{text}")))?;
    let (simulated, live) = (in_virtual_time(&scenario), on_tokio(&scenario));
    prop_assert_eq!(simulated, live, "{}", text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_drivers_find_the_same_events(
        draws in prop::collection::vec(draw(), 1..6),
        cancel in prop::bool::weighted(0.3),
        restart in prop::bool::weighted(0.3),
        order in Just((0..30).collect::<Vec<u32>>()).prop_shuffle(),
    ) {
        same(&scenario(&draws, cancel, restart, &order))?;
    }
}
