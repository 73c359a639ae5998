//! A Rust toolchain that builds for WebAssembly: how it is found, and how cargo is run with it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use super::{
    super::{BuildError, Missing, io::probe, tools::on_path},
    metadata::{Metadata, Package},
};

/// The target of all policies in Rust.
pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// The guest's own stack, in bytes: the default of 1 MiB alone would be most of a policy's memory.
const STACK: &str = "-Clink-arg=-zstack-size=65536";

/// A toolchain that builds for wasm.
#[derive(Debug, Clone)]
pub(super) struct Toolchain {
    /// As `rustc --version` prints it: `rustc 1.96.0 (ac68faa20 2026-05-25)`.
    compiler: String,
    cargo: PathBuf,
    rustc: PathBuf,
    /// The folder of the standard library's source. `None`: the target's library is installed.
    std_source: Option<PathBuf>,
}

/// Says what to install: the target where Rust comes from rustup, else what Debian has, else rustup.
fn missing(rustup: bool, debian: bool) -> Missing {
    let install = if rustup {
        format!("rustup target add {TARGET}")
    } else if debian {
        "apt-get install --no-install-recommends rustc-web cargo-web rust-web-src rust-web-llvm lld-22".to_owned()
    } else {
        format!(
            "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- --target {TARGET}"
        )
    };
    let mut missing = Missing::default();
    missing.add(format!("no Rust toolchain here builds for {TARGET}"), install);
    missing
}

impl Toolchain {
    /// The first that is found: rustup's with the target, then Debian's with the source of the standard library.
    pub(super) fn find() -> Result<Self, BuildError> {
        let from_env = |name, otherwise| {
            std::env::var_os(name).map_or_else(|| PathBuf::from(otherwise), PathBuf::from)
        };
        let rustup = Self {
            compiler: String::new(),
            cargo: from_env("CARGO", "cargo"),
            rustc: from_env("RUSTC", "rustc"),
            std_source: None,
        };
        if let Some(compiler) = rustup.version()
            && rustup
                .print("target-libdir", &["--target", TARGET])
                .is_some_and(|folder| Path::new(&folder).is_dir())
        {
            return Ok(Self { compiler, ..rustup });
        }
        let debian =
            Self { cargo: "/usr/bin/cargo".into(), rustc: "/usr/bin/rustc".into(), ..rustup };
        if let Some(compiler) = debian.version()
            && let Some(sysroot) = debian.print("sysroot", &[])
        {
            let source = Path::new(&sysroot).join("lib/rustlib/src/rust");
            if source.join("library/std/Cargo.toml").is_file() {
                return Ok(Self { compiler, std_source: Some(source), ..debian });
            }
        }
        let is_installed = |name| on_path(name).is_some();
        Err(BuildError::Missing(missing(is_installed("rustup"), is_installed("apt-get"))))
    }

    /// The compiler and its version.
    pub(super) fn compiler(&self) -> &str {
        &self.compiler
    }

    fn version(&self) -> Option<String> {
        probe(&self.rustc, &["--version"])
    }

    fn print(&self, what: &str, more: &[&str]) -> Option<String> {
        probe(&self.rustc, &[&["--print", what], more].concat())
    }

    /// Builds packages of one workspace together, so that what they have in common is built once. Cargo's messages go to standard
    /// error.
    ///
    /// The bytes depend on the source, the compiler and the encoder, not on the folders of this machine.
    pub(super) fn build(
        &self,
        metadata: &Metadata,
        packages: &[Package],
        quiet: bool,
    ) -> Result<(), BuildError> {
        let mut cargo = Command::new(&self.cargo);
        cargo.args(["build", "--release", "--target", TARGET]);
        if quiet {
            cargo.arg("--quiet");
        }
        if let Some(package) = packages.first() {
            cargo.arg("--manifest-path").arg(&package.manifest);
        }
        for package in packages {
            cargo.arg("--package").arg(&package.id);
        }
        cargo
            .env("RUSTC", &self.rustc)
            .env_remove("RUSTFLAGS")
            .env("CARGO_ENCODED_RUSTFLAGS", self.flags(metadata))
            // Whatever profile the workspace has for its other crates: these make a small component whose panics have a message.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
            .env("CARGO_PROFILE_RELEASE_LTO", "true")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_STRIP", "true")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            // Set by the cargo that runs this program, if one does.
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("RUSTUP_TOOLCHAIN");
        if self.std_source.is_some() {
            cargo.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "build-std=std,panic_abort"]);
        }
        let program = format!("{} build", self.cargo.display());
        let status =
            cargo.status().map_err(|error| BuildError::Run { program: program.clone(), error })?;
        succeeded(program, status)
    }

    /// The compiler's flags, joined by cargo's own separator, so that folders may have blanks.
    fn flags(&self, metadata: &Metadata) -> OsString {
        let mut flags: Vec<OsString> = vec![STACK.into()];
        let mut remap = |from: &Path, to: &str| {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(from);
            flag.push(format!("={to}"));
            flags.push(flag);
        };
        // The last prefix that fits wins, so the general ones come first.
        if let Some(home) = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        {
            remap(&home, "cargo");
        }
        if let Some(source) = &self.std_source {
            remap(source, "rust");
        }
        for (folder, name) in metadata.local() {
            remap(folder, name);
        }
        let mut encoded = OsString::new();
        for (n, flag) in flags.iter().enumerate() {
            if n > 0 {
                encoded.push("\u{1f}");
            }
            encoded.push(flag);
        }
        encoded
    }

    /// Cargo's description of the workspace that a crate belongs to, as JSON.
    pub(super) fn metadata(&self, manifest: &Path) -> Result<Vec<u8>, BuildError> {
        let program = format!("{} metadata", self.cargo.display());
        let output = Command::new(&self.cargo)
            .args(["metadata", "--format-version", "1", "--manifest-path"])
            .arg(manifest)
            .env("RUSTC", &self.rustc)
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("RUSTUP_TOOLCHAIN")
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| BuildError::Run { program: program.clone(), error })?;
        succeeded(program, output.status)?;
        Ok(output.stdout)
    }
}

/// Cargo has told the person itself what is wrong.
fn succeeded(program: String, status: ExitStatus) -> Result<(), BuildError> {
    if status.success() {
        return Ok(());
    }
    Err(BuildError::Failed { program, status, messages: String::new() })
}

#[cfg(test)]
#[path = "toolchain_tests.rs"]
mod tests;
