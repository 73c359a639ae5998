//! What a call costs when its execution does nothing: by this coordinator, with its policy as a component and natively, beside two
//! that only bound how many run at once: a queue of futures by key (the one behind cargo-nextest) and a semaphore for each key.
//!
//! Those hand a slot straight from one task to the next. Where one place decides what starts, and a policy can only be asked in one
//! place, an execution tells that place that it has ended and the place starts another: that is measured too, with nothing else
//! in it, as the least that a coordinator could cost.
//!
//! `cargo bench -p jp-policy-tests --bench coordinator [CALLS...]`. All of them take turns on one runtime in one run, so the ratios hold
//! on any machine. The table has medians, in microseconds a call, and how many times the semaphores' that is.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use future_queue::{FutureQueueContext, StreamExt as _};
use futures_util::StreamExt as _;
use jp_policy_config::{Config, Source};
use jp_policy_core::{
    batch::Carried,
    policy::{Native, PolicyFactory},
    request::Request,
};
use jp_policy_core::{catalog::Terms, outcome::Outcome, response::Status};
use jp_policy_guest::rules::Rules;
use jp_policy_runtime::{
    coordinator::{AutoPrompter, Coordinator, Setup},
    tools::{Invocation, Running, Stop, Tools},
};
use jp_policy_wasm::{Component, Engine};
use serde_json::json;
use tokio::{
    runtime::Runtime,
    sync::{Semaphore, mpsc::unbounded_channel},
};

/// Keys of the batches, and the limit of each.
const KEYS: usize = 8;
const LIMIT: usize = 4;

/// Calls of the batches.
const LENGTHS: &[usize] = &[1_000, 10_000, 100_000];

/// How many calls a length is measured with altogether, by each of them: enough for a median of at least seven.
const CALLS: usize = 700_000;

/// The most batches of one length: beyond this the median does not move any more.
const MOST: usize = 101;

/// Threads that run executions: what the program has.
const WORKERS: usize = 2;

fn main() {
    // Cargo adds `--bench`.
    let lengths: Vec<usize> = std::env::args().filter_map(|text| text.parse().ok()).collect();
    let lengths = if lengths.is_empty() { LENGTHS } else { &lengths };
    let engine = Engine::new().expect("an engine");
    let setting = Arc::new(Setting::new(&engine));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(WORKERS).enable_all().build().expect("a runtime");
    println!(
        "{KEYS} keys of limit {LIMIT}, {WORKERS} workers; microseconds a call (times the semaphores')\n"
    );
    print!("{:36}", "");
    for length in lengths {
        print!("{:>22}", format!("{length} calls"));
    }
    println!();
    let mut rows: Vec<Vec<Duration>> = vec![Vec::new(); CONTENDERS.len()];
    for &length in lengths {
        let repetitions = (CALLS / length).clamp(7, MOST);
        let mut times = vec![Vec::new(); CONTENDERS.len()];
        for _ in 0..repetitions {
            for (times, (_, run)) in times.iter_mut().zip(CONTENDERS) {
                times.push(run(&runtime, &setting, length));
            }
        }
        for (row, mut times) in rows.iter_mut().zip(times) {
            times.sort_unstable();
            row.push(times[times.len() / 2]);
        }
    }
    for ((name, _), row) in CONTENDERS.iter().zip(&rows) {
        print!("{name:36}");
        for ((time, semaphores), length) in row.iter().zip(&rows[SEMAPHORES]).zip(lengths) {
            let each = time.as_secs_f64() * 1e6 / *length as f64;
            let ratio = time.as_secs_f64() / semaphores.as_secs_f64();
            print!("{:>22}", format!("{each:.2} ({ratio:.2}x)"));
        }
        println!();
    }
    println!();
    for ((name, _), row) in CONTENDERS.iter().zip(&rows) {
        let each = |place: usize| row[place].as_secs_f64() / lengths[place] as f64;
        println!("{name:36}{:.2}x the cost a call at the shortest", each(row.len() - 1) / each(0));
    }
}

type Contender = (&'static str, fn(&Runtime, &Arc<Setting>, usize) -> Duration);

const CONTENDERS: &[Contender] = &[
    ("coordinator, default component", |runtime, setting, length| {
        coordinator(runtime, setting, &setting.component, length)
    }),
    ("coordinator, native rules", |runtime, setting, length| {
        coordinator(runtime, setting, &setting.rules, length)
    }),
    ("future queue, in one task", future_queue),
    ("future queue, a task a call", future_queue_tasks),
    ("a semaphore a key, a task a call", semaphores),
    ("one place that decides, and no more", one_place),
];

/// Where the semaphores stand: what the others are held against.
const SEMAPHORES: usize = 4;

struct Setting {
    config: Config,
    component: Component,
    rules: Native<Rules>,
    tools: Arc<Idle>,
}

impl Setting {
    fn new(engine: &Engine) -> Self {
        let tool = |key| {
            format!("[conversation.tools.tool{key}]\nrun = 'unattended'\nconcurrency = {LIMIT}\n")
        };
        let text = (0..KEYS).map(tool).collect::<Vec<_>>().concat();
        let config = Config::from_sources(&[Source::new("tools.toml", text)]).expect("it holds");
        let names = config.tools.keys().cloned().collect();
        Self {
            config,
            component: Component::embedded(engine).expect("the default component loads"),
            rules: Native::rules(),
            tools: Arc::new(Idle(names)),
        }
    }
}

/// Tools that do nothing.
struct Idle(Vec<String>);

impl Tools for Idle {
    fn terms(&self, _: &str) -> Option<Terms<'_>> {
        Some(Terms::default())
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    fn run<'a>(&'a self, _: &'a Invocation, _: &'a Stop) -> Running<'a> {
        Box::pin(async { Outcome::Success { content: nothing().await }.into() })
    }
}

