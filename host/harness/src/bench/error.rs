//! Why a measurement fails.

use jp_policy_core::policy::Refusal;
use jp_policy_wasm::{EngineError, LoadError};

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// It does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Compiled code can't be kept.
    #[error("failed to keep compiled code in `{path}`: {error}")]
    Folder {
        /// Where.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// It does not serve a batch with these settings.
    #[error("release policy \"{policy}\" can't be used: {refusal}")]
    Refused {
        /// Its name.
        policy: String,
        /// Why.
        refusal: Refusal,
    },
}
