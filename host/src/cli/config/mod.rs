//! `jp-policy config`: what is configured, where it comes from, and whether it holds.

mod check;

use anyhow::Result;
use clap::Subcommand;

use super::Exit;

/// Show, explain and check the configuration
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    Check(check::Args),
}

pub(super) fn run(verb: &Verb) -> Result<Exit> {
    match verb {
        Verb::Check(args) => check::run(args),
    }
}
