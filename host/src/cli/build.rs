//! `jp-policy build`: builds a policy.
use super::Exit;
use anyhow::Result;

/// Build a policy
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> Result<Exit> {
    Ok(Exit::Fine)
}
