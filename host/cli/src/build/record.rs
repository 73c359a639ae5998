//! The record of what a component was built with, as a file beside it.

use jp_policy_wasm::digest;
use serde::Deserialize;

/// What a component was built with: kept beside it as `NAME.built.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BuildRecord {
    /// The compiler and its version.
    pub compiler: String,
    /// What made the module a component, and its version.
    pub encoder: String,
    /// `sha256:...` of the component.
    pub digest: String,
}

impl BuildRecord {
    pub(super) fn new(compiler: &str, encoder: &str, component: &[u8]) -> Self {
        Self {
            compiler: compiler.to_owned(),
            encoder: encoder.to_owned(),
            digest: digest(component),
        }
    }

    /// Whether both were made with the same versions of the same tools.
    pub(super) fn has_tools_of(&self, other: &Self) -> bool {
        self.compiler == other.compiler && self.encoder == other.encoder
    }

    pub(super) fn to_toml(&self) -> String {
        format!(
            "# What the component beside this was built with. Written by `jp-policy build`.\n\
             compiler = {:?}\nencoder = {:?}\ndigest = {:?}\n",
            self.compiler, self.encoder, self.digest
        )
    }
}
