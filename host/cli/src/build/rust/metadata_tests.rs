use super::*;

/// A workspace in which `policy` is built of `sdk`, and tested with `kit`.
const METADATA: &str = r#"{
    "packages": [
        {"id": "p", "name": "policy", "manifest_path": "/w/policy/Cargo.toml", "source": null,
         "targets": [{"name": "a-policy", "crate_types": ["cdylib"]}]},
        {"id": "s", "name": "sdk", "manifest_path": "/w/sdk/Cargo.toml", "source": null, "targets": []},
        {"id": "k", "name": "kit", "manifest_path": "/w/kit/Cargo.toml", "source": null, "targets": []},
        {"id": "r", "name": "of-a-registry", "manifest_path": "/r/Cargo.toml", "source": "registry", "targets": []}
    ],
    "target_directory": "/w/target",
    "workspace_root": "/w",
    "resolve": {"nodes": [
        {"id": "p", "deps": [
            {"pkg": "s", "dep_kinds": [{"kind": null}, {"kind": "dev"}]},
            {"pkg": "k", "dep_kinds": [{"kind": "dev"}]}
        ]},
        {"id": "s", "deps": [{"pkg": "r", "dep_kinds": [{"kind": null}]}]},
        {"id": "k", "deps": [{"pkg": "p", "dep_kinds": [{"kind": null}]}]},
        {"id": "r", "deps": []}
    ]}
}"#;

#[test]
fn what_a_policy_is_built_of_is_found() {
    let metadata: Metadata = serde_json::from_str(METADATA).expect("it is what cargo writes");
    let package = metadata.package(Path::new("/w/policy/Cargo.toml")).expect("it is there");
    assert_eq!(package.lib, "a_policy");
    assert_eq!(metadata.sources(&package.id), ["/w/policy", "/w/sdk"].map(PathBuf::from));
    assert!(metadata.describes(Path::new("/w/sdk/Cargo.toml")));
    assert!(metadata.package(Path::new("/w/sdk/Cargo.toml")).is_none(), "it is no policy");
}
