//! Rust: finds a toolchain that builds for WebAssembly, runs cargo once for all crates of a workspace, and makes the modules
//! components.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;
use serde_json::Value as Json;

use super::{
    BuildError, Built, Language, Missing, Project, componentize, encode::ENCODER,
    record::BuildRecord, tools::on_path,
};

const TARGET: &str = "wasm32-unknown-unknown";

/// Bytes of the guest's own stack: the default of 1 MiB alone would be most of a policy's memory.
const STACK: &str = "-Clink-arg=-zstack-size=65536";

/// A toolchain that builds for wasm.
#[derive(Debug, Clone)]
struct Toolchain {
    /// `rustc 1.96.0 (ac68faa20 2026-05-25) ...`
    compiler: String,
    cargo: PathBuf,
    rustc: PathBuf,
    /// Where the standard library's source is; none: the target's library is installed.
    std_source: Option<PathBuf>,
}

/// Crates of one workspace.
struct Workspace {
    metadata: Metadata,
    packages: Vec<Package>,
}

/// Builds crates, in their order.
pub(super) fn build(projects: &[&Project], quiet: bool) -> Result<Vec<Built>, BuildError> {
    let toolchain = Toolchain::find()?;
    let mut workspaces: Vec<Workspace> = Vec::new();
    // Of each project its workspace and its place there.
    let mut places = Vec::new();
    for project in projects {
        let manifest = project.folder.join(Language::Rust.file());
        let manifest =
            manifest.canonicalize().map_err(|error| BuildError::file(&manifest, error))?;
        let known = workspaces.iter().position(|it| it.metadata.describes(&manifest));
        let place = match known {
            Some(place) => place,
            None => {
                let metadata = toolchain.metadata(project, &manifest)?;
                workspaces.push(Workspace { metadata, packages: Vec::new() });
                workspaces.len() - 1
            }
        };
        let workspace = &mut workspaces[place];
        let package = workspace.metadata.package(&manifest);
        let package =
            package.ok_or_else(|| not_a_crate(project, "it has no library of type `cdylib`"))?;
        places.push((place, workspace.packages.len()));
        workspace.packages.push(package);
    }
    for workspace in &workspaces {
        toolchain.build(workspace, quiet)?;
    }
    projects
        .iter()
        .zip(places)
        .map(|(project, (workspace, package))| {
            let workspace = &workspaces[workspace];
            toolchain.built(project, &workspace.metadata, &workspace.packages[package])
        })
        .collect()
}

fn not_a_crate(project: &Project, why: &str) -> BuildError {
    BuildError::NotAPolicy { path: project.folder.display().to_string(), why: why.to_owned() }
}

/// What is missing where nothing builds for wasm: the target where Rust comes from rustup, else what Debian has, else rustup.
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
    /// The first that is there: rustup's with the target, then Debian's with the source of the standard library.
    fn find() -> Result<Self, BuildError> {
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
        let there = |name| on_path(name).is_some();
        Err(BuildError::Missing(missing(there("rustup"), there("apt-get"))))
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

    /// Builds packages of one workspace together, so that what they have in common is built once. Cargo's messages go to standard
    /// error.
    ///
    /// The bytes depend on the source, the compiler and the encoder, not on the folders of this machine.
    fn build(&self, workspace: &Workspace, quiet: bool) -> Result<(), BuildError> {
        let Workspace { metadata, packages } = workspace;
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
        let program = format!("{} build", self.cargo.display());
        let status =
            cargo.status().map_err(|error| BuildError::Run { program: program.clone(), error })?;
        if status.success() {
            Ok(())
        } else {
            Err(BuildError::Failed { program, status, said: String::new() })
        }
    }

    /// The component of a package that cargo has built.
    fn built(
        &self,
        project: &Project,
        metadata: &Metadata,
        package: &Package,
    ) -> Result<Built, BuildError> {
        let folder = metadata.target_directory.join(TARGET).join("release");
        let module = folder.join(format!("{}.wasm", package.lib));
        let module = fs::read(&module).map_err(|error| BuildError::file(&module, error))?;
        let bytes = componentize(&module)?;
        let alone = package.manifest.parent() == Some(&metadata.workspace_root);
        Ok(Built {
            record: BuildRecord::new(&self.compiler, ENCODER, &bytes),
            bytes,
            path: if alone { project.inside() } else { project.beside() },
            language: Language::Rust,
            sources: metadata.sources(&package.id),
        })
    }

    /// Cargo's own separator, so that folders may have blanks.
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

    /// Cargo's description of the workspace that a crate belongs to.
    fn metadata(&self, project: &Project, manifest: &Path) -> Result<Metadata, BuildError> {
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
        if !output.status.success() {
            let (status, said) = (output.status, String::new());
            return Err(BuildError::Failed { program, status, said });
        }
        serde_json::from_slice(&output.stdout).map_err(|error| {
            not_a_crate(project, &format!("cargo's description of it can't be read: {error}"))
        })
    }
}

/// What of cargo's metadata is needed.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
    target_directory: PathBuf,
    workspace_root: PathBuf,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Debug, Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct MetadataPackage {
    id: String,
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
    id: String,
    manifest: PathBuf,
    lib: String,
}

impl Metadata {
    fn describes(&self, manifest: &Path) -> bool {
        self.packages.iter().any(|package| package.manifest_path == manifest)
    }

    fn package(&self, manifest: &Path) -> Option<Package> {
        let package = self.packages.iter().find(|package| package.manifest_path == manifest)?;
        let lib = package
            .targets
            .iter()
            .find(|target| target.crate_types.iter().any(|kind| kind == "cdylib"))?;
        Some(Package {
            id: package.id.clone(),
            manifest: manifest.to_owned(),
            lib: lib.name.replace('-', "_"),
        })
    }

    /// The folders of a package and of all that it is built from, as far as they are folders here.
    fn sources(&self, id: &str) -> Vec<PathBuf> {
        let mut found = vec![id];
        let mut next = 0;
        while let Some(id) = found.get(next) {
            let node = self.resolve.nodes.iter().find(|node| node.id == *id);
            for dependency in node.iter().flat_map(|node| &node.deps) {
                let used = dependency.dep_kinds.iter().any(|it| it.kind.as_deref() != Some("dev"));
                if used && !found.contains(&dependency.pkg.as_str()) {
                    found.push(&dependency.pkg);
                }
            }
            next += 1;
        }
        let packages = self
            .packages
            .iter()
            .filter(|package| package.source.is_none() && found.contains(&package.id.as_str()));
        packages.filter_map(|it| it.manifest_path.parent().map(Path::to_owned)).collect()
    }

    /// Packages that are folders here, with their names.
    fn local(&self) -> impl Iterator<Item = (&Path, &str)> {
        let local = self.packages.iter().filter(|package| package.source.is_none());
        local.filter_map(|package| Some((package.manifest_path.parent()?, package.name.as_str())))
    }
}

#[cfg(test)]
#[path = "rust_tests.rs"]
mod tests;
