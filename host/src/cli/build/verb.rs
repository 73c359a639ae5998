//! `jp-policy build`: builds a policy.

use std::{io::Write as _, path::PathBuf};

use anyhow::Result;

use super::{Exit, say};
use crate::{
    build::{Comparison, Toolchain, imports},
    policy::{
        Blueprint as _,
        wasm::{Budget, Component, Engine},
    },
};

/// Build a policy crate into a component
///
/// Finds a toolchain for WebAssembly (rustup's, else Debian's), builds the crate, makes the module a component, checks that the
/// host takes it, and writes it as NAME.wasm beside the folder (into it, if the crate stands alone), with a record of what it was
/// built with.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  jp-policy build my-policy
  jp-policy build policies/default --check

Exit codes: 0 built (with --check: comes from its source), 1 does not come from its source, 2 can't be built.")]
pub(super) struct Args {
    /// The folders of the crates
    #[arg(default_value = ".")]
    folders: Vec<PathBuf>,
    /// Write nothing; fail if the component that is there does not come from its source
    #[arg(long)]
    check: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit> {
    let toolchain = Toolchain::find()?;
    let engine = Engine::new()?;
    let mut out = anstream::stdout().lock();
    let mut exit = Exit::Fine;
    for folder in &args.folders {
        let built = toolchain.build(folder)?;
        let shown = built
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let component = Component::from_bytes(&engine, &shown, &built.bytes, Budget::default())?;
        if args.check {
            match built.compare()? {
                Comparison::Same => {
                    writeln!(out, "{shown}: comes from its source, byte for byte")?;
                }
                Comparison::OtherTools(record) => writeln!(
                    out,
                    "{shown}: its source builds; not compared, because it was built with {} and {}, and here are {} and {}",
                    record.compiler, record.encoder, built.record.compiler, built.record.encoder
                )?,
                Comparison::Different(why) => {
                    say(&format!(
                        "{shown}: does not come from its source: {why}; build it again and commit it"
                    ));
                    exit = Exit::Failed;
                }
            }
            continue;
        }
        built.write()?;
        let imports = imports(&built.bytes);
        writeln!(out, "wrote    {}", built.path.display())?;
        writeln!(out, "policy   {}", component.identity())?;
        writeln!(out, "size     {} bytes", built.bytes.len())?;
        writeln!(
            out,
            "imports  {}",
            if imports.is_empty() { "none".to_owned() } else { imports.join(", ") }
        )?;
        writeln!(out, "digest   {}", built.record.digest)?;
        writeln!(out, "built by {}", built.record.compiler)?;
    }
    Ok(exit)
}
