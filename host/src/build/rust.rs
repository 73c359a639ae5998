//! Builds a policy crate into a component: finds a toolchain, runs cargo, and makes the module a component.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;
use serde_json::Value as Json;

use crate::policy::wasm::digest;

const TARGET: &str = "wasm32-unknown-unknown";

/// The version of the encoder that makes a module a component: the bytes depend on it.
const ENCODER: &str = "wit-component 0.254.2";

/// Bytes of the guest's own stack: the default of 1 MiB alone would be most of a policy's memory.
const STACK: &str = "-Clink-arg=-zstack-size=65536";

/// A toolchain that builds for wasm.
#[derive(Debug, Clone)]
pub struct Toolchain {
    /// `rustc 1.96.0 (ac68faa20 2026-05-25) ...`
    pub compiler: String,
    cargo: PathBuf,
    rustc: PathBuf,
    /// Where the standard library's source is; none: the target's library is installed.
    std_source: Option<PathBuf>,
}

/// A component that was built.
#[derive(Debug, Clone)]
pub struct Built {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where it belongs.
    pub path: PathBuf,
    /// What it was built with.
    pub record: BuildRecord,
}

/// What a component was built with: kept beside it as `NAME.built.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BuildRecord {
    /// The compiler.
    pub compiler: String,
    /// What made the module a component.
    pub encoder: String,
    /// `sha256:...` of the component.
    pub digest: String,
}

