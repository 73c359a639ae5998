//! Where configuration comes from, for every verb that takes one: jp's places, the environment, files and single values.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use jp_policy_config::{Config, ConfigDirs, FileStatus, Layers};

use super::diagnostics::shown;

/// Where the configuration comes from
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ConfigArgs {
    /// Read this file, or all files of this folder, over jp's own configuration; later ones win
    #[arg(long, value_name = "PATH", num_args = 1..)]
    config: Vec<PathBuf>,
    /// Set a value over everything else: KEY=TEXT, KEY:=JSON (`null` takes it away), KEY+=MORE, or a file; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    cfg: Vec<String>,
    /// Read neither jp's places (`~/.config/jp`, `.jp/config.toml`, `.jp.toml`) nor JP_CFG_* variables
    #[arg(long)]
    no_config: bool,
}

impl ConfigArgs {
    /// The layers, read and not yet merged.
    pub(super) fn layers(&self) -> Result<Layers> {
        let mut layers = Layers::default();
        if !self.no_config {
            let dirs = ConfigDirs::of_process().context("failed to find the current folder")?;
            layers.standard_files(&dirs);
            // What is no text sets nothing that is one.
            let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
                Some((name.into_string().ok()?, value.into_string().ok()?))
            };
            layers.environment(std::env::vars_os().filter_map(text));
        }
        for path in &self.config {
            layers.path(path);
        }
        for value in &self.cfg {
            layers.cfg(value);
        }
        if layers.is_empty() {
            let looked = layers.searched().iter();
            let missing: Vec<String> = looked
                .filter(|looked| looked.status == FileStatus::Missing)
                .map(|looked| format!("\n  {}", shown(&looked.path)))
                .collect();
            let places = match missing.as_slice() {
                [] => String::new(),
                missing => format!("; jp's own places have none:{}", missing.concat()),
            };
            bail!("no configuration: name one with `--config PATH`{places}");
        }
        Ok(layers)
    }

    /// The configuration.
    pub(super) fn load(&self) -> Result<Config> {
        Ok(self.layers()?.build()?)
    }
}
