//! The engine and the clock that interrupts what runs too long: one type owns both, because a deadline without a clock never
//! comes and a clock without deadlines kills everything.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle, Thread},
    time::{Duration, Instant},
};

use wasmtime::{Cache, CacheConfig, Config, OptLevel};

/// How often the clock ticks while a question is open: a tenth of the default budget of time, and rare enough not to matter.
const TICK: Duration = Duration::from_millis(10);

/// Stack of a guest. Rust guests ask for 64 KiB of their own in linear memory; this is the engine's, for calls.
const STACK: usize = 512 << 10;

/// Compiles components and interrupts their instances. Cheap to clone; the clones share all of it.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    engine: wasmtime::Engine,
    ticker: Ticker,
}

/// The machine does not have what an engine needs.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// There is no engine at all.
    #[error("the WebAssembly engine can't be started: {0:#}")]
    Start(wasmtime::Error),
    /// Compiled code can't be kept where it should be. An engine that keeps none works.
    #[error("compiled code can't be kept in `{folder}`: {error:#}")]
    Cache {
        /// Where.
        folder: String,
        /// Why.
        error: wasmtime::Error,
    },
}

impl Engine {
    /// An engine with its clock. The clock's thread sleeps until a question is open.
    pub fn new() -> Result<Self, EngineError> {
        Self::build(None)
    }

    /// The same, with compiled code kept in a folder.
    ///
    /// An entry is found by the component's bytes, the engine's version and its settings, so an upgrade is a miss; and so is one
    /// that can't be read. The folder has to be the user's own: what stands in it is run.
    pub fn with_cache(folder: &Path) -> Result<Self, EngineError> {
        let mut config = CacheConfig::new();
        config.with_directory(folder);
        let cache = Cache::new(config)
            .map_err(|error| EngineError::Cache { folder: folder.display().to_string(), error })?;
        Self::build(Some(cache))
    }

    fn build(cache: Option<Cache>) -> Result<Self, EngineError> {
        let mut config = Config::new();
        config
            .wasm_component_model(true)
            .consume_fuel(true)
            .epoch_interruption(true)
            .max_wasm_stack(STACK)
            .cranelift_opt_level(OptLevel::Speed)
            .cache(cache);
        let engine = wasmtime::Engine::new(&config).map_err(EngineError::Start)?;
        let ticker = Ticker::start(engine.clone());
        Ok(Self(Arc::new(Inner { engine, ticker })))
    }

    pub(super) fn inner(&self) -> &wasmtime::Engine {
        &self.0.engine
    }

    /// Keeps the clock ticking while the guard lives.
    pub(super) fn watch(&self) -> Watch<'_> {
        self.0.ticker.open()
    }

    /// How many ticks are at least this long.
    pub(super) fn ticks(time: Duration) -> u64 {
        // One more, because the first tick may come at once.
        u64::try_from(time.as_nanos().div_ceil(TICK.as_nanos()))
            .unwrap_or(u64::MAX / 2)
            .min(u64::MAX / 2)
            + 1
    }
}

/// A thread that advances the engine's epoch while a question is open.
struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
    handle: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    open: AtomicUsize,
    asleep: AtomicBool,
    done: AtomicBool,
}

impl Ticker {
    fn start(engine: wasmtime::Engine) -> Self {
        let shared = Arc::new(Shared::default());
        let handle = thread::Builder::new()
            .name("policy-clock".to_owned())
            .spawn({
                let shared = shared.clone();
                move || shared.run(&engine)
            })
            .expect("a thread can be started");
        Self { shared, thread: handle.thread().clone(), handle: Some(handle) }
    }

    fn open(&self) -> Watch<'_> {
        self.shared.open.fetch_add(1, Ordering::SeqCst);
        // Waking costs more than a whole question, so only who sleeps is woken: at most once a tick.
        if self.shared.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        Watch(&self.shared)
    }
}

impl Shared {
    fn run(&self, engine: &wasmtime::Engine) {
        while !self.done.load(Ordering::SeqCst) {
            if self.open.load(Ordering::SeqCst) == 0 {
                self.asleep.store(true, Ordering::SeqCst);
                // A question that opened in between has either been seen here or sees `asleep`.
                if self.open.load(Ordering::SeqCst) == 0 && !self.done.load(Ordering::SeqCst) {
                    thread::park();
                }
                self.asleep.store(false, Ordering::SeqCst);
            } else {
                self.sleep();
                engine.increment_epoch();
            }
        }
    }
}

impl Shared {
    /// Lets a tick pass; less, if the clock is to stop: whoever drops it should not have to wait for the tick.
    fn sleep(&self) {
        let until = Instant::now() + TICK;
        while !self.done.load(Ordering::SeqCst) {
            match until.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                _ => return,
            }
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::SeqCst);
        self.thread.unpark();
        if let Some(handle) = self.handle.take() {
            // It can't have panicked, and there is nobody to tell.
            let _ = handle.join();
        }
    }
}

/// The clock ticks while this lives.
pub(super) struct Watch<'a>(&'a Shared);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}
