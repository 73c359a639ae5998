//! `src/bindings.rs` is generated from `wit/` and checked in, so that authors compile two crates and no generator.
//!
//! `UPDATE_BINDINGS=1 cargo test -p jp-policy-guest --test bindings` writes it again after a change of the contract.

use std::{fs, path::Path};

use wit_bindgen_core::{Files, WorldGenerator as _, wit_parser::Resolve};

#[test]
fn bindings_come_from_the_contract() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut resolve = Resolve::default();
    let (package, _) =
        resolve.push_path(root.join("wit/jp-plugin-0.1.0")).expect("the contract parses");
    let world = resolve
        .select_world(&[package], Some("explaining-release-policy-plugin"))
        .expect("the world exists");

    let options = wit_bindgen_rust::Opts {
        format: true,
        generate_all: true,
        pub_export_macro: true,
        export_macro_name: Some("export_component".to_owned()),
        default_bindings_module: Some("$crate::bindings".to_owned()),
        runtime_path: Some("jp_policy_guest::rt".to_owned()),
        additional_derive_attributes: vec!["Clone".to_owned(), "PartialEq".to_owned()],
        ..wit_bindgen_rust::Opts::default()
    };
    let mut files = Files::default();
    options.build().generate(&mut resolve, world, &mut files).expect("the world can be bound");
    let (_, generated) = files.iter().next().expect("one file");
    let generated = std::str::from_utf8(generated).expect("Rust is UTF-8");

    let path = root.join("src/bindings.rs");
    if std::env::var_os("UPDATE_BINDINGS").is_some() {
        fs::write(&path, generated).expect("bindings can be written");
    }
    let current = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == generated,
        "src/bindings.rs differs from what wit/ says; run\n  UPDATE_BINDINGS=1 cargo test -p jp-policy-guest --test bindings"
    );
}
