//! `jp-policy config check`: says everything that is wrong with the configuration.
use crate::cli::{Exit, config_args::ConfigArgs, diagnostics};
use anyhow::Result;

/// Say everything that is wrong with the configuration
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
}

pub(in crate::cli) fn run(args: &Args) -> Result<Exit> {
    let config = args.config.load()?;
    diagnostics::print(&config.warnings);
    Ok(Exit::Fine)
}
