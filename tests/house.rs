//! The house holds: a crate uses only those under it, knows nothing that its floor must not know, and its files form no circle.

mod house {
    pub(super) mod modules;
    pub(super) mod uses;
}

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

/// The crates of the host, each above all before it, with what it must never depend on, not even by others.
const FLOORS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "tokio",
            "wasmtime",
            "rmcp",
            "hyper",
            "clap",
            "tracing",
            "toml",
            "toml_parser",
            "jsonc-parser",
            "saphyr-parser",
            "schemars",
        ],
    ),
    ("config", &["tokio", "wasmtime", "rmcp", "hyper", "clap"]),
    ("wasm", &["tokio", "rmcp", "hyper", "clap", "jp-policy-config"]),
    ("report", &["tokio", "wasmtime", "rmcp", "hyper", "clap"]),
    ("runtime", &["wasmtime", "rmcp", "hyper", "clap", "jp-policy-report"]),
    ("mcp", &["wasmtime", "clap", "jp-policy-report"]),
    ("harness", &["tokio", "rmcp", "hyper", "clap"]),
    ("cli", &[]),
];

/// Dependencies that few crates have and that nothing large is built from: they may be built twice.
const LIGHT: &[&str] = &["chrono", "schemars", "uuid"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The package of a floor.
fn package(floor: &str) -> String {
    if floor == "cli" { "jp-policy".to_owned() } else { format!("jp-policy-{floor}") }
}

/// What `cargo tree` says, a line a dependency.
fn tree(arguments: &[&str]) -> String {
    let mut tree = Command::new(env!("CARGO"));
    tree.current_dir(root()).args(["tree", "--locked", "--prefix", "none"]).args(arguments);
    let output = tree.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names")
}

#[test]
fn a_crate_uses_only_those_under_it() {
    let mut wrong = Vec::new();
    for (place, (floor, _)) in FLOORS.iter().enumerate() {
        let path = root().join("host").join(floor).join("Cargo.toml");
        let manifest = fs::read_to_string(&path).expect("each floor has a manifest");
        let manifest: toml::Table = manifest.parse().expect("it is TOML");
        let dependencies = manifest["dependencies"].as_table().expect("a table");
        for (above, _) in &FLOORS[place..] {
            let uses = dependencies.contains_key(&package(above));
            wrong.extend(uses.then(|| format!("{floor} uses {above}")));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_crate_depends_on_nothing_that_its_floor_must_not_know() {
    let mut wrong = Vec::new();
    for (floor, never) in FLOORS {
        let text = tree(&["--edges", "normal", "--format", "{p}", "--package", &package(floor)]);
        let known: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(known.contains(&"jp-policy-guest"), "{floor}: the tree is not that of the crate");
        let found = never.iter().filter(|name| known.contains(name));
        wrong.extend(found.map(|name| format!("{floor} depends on {name}")));
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn no_files_of_a_crate_form_a_circle() {
    let mut circles = Vec::new();
    let crates = FLOORS.iter().map(|(floor, _)| root().join("host").join(floor));
    for folder in crates.chain([root().join("policy-guest")]) {
        for circle in house::modules::circles(&folder.join("src")) {
            circles.push(format!("{}: {circle}", folder.display()));
        }
    }
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

/// What finds the circles does find one, by a `use`, by a path, and by a name that somebody re-exports.
#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\npub use d::deep::Deep;\n");
    write("a.rs", "use super::b::{B, other::Thing};\npub struct A;\n");
    write("b.rs", "//! use crate::a::A; is not meant.\npub struct B;\nfn f(_: crate::c::C) {}\n");
    write("c.rs", "use crate::Deep;\npub struct C;\n");
    write("d/mod.rs", "pub mod deep;\n");
    write("d/deep.rs", "use crate::a;\npub struct Deep;\n");
    assert_eq!(house::modules::circles(folder.path()), ["a -> b -> c -> d::deep -> a"]);
    write("d/deep.rs", "pub struct Deep;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n");
    assert_eq!(house::modules::circles(folder.path()), [""; 0]);
}

/// A crate alone is built with what the workspace has built: no dependency has other features there, least of all wasmtime.
#[test]
fn a_crate_alone_has_the_features_of_the_workspace() {
    let features = |which: &[&str]| -> BTreeSet<String> {
        let all = ["--edges", "normal,build,dev", "--no-dedupe", "--format", "{p} [{f}]"];
        let text = tree(&[&all, which].concat());
        text.lines().filter(|line| !line.contains(" (/")).map(str::to_owned).collect()
    };
    let workspace = features(&["--workspace"]);
    // What is small and no other dependency needs may differ.
    let light = |line: &&String| LIGHT.iter().any(|name| line.starts_with(&format!("{name} v")));
    for (floor, _) in FLOORS {
        let alone = features(&["--package", &package(floor)]);
        let other: Vec<&String> =
            alone.difference(&workspace).filter(|line| !light(line)).collect();
        assert!(
            other.is_empty(),
            "{floor}: tests/features has to turn on what the workspace does: {other:#?}"
        );
    }
}
