//! Why a component can't be a policy.

use jp_policy_core::policy::FaultKind;

use super::compat::Incompatibility;

/// Why a component can't be a policy.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file can't be read.
    #[error("failed to read policy `{path}`: {error}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The file is something else.
    #[error("`{path}` is no policy: it is {found}, expected a WebAssembly component")]
    NotAComponent {
        /// The file.
        path: String,
        /// What it is.
        found: &'static str,
    },
    /// The file is too large.
    #[error(
        "policy `{path}` has {length} bytes, over its budget of {budget}: `limits.file` of the plugin says how many it may have"
    )]
    TooLarge {
        /// The file.
        path: String,
        /// What it has.
        length: u64,
        /// What it may have.
        budget: u64,
    },
    /// Compiling it would take minutes.
    #[error(
        "policy `{path}` has a function that would take minutes to compile: {cost} as the product of its blocks and locals"
    )]
    CompileCost {
        /// The file.
        path: String,
        /// Blocks times locals.
        cost: u64,
    },
    /// It does not compile.
    #[error("policy `{path}` can't be compiled: {error:#}")]
    Compile {
        /// The file.
        path: String,
        /// Why.
        error: wasmtime::Error,
    },
    /// It does not fit the contract.
    #[error("policy `{path}` does not fit the host{incompatibility}")]
    Incompatible {
        /// The file.
        path: String,
        /// All that keeps it from fitting.
        incompatibility: Box<Incompatibility>,
    },
    /// Its digest is not the one that was pinned.
    #[error("policy `{path}` is not the one that was pinned: it has {found}, expected {expected}")]
    Checksum {
        /// The file.
        path: String,
        /// What the file has.
        found: String,
        /// What the configuration says.
        expected: String,
    },
    /// It can't say its name.
    #[error("policy `{path}` can't be used: it {fault}")]
    Name {
        /// The file.
        path: String,
        /// What it did instead.
        fault: FaultKind,
    },
}
