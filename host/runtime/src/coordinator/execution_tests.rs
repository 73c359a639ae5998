use std::future::{pending, ready};

use jp_policy_core::{batch::CallId, catalog::Terms};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;

/// What a tool of these tests does.
#[derive(Clone)]
enum Does {
    Ends(Outcome),
    /// Nothing until it is told to stop; then it ends, with this.
    Hangs(Outcome),
    Panics,
}

impl Tools for Does {
    fn terms(&self, _: &str) -> Option<Terms<'_>> {
        None
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }

    fn run<'a>(&'a self, _: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        match self {
            Self::Ends(outcome) => Box::pin(ready(outcome.clone().into())),
            Self::Hangs(outcome) => Box::pin(async {
                stop.gently.cancelled().await;
                Ran { stopped: true, ..outcome.clone().into() }
            }),
            Self::Panics => Box::pin(async { panic!("a tool of a test panics") }),
        }
    }
}

fn succeeds() -> Outcome {
    Outcome::Success { content: String::new() }
}

/// An execution of such a tool, and what it tells.
fn execution(
    does: Does,
    timeout: Option<Duration>,
) -> (Arc<ExecutionContext>, UnboundedReceiver<ExecutionEvent>) {
    let (events, told) = unbounded_channel();
    let shared = Shared { tools: Arc::new(does), events, timeout, kill: CancellationToken::new() };
    let execution = jp_policy_core::batch::Carried::of([None]).executions().next();
    let execution = execution.expect("there is one");
    (Arc::new(ExecutionContext::new(execution, Arc::new(shared))), told)
}

fn run(context: &ExecutionContext, gate: &Gate, first: bool) -> Run {
    Run {
        execution: context.execution,
        call: CallId::default(),
        tool: "t".into(),
        arguments: Arc::default(),
        answers: serde_json::Map::new(),
        gate: Some(gate.clone()),
        first,
    }
}

/// Runs once, and says how that ended and whether the gate was shut when it was told.
async fn ends(does: Does, timeout: Option<Duration>, stop: bool) -> (RunEnd, bool) {
    let (context, mut told) = execution(does, timeout);
    let gate = Gate::default();
    spawn(context.clone(), run(&context, &gate, true));
    if stop {
        context.stop();
    }
    match told.recv().await {
        Some(ExecutionEvent::Ran { end, .. }) => (end, gate.is_shut()),
        other => panic!("told {other:?}"),
    }
}

/// Whoever is told of a failure finds the gate shut, whichever way it came about; nothing else shuts it.
#[tokio::test(start_paused = true)]
async fn the_gate_is_shut_before_a_failure_is_told() {
    let failure = Outcome::error("no");
    let timeout = Some(Duration::from_secs(5));
    let after = Duration::from_secs(5);
    let lost = Outcome::error("the host failed while it ran the tool");
    let cases = [
        (Does::Ends(failure.clone()), None, false, failure.clone().into(), true),
        (Does::Ends(succeeds()), None, false, succeeds().into(), false),
        (Does::Hangs(failure.clone()), timeout, false, RunEnd::TimedOut { after }, true),
        // It ends cleanly when it is told to: its time was over nevertheless.
        (Does::Hangs(succeeds()), timeout, false, RunEnd::TimedOut { after }, true),
        // What is stopped has not failed.
        (Does::Hangs(failure), None, true, RunEnd::Stopped, false),
        (Does::Panics, None, false, lost.into(), true),
    ];
    for (n, (does, timeout, stop, end, shut)) in cases.into_iter().enumerate() {
        assert_eq!(ends(does, timeout, stop).await, (end, shut), "case {n}");
    }
}

/// A task that is dropped in the middle, as with its runtime, has told that it ended.
#[test]
fn what_is_dropped_is_told_of_once() {
    let (context, mut told) = execution(Does::Hangs(succeeds()), None);
    let gate = Gate::default();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        spawn(context.clone(), run(&context, &gate, true));
        tokio::task::yield_now().await;
    });
    drop(runtime);
    assert!(matches!(
        told.try_recv(),
        Ok(ExecutionEvent::Ran { end: RunEnd::Finished { .. }, .. })
    ));
    assert!(told.try_recv().is_err(), "once");
    assert!(gate.is_shut());
}

#[tokio::test]
async fn nothing_begins_at_a_shut_gate_but_what_had_begun_before_goes_on() {
    let gate = Gate::default();
    gate.shut();
    for (first, end) in [(true, RunEnd::Gated), (false, succeeds().into())] {
        let (context, mut told) = execution(Does::Ends(succeeds()), None);
        spawn(context.clone(), run(&context, &gate, first));
        assert!(matches!(
            told.recv().await,
            Some(ExecutionEvent::Ran { end: told, .. }) if told == end
        ));
    }
}

/// What a person takes to answer is not the run's time.
#[tokio::test(start_paused = true)]
async fn an_open_question_stops_the_clock_of_a_run() {
    let (context, mut told) = execution(Does::Hangs(succeeds()), Some(Duration::from_secs(5)));
    spawn(context.clone(), run(&context, &Gate::default(), true));
    let start = Instant::now();
    let question = Question {
        id: "q".to_owned(),
        text: "?".to_owned(),
        pre_amble: None,
        answer_type: jp_policy_core::outcome::AnswerType::Text,
        default: None,
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    // Nobody answers: the question is given up after a minute.
    let asks = tokio::time::timeout(Duration::from_mins(1), context.ask(question));
    let reply = async {
        let Some(ExecutionEvent::Asks { reply, .. }) = told.recv().await else {
            panic!("it asks");
        };
        let _open: Reply = reply;
        pending::<()>().await;
    };
    tokio::select! {
        answer = asks => assert!(answer.is_err()),
        () = reply => {}
    }
    loop {
        match told.recv().await {
            Some(ExecutionEvent::Withdraws { number: 0, .. }) => {}
            Some(ExecutionEvent::Ran { end, .. }) => {
                assert_eq!(end, RunEnd::TimedOut { after: Duration::from_secs(5) });
                break;
            }
            other => panic!("told {other:?}"),
        }
    }
    assert_eq!(start.elapsed(), Duration::from_secs(65));
}
