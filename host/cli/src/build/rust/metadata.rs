//! What `cargo metadata` says of a workspace: its packages, and what each is built of.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;

/// What `cargo metadata` prints, as far as it is needed.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    packages: Vec<MetadataPackage>,
    pub(super) target_directory: PathBuf,
    pub(super) workspace_root: PathBuf,
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

/// The package of a policy.
pub(super) struct Package {
    /// As cargo takes it for `--package`.
    pub(super) id: String,
    pub(super) manifest: PathBuf,
    /// The name of its library, as in the name of the module's file.
    pub(super) lib: String,
}

impl Metadata {
    /// Whether the crate belongs to this workspace.
    pub(super) fn describes(&self, manifest: &Path) -> bool {
        self.packages.iter().any(|package| package.manifest_path == manifest)
    }

    /// The package of a manifest, if it has a library of type `cdylib`.
    pub(super) fn package(&self, manifest: &Path) -> Option<Package> {
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

    /// The folders of a package and of all local packages that it is built from.
    pub(super) fn sources(&self, id: &str) -> Vec<PathBuf> {
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

    /// The folders and names of all local packages.
    pub(super) fn local(&self) -> impl Iterator<Item = (&Path, &str)> {
        let local = self.packages.iter().filter(|package| package.source.is_none());
        local.filter_map(|package| Some((package.manifest_path.parent()?, package.name.as_str())))
    }
}

#[cfg(test)]
#[path = "metadata_tests.rs"]
mod tests;
