//! What a decision costs: as a component and natively, by calls in view and by length of the batch, beside an empty component call.
//!
//! `cargo bench -p jp-policy-wasm --bench policy`. Divan prints the times; the ratios below them are measured in the same run, on the
//! same machine, so they hold on any.

use std::{hint::black_box, sync::OnceLock, time::Instant};

use divan::Bencher;
use jp_policy_core::{
    batch::{Batch, Carried},
    policy::{Arguments, Native, Policy, PolicyFactory},
};
use jp_policy_guest::{Batch as Question, Key, Settings, Tool, View};
use jp_policy_wasm::{Budget, Component, DEFAULT, Engine};

/// Keys of the batches: as many as have a call in view, four slots each.
const KEYS: u32 = 4;
const LIMIT: u32 = 4;

fn main() {
    divan::main();
    ratios();
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new().expect("an engine"))
}

fn component() -> &'static Component {
    static COMPONENT: OnceLock<Component> = OnceLock::new();
    COMPONENT.get_or_init(|| Component::embedded(engine()).expect("the default component loads"))
}

fn settings() -> Settings {
    let index = 0..KEYS;
    Settings {
        tools: index.clone().map(|n| Tool { name: format!("tool-{n}"), key: Some(n) }).collect(),
        keys: index
            .map(|n| Key { name: format!("key-{n}"), limit: LIMIT, fields: vec![] })
            .collect(),
        options: vec![],
    }
}

/// A batch of this many parked calls, spread over the keys; all slots are free, so 16 are in view.
fn batch(calls: u32) -> Batch {
    let mut batch = Batch::new(&settings(), Carried::default());
    for n in 0..calls {
        let call = batch.add(0, n % KEYS, n);
        batch.park(0, call);
    }
    batch
}

/// A question with this many calls in view.
fn question(in_view: u32) -> Question {
    batch(in_view).view(0, View::Front)
}

fn policy(factory: &dyn PolicyFactory) -> Box<dyn Policy> {
    factory.instantiate(&settings(), Arguments::default()).expect("it takes the settings")
}

/// A component with one function that does nothing: what crossing costs.
struct Empty {
    store: wasmtime::Store<()>,
    function: wasmtime::component::TypedFunc<(), ()>,
}

impl Empty {
    fn new() -> Self {
        let mut config = wasmtime::Config::new();
        config.consume_fuel(true).epoch_interruption(true);
        let engine = wasmtime::Engine::new(&config).expect("an engine");
        let text = r#"(component
            (core module $m (func (export "empty")))
            (core instance $i (instantiate $m))
            (func (export "empty") (canon lift (core func $i "empty"))))"#;
        let component =
            wasmtime::component::Component::new(&engine, wat::parse_str(text).expect("it parses"));
        let mut store = wasmtime::Store::new(&engine, ());
        store.set_epoch_deadline(1);
        let linker = wasmtime::component::Linker::new(&engine);
        let instance =
            linker.instantiate(&mut store, &component.expect("it compiles")).expect("it starts");
        let function = instance.get_typed_func(&mut store, "empty").expect("it is there");
        Self { store, function }
    }

    fn call(&mut self) {
        self.store.set_fuel(1_000_000).expect("fuel is on");
        self.function.call(&mut self.store, ()).expect("nothing fails");
    }
}

#[divan::bench]
fn empty_component_call(bencher: Bencher<'_, '_>) {
    let mut empty = Empty::new();
    bencher.bench_local(|| empty.call());
}

#[divan::bench(args = [0, 1, 4, 16])]
fn decision_component(bencher: Bencher<'_, '_>, in_view: u32) {
    let (mut policy, question) = (policy(component()), question(in_view));
    bencher.bench_local(|| policy.release(black_box(&question)));
}

#[divan::bench(args = [0, 1, 4, 16])]
fn decision_native(bencher: Bencher<'_, '_>, in_view: u32) {
    let (mut policy, question) = (policy(&Native::rules()), question(in_view));
    bencher.bench_local(|| policy.release(black_box(&question)));
}

/// View and decision together, which is what a batch of this length costs each time something happens.
#[divan::bench(args = [16, 1_000, 100_000])]
fn question_and_decision_component(bencher: Bencher<'_, '_>, calls: u32) {
    let (mut policy, batch) = (policy(component()), batch(calls));
    bencher.bench_local(|| policy.release(&batch.view(0, View::Front)));
}

#[divan::bench(args = [16, 1_000, 100_000])]
fn question_and_decision_native(bencher: Bencher<'_, '_>, calls: u32) {
    let (mut policy, batch) = (policy(&Native::rules()), batch(calls));
    bencher.bench_local(|| policy.release(&batch.view(0, View::Front)));
}

#[divan::bench]
fn instantiate() -> Box<dyn Policy> {
    policy(component())
}

#[divan::bench(sample_count = 20)]
fn compile() -> Component {
    Component::from_bytes(engine(), "default", DEFAULT, Budget::default()).expect("it compiles")
}

#[divan::bench(sample_count = 50)]
fn load_from_cache(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = Engine::with_cache(folder.path()).expect("an engine");
    let load = || Component::embedded(&engine).expect("it loads");
    load();
    bencher.bench_local(load);
}

/// The aims, as ratios of medians in this run.
fn ratios() {
    let mut empty = Empty::new();
    let empty = median(|| empty.call());
    let mut wasm = policy(component());
    let mut native = policy(&Native::rules());
    let shown = question(16);
    let wasm_16 = median(|| drop(black_box(wasm.release(&shown))));
    let native_16 = median(|| drop(black_box(native.release(&shown))));
    let mut by_length = [16, 1_000, 100_000].map(|calls| {
        let batch = batch(calls);
        median(|| drop(black_box(wasm.release(&batch.view(0, View::Front)))))
    });
    println!("\nratios of medians, 4 keys and 16 calls in view");
    println!("  empty component call                {empty:>8.0} ns");
    println!(
        "  decision by component               {wasm_16:>8.0} ns  {:>5.1} x an empty call  (aim: 8)",
        wasm_16 / empty
    );
    println!(
        "  decision natively                   {native_16:>8.0} ns  {:>5.1} x less",
        wasm_16 / native_16
    );
    let first = by_length[0];
    for (calls, nanos) in [16, 1_000, 100_000].into_iter().zip(&mut by_length) {
        println!(
            "  view and decision of {calls:>6} calls    {nanos:>8.0} ns  {:>5.2} x that of 16 calls",
            *nanos / first
        );
    }
    if let Some(kib) = resident() {
        println!("  resident memory of an instance      {kib:>8.0} KiB  (aim: under 1024)");
    }
}

/// Resident KiB of an instance that has decided once, over a hundred of them; none where the system does not say.
fn resident() -> Option<f64> {
    const INSTANCES: usize = 100;
    let pages = || -> Option<f64> {
        let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
        statm.split_whitespace().nth(1)?.parse().ok()
    };
    let shown = question(16);
    let before = pages()?;
    let instances: Vec<Box<dyn Policy>> = (0..INSTANCES)
        .map(|_| {
            let mut policy = policy(component());
            drop(black_box(policy.release(&shown)));
            policy
        })
        .collect();
    let after = pages()?;
    drop(instances);
    Some((after - before) * 4.0 / INSTANCES as f64)
}

/// Nanoseconds of one call: the median of 101 samples of 1,000.
fn median(mut call: impl FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..101)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..1_000 {
                call();
            }
            start.elapsed().as_nanos() as f64 / 1_000.0
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
