//! Rust: runs cargo once for all crates of a workspace, and makes components of the modules.

mod metadata;
mod toolchain;

use self::{
    metadata::{Metadata, Package},
    toolchain::{TARGET, Toolchain},
};
use super::{Artifact, BuildError, Project, componentize, encode::ENCODER, io};

/// Crates of one workspace.
struct Workspace {
    metadata: Metadata,
    packages: Vec<Package>,
}

/// Builds crates, in their order.
pub(super) fn build(projects: &[&Project], quiet: bool) -> Result<Vec<Artifact>, BuildError> {
    if projects.is_empty() {
        return Ok(Vec::new());
    }
    let toolchain = Toolchain::find()?;
    let mut workspaces: Vec<Workspace> = Vec::new();
    // For each project, the index of its workspace and of its package there.
    let mut places = Vec::new();
    for project in projects {
        let manifest = project.folder.join(project.language.marker_file());
        let manifest =
            manifest.canonicalize().map_err(|error| BuildError::file(&manifest, error))?;
        let known = workspaces.iter().position(|it| it.metadata.describes(&manifest));
        let place = match known {
            Some(place) => place,
            None => {
                let metadata = toolchain.metadata(&manifest)?;
                let metadata = serde_json::from_slice(&metadata).map_err(|error| {
                    not_a_crate(
                        project,
                        format!("cargo's description of it can't be read: {error}"),
                    )
                })?;
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
    for Workspace { metadata, packages } in &workspaces {
        toolchain.build(metadata, packages, quiet)?;
    }
    projects
        .iter()
        .zip(places)
        .map(|(project, (workspace, package))| {
            let workspace = &workspaces[workspace];
            artifact(project, &toolchain, &workspace.metadata, &workspace.packages[package])
        })
        .collect()
}

/// The component of a package that cargo has built.
fn artifact(
    project: &Project,
    toolchain: &Toolchain,
    metadata: &Metadata,
    package: &Package,
) -> Result<Artifact, BuildError> {
    let folder = metadata.target_directory.join(TARGET).join("release");
    let module = io::read(&folder.join(format!("{}.wasm", package.lib)))?;
    let built = project.artifact(componentize(&module)?, toolchain.compiler(), ENCODER);
    let is_alone = package.manifest.parent() == Some(&metadata.workspace_root);
    Ok(Artifact {
        path: if is_alone { project.inside() } else { project.beside() },
        sources: metadata.sources(&package.id),
        ..built
    })
}

fn not_a_crate(project: &Project, why: impl Into<String>) -> BuildError {
    BuildError::NotAPolicy { path: project.folder.display().to_string(), why: why.into() }
}