/// Why a policy can't be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no toolchain for wasm.
    #[error(
        "no toolchain here builds for {TARGET}.\n  With rustup: rustup target add {TARGET}\n  With Debian's packages: apt-get \
         install --no-install-recommends rustc-web cargo-web rust-web-src rust-web-llvm lld-22"
    )]
    NoToolchain,
    /// A program could not be run.
    #[error("failed to run `{program}`: {error}")]
    Run {
        /// Which.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// A program failed; it has said why.
    #[error("`{program}` failed ({status})")]
    Failed {
        /// Which.
        program: String,
        /// How.
        status: String,
    },
    /// The folder holds no policy crate.
    #[error("`{path}` is no policy crate: {why}")]
    NotACrate {
        /// The folder.
        path: String,
        /// Why.
        why: String,
    },
    /// A file can't be read or written.
    #[error("failed to access `{path}`: {error}")]
    File {
        /// Which.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The module does not become a component.
    #[error("the module does not become a component: {0}")]
    Encode(String),
}

impl Toolchain {
    /// The first that is there: rustup's with the target, then Debian's with the source of the standard library.
    pub fn find() -> Result<Self, BuildError> {
        let cargo = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let rustup = Self {
            compiler: String::new(),
            cargo: cargo("CARGO").unwrap_or_else(|| "cargo".into()),
            rustc: cargo("RUSTC").unwrap_or_else(|| "rustc".into()),
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
        Err(BuildError::NoToolchain)
    }

    fn version(&self) -> Option<String> {
        let output =
            Command::new(&self.rustc).arg("--version").stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn print(&self, what: &str, more: &[&str]) -> Option<String> {
        let output = Command::new(&self.rustc)
            .args(["--print", what])
            .args(more)
            .stderr(Stdio::null())
            .output()
            .ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Builds the policy crate in a folder. Cargo's messages go to standard error.
    ///
    /// The bytes depend on the source, the compiler and the encoder, not on the folders of this machine.
    pub fn build(&self, folder: &Path) -> Result<Built, BuildError> {
        let package = self.package(folder)?;
        let mut cargo = Command::new(&self.cargo);
        cargo
            .args(["build", "--release", "--target", TARGET, "--manifest-path"])
            .arg(&package.manifest)
            .env("RUSTC", &self.rustc)
            .env_remove("RUSTFLAGS")
            .env("CARGO_ENCODED_RUSTFLAGS", self.flags(&package))
            // Whatever profile the workspace has for its other crates: a small component, whose panics have a message.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
            .env("CARGO_PROFILE_RELEASE_LTO", "true")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_STRIP", "true")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            // Of the cargo that runs this program, if one does.
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("RUSTUP_TOOLCHAIN");
        if self.std_source.is_some() {
            cargo.env("RUSTC_BOOTSTRAP", "1").args(["-Z", "build-std=std,panic_abort"]);
        }
        let program = self.cargo.display().to_string();
        let status =
            cargo.status().map_err(|error| BuildError::Run { program: program.clone(), error })?;
        if !status.success() {
            return Err(BuildError::Failed {
                program: format!("{program} build"),
                status: status.to_string(),
            });
        }
        let module =
            package.target.join(TARGET).join("release").join(format!("{}.wasm", package.lib));
        let module = fs::read(&module).map_err(|error| file(&module, error))?;
        let bytes = componentize(&module)?;
        let record = BuildRecord {
            compiler: self.compiler.clone(),
            encoder: ENCODER.to_owned(),
            digest: digest(&bytes),
        };
        Ok(Built { bytes, path: package.component, record })
    }

    /// Cargo's own separator, so that folders may have blanks.
    fn flags(&self, package: &Package) -> OsString {
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
        for (folder, name) in &package.local {
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

    fn package(&self, folder: &Path) -> Result<Package, BuildError> {
        let path = folder.display().to_string();
        let not_a_crate =
            |why: &str| BuildError::NotACrate { path: path.clone(), why: why.to_owned() };
        let manifest = folder.join("Cargo.toml");
        if !manifest.is_file() {
            return Err(not_a_crate("it has no `Cargo.toml`"));
        }
        let manifest = manifest.canonicalize().map_err(|error| file(&manifest, error))?;
        let program = self.cargo.display().to_string();
        let output = Command::new(&self.cargo)
            .args(["metadata", "--format-version", "1", "--manifest-path"])
            .arg(&manifest)
            .env("RUSTC", &self.rustc)
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("RUSTUP_TOOLCHAIN")
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| BuildError::Run { program: program.clone(), error })?;
        if !output.status.success() {
            return Err(BuildError::Failed {
                program: format!("{program} metadata"),
                status: output.status.to_string(),
            });
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|error| {
            not_a_crate(&format!("cargo's description of it can't be read: {error}"))
        })?;
        metadata.package(&manifest).ok_or_else(|| not_a_crate("it has no library of type `cdylib`"))
    }
}

/// What of cargo's metadata is needed.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
    target_directory: PathBuf,
    workspace_root: PathBuf,
}

#[derive(Debug, Deserialize)]
struct MetadataPackage {
    name: String,
    manifest_path: PathBuf,
    source: Option<Json>,
    targets: Vec<MetadataTarget>,
}

#[derive(Debug, Deserialize)]
struct MetadataTarget {
    name: String,
    crate_types: Vec<String>,
}

struct Package {
    manifest: PathBuf,
    lib: String,
    target: PathBuf,
    component: PathBuf,
    /// Packages that are folders here, with their names.
    local: Vec<(PathBuf, String)>,
}

impl Metadata {
    fn package(self, manifest: &Path) -> Option<Package> {
        let package = self.packages.iter().find(|package| package.manifest_path == manifest)?;
        let lib = package
            .targets
            .iter()
            .find(|target| target.crate_types.iter().any(|kind| kind == "cdylib"))?;
        let folder = manifest.parent()?;
        let name = folder.file_name()?.to_string_lossy().into_owned();
        // Beside the folder of a workspace's member, inside a folder that stands alone.
        let into = if self.workspace_root == folder { folder } else { folder.parent()? };
        let local = self.packages.iter().filter(|package| package.source.is_none());
        Some(Package {
            manifest: manifest.to_owned(),
            lib: lib.name.replace('-', "_"),
            target: self.target_directory,
            component: into.join(format!("{name}.wasm")),
            local: local
                .filter_map(|package| {
                    Some((package.manifest_path.parent()?.to_owned(), package.name.clone()))
                })
                .collect(),
        })
    }
}

impl Built {
    /// Writes the component and its record.
    pub fn write(&self) -> Result<(), BuildError> {
        fs::write(&self.path, &self.bytes).map_err(|error| file(&self.path, error))?;
        let record = record_path(&self.path);
        fs::write(&record, self.record.to_toml()).map_err(|error| file(&record, error))
    }

    /// Holds the component that is there against this one.
    pub fn compare(&self) -> Result<Comparison, BuildError> {
        let record = record_path(&self.path);
        let text = fs::read_to_string(&record).map_err(|error| file(&record, error))?;
        let record: BuildRecord = toml::from_str(&text)
            .map_err(|error| file(&record, io::Error::new(io::ErrorKind::InvalidData, error)))?;
        let found = fs::read(&self.path).map_err(|error| file(&self.path, error))?;
        Ok(if digest(&found) != record.digest {
            Comparison::Different(format!(
                "it has {}, and its record says {}",
                digest(&found),
                record.digest
            ))
        } else if (&record.compiler, &record.encoder)
            != (&self.record.compiler, &self.record.encoder)
        {
            Comparison::OtherTools(record)
        } else if found == self.bytes {
            Comparison::Same
        } else {
            Comparison::Different(format!(
                "it has {}, and its source makes {}",
                record.digest, self.record.digest
            ))
        })
    }
}

/// What a component that is there is to the one that its source makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// Byte for byte the same.
    Same,
    /// Built with other tools, so the bytes say nothing.
    OtherTools(BuildRecord),
    /// Not the same.
    Different(String),
}

impl BuildRecord {
    fn to_toml(&self) -> String {
        format!(
            "# What the component beside this was built with. Written by `jp-policy build`.\n\
             compiler = {:?}\nencoder = {:?}\ndigest = {:?}\n",
            self.compiler, self.encoder, self.digest
        )
    }
}

fn record_path(component: &Path) -> PathBuf {
    component.with_extension("built.toml")
}

/// Makes a module that carries its component type a component.
pub fn componentize(module: &[u8]) -> Result<Vec<u8>, BuildError> {
    let encoder = wit_component::ComponentEncoder::default().validate(true).module(module);
    encoder
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| BuildError::Encode(format!("{error:#}")))
}

/// The names of a component's imports, in order.
pub fn imports(component: &[u8]) -> Vec<String> {
    let mut depth = 0;
    let mut names = Vec::new();
    for payload in wasmparser::Parser::new(0).parse_all(component).map_while(Result::ok) {
        match payload {
            wasmparser::Payload::ModuleSection { .. }
            | wasmparser::Payload::ComponentSection { .. } => depth += 1,
            wasmparser::Payload::End(_) => depth -= 1,
            wasmparser::Payload::ComponentImportSection(section) if depth == 0 => {
                let imports = section.into_iter().map_while(Result::ok);
                names.extend(imports.map(|import| import.name.name.to_owned()));
            }
            _ => {}
        }
    }
    names
}

fn file(path: &Path, error: io::Error) -> BuildError {
    BuildError::File { path: path.display().to_string(), error }
}
