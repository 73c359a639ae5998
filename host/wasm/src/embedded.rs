//! The default policy as a component, part of the program.

/// The default policy, as it was built from `policies/default`.
pub const DEFAULT: &[u8] = include_bytes!("../../../policies/default.wasm");