/// What an execution does: it gives up its turn once, as whatever waits for something does.
async fn nothing() -> String {
    tokio::task::yield_now().await;
    "done".to_owned()
}

fn coordinator(
    runtime: &Runtime,
    setting: &Arc<Setting>,
    factory: &dyn PolicyFactory,
    length: usize,
) -> Duration {
    let requests: Vec<Request> = (0..length)
        .map(|n| Request {
            id: format!("call_{n}").into(),
            name: format!("tool{}", n % KEYS).into(),
            arguments: Ok(json!({ "n": n }).as_object().cloned().unwrap_or_default().into()),
        })
        .collect();
    let start = Instant::now();
    let setup = Setup {
        config: &setting.config,
        tools: setting.tools.clone(),
        factory,
        prompter: Arc::new(AutoPrompter { approve: true }),
        timeout: None,
        carried: Carried::default(),
    };
    let coordinator = Coordinator::new(setup).expect("the policy takes the configuration");
    let finished = runtime.block_on(async {
        let run = tokio::spawn(async move { coordinator.run(requests, &mut ()).await });
        run.await.expect("it doesn't panic")
    });
    let took = start.elapsed();
    assert_eq!(finished.responses.len(), length);
    assert!(finished.responses.iter().all(|response| response.status == Status::Ok));
    assert_eq!(finished.record.peaks, [u32::try_from(LIMIT).unwrap_or(0); KEYS]);
    if std::env::var_os("DETAILS").is_some() {
        let each = |nanos: u64| nanos as f64 / 1e3 / length as f64;
        let first = finished.record.calls[0].runs[0].span.from;
        eprintln!(
            "{length} calls: {:.2} us a call until the first starts, {:.2} until the last ends, {:.2} in all; {} decisions, {:.2} us a call",
            each(first),
            each(finished.record.until - first),
            took.as_secs_f64() * 1e6 / length as f64,
            finished.cost.decisions,
            finished.cost.time.as_secs_f64() * 1e6 / length as f64,
        );
    }
    took
}

fn future_queue(runtime: &Runtime, _: &Arc<Setting>, length: usize) -> Duration {
    queued(runtime, length, nothing)
}

fn future_queue_tasks(runtime: &Runtime, _: &Arc<Setting>, length: usize) -> Duration {
    queued(runtime, length, || async { tokio::spawn(nothing()).await.expect("it doesn't panic") })
}

/// A queue of futures, each of which does this.
fn queued<F>(runtime: &Runtime, length: usize, each: fn() -> F) -> Duration
where
    F: Future<Output = String> + Send + 'static,
{
    let start = Instant::now();
    let results = runtime.block_on(async {
        let run = tokio::spawn(async move {
            let calls = futures_util::stream::iter(0..length).map(|n| {
                let run = move |_: FutureQueueContext| async move { (n, each().await) };
                (1, Some(n % KEYS), run)
            });
            let mut results = vec![String::new(); length];
            let mut queue = calls.future_queue_grouped(KEYS * LIMIT, groups());
            while let Some((n, result)) = queue.next().await {
                results[n] = result;
            }
            results
        });
        run.await.expect("it doesn't panic")
    });
    let took = start.elapsed();
    assert!(black_box(results).iter().all(|result| result == "done"));
    took
}

fn groups() -> impl Iterator<Item = (usize, usize)> {
    (0..KEYS).map(|key| (key, LIMIT))
}

fn semaphores(runtime: &Runtime, _: &Arc<Setting>, length: usize) -> Duration {
    let start = Instant::now();
    let results = runtime.block_on(async {
        let run = tokio::spawn(async move {
            let slots: Vec<Arc<Semaphore>> =
                (0..KEYS).map(|_| Arc::new(Semaphore::new(LIMIT))).collect();
            let calls: Vec<_> = (0..length)
                .map(|n| {
                    let slots = slots[n % KEYS].clone();
                    tokio::spawn(async move {
                        let _slot = slots.acquire().await.expect("nobody closes it");
                        nothing().await
                    })
                })
                .collect();
            let mut results = Vec::with_capacity(length);
            for call in calls {
                results.push(call.await.expect("it doesn't panic"));
            }
            results
        });
        run.await.expect("it doesn't panic")
    });
    let took = start.elapsed();
    assert!(black_box(results).iter().all(|result| result == "done"));
    took
}

/// A task starts the executions, each a task of its own that tells it when it has ended.
fn one_place(runtime: &Runtime, _: &Arc<Setting>, length: usize) -> Duration {
    let start = Instant::now();
    let results = runtime.block_on(async {
        let run = tokio::spawn(async move {
            let (sender, mut ended) = unbounded_channel();
            let begin = |n: usize| {
                let sender = sender.clone();
                tokio::spawn(async move { sender.send((n, nothing().await)) });
            };
            // Those of a key are as many apart as there are keys.
            (0..length.min(KEYS * LIMIT)).for_each(begin);
            let mut results = vec![String::new(); length];
            for _ in 0..length {
                let (n, result) = ended.recv().await.expect("the sender is here");
                results[n] = result;
                let next = n + KEYS * LIMIT;
                if next < length {
                    begin(next);
                }
            }
            results
        });
        run.await.expect("it doesn't panic")
    });
    let took = start.elapsed();
    assert!(black_box(results).iter().all(|result| result == "done"));
    took
}
