//! The engine and the clock that interrupts what runs too long: one type owns both, because a deadline without a clock never
//! comes and a clock without deadlines kills everything.

use std::{path::Path, sync::Arc, time::Duration};

use wasmtime::{Cache, CacheConfig, Config, OptLevel};

use super::ticker::{TICK, Ticker, Watch};

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
        let ticker = Ticker::start({
            let engine = engine.clone();
            move || engine.increment_epoch()
        });
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
