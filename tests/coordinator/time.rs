//! Time, in virtual time: wake-ups, a machine that sleeps, and how long a call may take.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::Carried,
    policy::{Native, PolicyFactory},
    request::Request,
};
use jp_policy_core::{catalog::Terms, outcome::Outcome};
use jp_policy_guest::{Batch, Decision, Error, Policy, Problem, Settings, View};
use jp_policy_runtime::{
    coordinator::{AutoPrompter, Clock, Coordinator, Finished, Setup},
    tools::{Invocation, Ran, Running, Stop, Tools},
};
use tokio::time::{Instant, sleep};

/// Each call takes as long as its argument says, and can be stopped.
struct Takes;

impl Tools for Takes {
    fn terms(&self, _: &str) -> Option<Terms<'_>> {
        Some(Terms::default())
    }

    fn names(&self) -> Vec<&str> {
        vec!["t"]
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        let time = Duration::from_millis(invocation.arguments["ms"].as_u64().unwrap_or(0));
        Box::pin(async move {
            tokio::select! {
                () = sleep(time) => Outcome::Success { content: "done".to_owned() }.into(),
                () = stop.gently.cancelled() => {
                    Ran { stopped: true, ..Outcome::error("stopped").into() }
                }
            }
        })
    }
}

/// Releases one call at 0 and the next ten seconds later.
struct EveryTenSeconds;

impl Policy for EveryTenSeconds {
    const NAME: &'static str = "every-ten-seconds";
    const VIEW: View = View::Full;

    fn configure(_: Settings) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        let last = batch.keys.iter().filter_map(|usage| usage.last_release).max();
        let next = last.map_or(0, |last| last + 10_000_000_000);
        let parked = batch.calls.iter().find(|call| call.state == jp_policy_guest::State::Parked);
        Ok(match parked {
            Some(call) if next <= batch.now => Decision::release([call.id]),
            _ => Decision { release: Vec::new(), wake_at: Some(next) },
        })
    }
}

/// A clock of tokio's time, and what it is ahead: the time in which the machine slept.
fn clock() -> (Clock, Arc<AtomicU64>) {
    let (start, slept) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let ahead = slept.clone();
    let clock =
        Clock::new(move || start.elapsed() + Duration::from_secs(ahead.load(Ordering::SeqCst)));
    (clock, slept)
}

/// Runs calls of one key, limit 1, each for so many milliseconds, in virtual time. The machine falls asleep after the first time, for
/// the second.
fn run(
    calls: &[u64],
    factory: &dyn PolicyFactory,
    timeout: Option<Duration>,
    sleeps: Option<(Duration, u64)>,
) -> Finished {
    let text = "conversation.tools.t.concurrency = 1";
    let config = Config::from_sources(&[Source::new("tools.toml", text)]).expect("it holds");
    let setup = Setup {
        config: &config,
        tools: Arc::new(Takes),
        factory,
        prompter: Arc::new(AutoPrompter { approve: true }),
        timeout,
        carried: Carried::default(),
    };
    let requests = (0..).zip(calls).map(|(n, ms)| Request {
        id: n.to_string().into(),
        name: "t".into(),
        arguments: Ok(Arc::new(std::iter::once(("ms".to_owned(), (*ms).into())).collect())),
    });
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let (clock, slept) = clock();
        let coordinator = Coordinator::new(setup).expect("it takes everything").with_clock(clock);
        if let Some((after, seconds)) = sleeps {
            tokio::spawn(async move {
                sleep(after).await;
                slept.fetch_add(seconds, Ordering::SeqCst);
            });
        }
        coordinator.run(requests.collect(), &mut ()).await
    })
}

/// When each call started, in milliseconds.
fn starts(finished: &Finished) -> Vec<u64> {
    let runs = finished.record.calls.iter().map(|call| &call.runs[0]);
    runs.map(|run| run.span.from / 1_000_000).collect()
}

/// A wake-up is kept to the millisecond.
#[test]
fn a_wake_up_comes_when_it_was_wanted() {
    let finished = run(&[1_000; 3], &Native::<EveryTenSeconds>::new(), None, None);
    assert_eq!(starts(&finished), [0, 10_000, 20_000]);
}

/// The machine falls asleep after 4.5 s, for an hour. The wake-up at 10 s has come then, and is seen when the clock is looked at
/// next, half a second later; the one after it counts from there.
#[test]
fn a_wake_up_that_the_machine_slept_through_comes_soon_after() {
    let slept = Some((Duration::from_millis(4_500), 3_600));
    let finished = run(&[1_000; 3], &Native::<EveryTenSeconds>::new(), None, slept);
    let starts = starts(&finished);
    assert_eq!(starts[0], 0);
    assert!((3_604_500..=3_605_500).contains(&starts[1]), "{starts:?}");
    assert_eq!(starts[2], starts[1] + 10_000);
}

/// A call may take ten seconds from its release: that it waited for longer before does not count, and neither does the time in
/// which the machine slept and its process could not run.
#[test]
fn how_long_a_call_may_take_counts_from_its_release() {
    let timeout = Some(Duration::from_secs(10));
    let slept = Some((Duration::from_secs(5), 3_600));
    let finished = run(&[9_000, 9_000, 11_000, 9_000], &Native::rules(), timeout, slept);
    let contents: Vec<&str> =
        finished.responses.iter().map(|response| response.content.as_str()).collect();
    assert_eq!(contents, ["done", "done", "tool `t` did not end within 10s", "done"]);
    let after = 3_600_000;
    assert_eq!(starts(&finished), [0, after + 9_000, after + 18_000, after + 28_000]);
}
