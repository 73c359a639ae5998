//! What a policy is given on the command line beyond keys and limits: `--fields` and `--options`, for every verb that tries a policy
//! out without a configuration.

use anyhow::Result;
use jp_policy_harness::Parameters;

/// What the policy is given beyond keys and limits
#[derive(Debug, Clone, clap::Args)]
pub(super) struct PolicySettings {
    /// Give every key these further fields: TOML, as `delay = "1s"`; may be repeated
    #[arg(long, value_name = "TOML")]
    fields: Vec<String>,
    /// Give the policy these options: TOML, as `cap = 3`; may be repeated
    #[arg(long, value_name = "TOML")]
    options: Vec<String>,
}

impl PolicySettings {
    /// Both, read and checked.
    pub(super) fn read(&self) -> Result<Parameters> {
        let text = |entries: &[String]| entries.join("\n");
        Ok(Parameters::read("--fields", &text(&self.fields), "--options", &text(&self.options))?)
    }
}
