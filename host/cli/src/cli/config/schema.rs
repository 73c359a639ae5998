//! `jp-policy config schema`: the form of a configuration file, for editors.

use std::io::{self, Write as _};

use anyhow::Result;
use jp_policy_config::schema;

use crate::cli::Exit;

/// Print the JSON Schema of a configuration file, so that editors complete and check what is written
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  jp-policy config schema > .jp/schema.json

In a TOML file, editors with Taplo or Tombi take it from a first line: #:schema ./schema.json
In a JSON file it is named by \"$schema\", in a YAML file by a first line: # yaml-language-server: $schema=./schema.json

Exit codes: 0 fine, 2 wrong use.")]
pub(in crate::cli) struct Args {}

pub(super) fn run(_: &Args) -> Result<Exit> {
    writeln!(io::stdout().lock(), "{}", serde_json::to_string_pretty(&schema())?)?;
    Ok(Exit::Fine)
}
