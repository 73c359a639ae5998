//! `jp-policy config`: what is configured, where it comes from, and whether it holds.

mod check;
mod explain;
mod page;
mod policy;
mod schema;
mod show;

use anyhow::Result;
use clap::Subcommand;

use super::Exit;

/// Show, explain and check the configuration
///
/// Configuration is read as jp reads it, the later over the earlier: the user's config file, `.jp/config.toml` of the workspace,
/// `.jp.toml` of the folders down to this one, the user's file for the workspace, variables JP_CFG_*, `--config`, `--cfg`. Files are
/// TOML, JSON or YAML, and bring along others by `extends`.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    Show(show::Args),
    Explain(explain::Args),
    Check(check::Args),
    Schema(schema::Args),
}

pub(super) fn run(verb: &Verb) -> Result<Exit> {
    match verb {
        Verb::Show(args) => show::run(args),
        Verb::Explain(args) => explain::run(args),
        Verb::Check(args) => check::run(args),
        Verb::Schema(args) => schema::run(args),
    }
}
