//! What is said of a component that can't be a policy, and how compiled code is kept.

use std::{fs, path::Path};

use jp_policy::build::componentize;
use jp_policy_core::policy::{Arguments, PolicyFactory as _};
use jp_policy_wasm::{Budget, Component, Engine, LoadError};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

fn engine() -> Engine {
    Engine::new().expect("an engine can be made")
}

/// A component of a world that is written here; its core module is made up by the encoder's tools.
fn component(wit: &str, core: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("test.wit", wit).expect("the WIT parses");
    let world = resolve.select_world(&[package], None).expect("there is one world");
    let mut module = wat::parse_str(core).expect("the module parses");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .expect("it can be embedded");
    componentize(&module).expect("it becomes a component")
}

fn refusal(bytes: &[u8]) -> String {
    match Component::from_bytes(&engine(), "p.wasm", bytes, Budget::default()) {
        Ok(_) => panic!("it loads"),
        Err(error) => error.to_string(),
    }
}

fn load(path: &Path, checksum: Option<&str>) -> Result<Component, LoadError> {
    Component::load(&engine(), path, checksum, Budget::default())
}

const NAME: &str = r#"
    (memory (export "memory") 1)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
    (func (export "jp:plugin/plugin@0.1.0#name") (result i32) i32.const 8)
    (data (i32.const 8) "\10\00\00\00\04\00\00\00mine")
"#;

#[test]
fn what_is_no_component_is_called_by_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.wasm");
    let said = |path: &Path| {
        let error = load(path, None).err().expect("it does not load").to_string();
        error.replace(&folder.path().display().to_string(), "DIR")
    };
    assert_eq!(
        said(&path),
        "failed to read policy `DIR/p.wasm`: No such file or directory (os error 2)"
    );
    assert_eq!(
        said(folder.path()),
        "`DIR` is no policy: it is a folder, expected a WebAssembly component"
    );
    for (bytes, what) in [
        (&b""[..], "an empty file"),
        (b"hello\n", "a text file"),
        (b"\x7fELF\xff\xfe", "not WebAssembly"),
        (
            b"\0asm\x01\0\0\0",
            "a core WebAssembly module (make it a component: `wasm-tools component new`)",
        ),
    ] {
        fs::write(&path, bytes).expect("it can be written");
        assert_eq!(
            said(&path),
            format!("`DIR/p.wasm` is no policy: it is {what}, expected a WebAssembly component")
        );
    }
}

#[test]
fn no_failure_is_remembered() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.wasm");
    let engine = Engine::with_cache(&folder.path().join("cache")).expect("an engine");
    fs::write(&path, "text").expect("it can be written");
    assert!(Component::load(&engine, &path, None, Budget::default()).is_err());
    fs::write(&path, jp_policy_wasm::DEFAULT).expect("it can be written");
    assert!(Component::load(&engine, &path, None, Budget::default()).is_ok());
}

#[test]
fn a_truncated_component_does_not_compile() {
    let default = jp_policy_wasm::DEFAULT;
    for length in [9, 100, default.len() / 2, default.len() - 1] {
        let said = refusal(&default[..length]);
        assert!(said.starts_with("policy `p.wasm` can't be compiled: "), "{said}");
    }
}

#[test]
fn wasi_is_refused_with_the_cure_of_the_toolchain() {
    let wit = "
        package jp:plugin@0.1.0;
        interface plugin { name: func() -> string; }
        world w { import wasi:cli/environment@0.2.6; export plugin; }
        package wasi:cli@0.2.6 { interface environment { get: func() -> u32; } }
    ";
    let core = format!(
        r#"(module (import "wasi:cli/environment@0.2.6" "get" (func (result i32))) {NAME}
        (@custom "made-by" "rustc"))"#
    );
    insta::assert_snapshot!(refusal(&component(wit, &core)), @r"
    policy `p.wasm` does not fit the host
      it imports what the host does not have:
        wasi:cli/environment@0.2.6
      it does not export what the host needs:
        jp:plugin/release-policy@0.1.0

    hint: a policy has no file, network, clock, environment or random number, so WASI is not there

    hint: Rust: build for wasm32-unknown-unknown instead of a WASI target; `jp-policy build` does

    hint: a release policy exports the interfaces of `wit/jp-plugin-0.1.0`, world `release-policy-plugin`
    ");
}

#[test]
fn another_version_is_refused_with_both_named() {
    let wit = "
        package jp:plugin@0.9.0;
        interface plugin { name: func() -> string; }
        world w { export plugin; }
    ";
    let core = format!("(module {})", NAME.replace("0.1.0", "0.9.0"));
    insta::assert_snapshot!(refusal(&component(wit, &core)), @r"
    policy `p.wasm` does not fit the host
      it was built for jp:plugin 0.9.0; this host has 0.1.0
      it does not export what the host needs:
        jp:plugin/plugin@0.1.0
        jp:plugin/release-policy@0.1.0

    hint: if you use this policy, get one that was built for this host, or update the host; if you wrote it, build it against this host's SDK
    ");
}

#[test]
fn another_signature_is_shown() {
    let wit = "
        package jp:plugin@0.1.0;
        interface plugin { name: func() -> string; }
        interface release-policy {
            enum view { front, full }
            configure: func(keys: list<string>) -> view;
        }
        world w { export plugin; export release-policy; }
    ";
    let core = format!(
        r#"(module {NAME}
            (func (export "jp:plugin/release-policy@0.1.0#configure") (param i32 i32) (result i32) i32.const 0))"#
    );
    insta::assert_snapshot!(refusal(&component(wit, &core)), @r"
    policy `p.wasm` does not fit the host
      it does not export what the host needs:
        jp:plugin/release-policy@0.1.0#release
      its functions have other signatures:
        jp:plugin/release-policy@0.1.0#configure: func(keys: list<string>) -> enum { front, full }
    ");
}

#[test]
fn another_world_is_told_what_a_policy_is() {
    let wit = "package a:b; world w { export run: func(); }";
    let core = r#"(module (func (export "run")))"#;
    insta::assert_snapshot!(refusal(&component(wit, core)), @r"
    policy `p.wasm` does not fit the host
      it does not export what the host needs:
        jp:plugin/plugin@0.1.0
        jp:plugin/release-policy@0.1.0

    hint: a release policy exports the interfaces of `wit/jp-plugin-0.1.0`, world `release-policy-plugin`
    ");
}

#[test]
fn a_pinned_policy_is_that_one_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.wasm");
    fs::write(&path, jp_policy_wasm::DEFAULT).expect("it can be written");
    let zeros = format!("sha256:{}", "0".repeat(64));
    let error = load(&path, Some(&zeros)).err().expect("another digest");
    let LoadError::Checksum { found, expected, .. } = &error else { panic!("{error}") };
    assert_eq!(*expected, zeros);
    assert!(load(&path, Some(&found.to_uppercase().replace("SHA256", "sha256"))).is_ok());
}

type Spoil = fn(&[u8]) -> Vec<u8>;

/// An entry that can't be used is a miss: the policy is compiled again, and nobody is told.
#[test]
fn a_spoilt_cache_is_a_miss() {
    let folder = tempfile::tempdir().expect("a folder");
    let load = || {
        let engine = Engine::with_cache(folder.path()).expect("an engine");
        Component::embedded(&engine).map(|_| ())
    };
    let entries = || {
        let mut files = Vec::new();
        let mut folders = vec![folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("it can be read") {
                let path = entry.expect("an entry").path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    };
    load().expect("it compiles");
    assert!(!entries().is_empty(), "compiled code is kept");
    load().expect("it is loaded");
    let spoilt: [Spoil; 4] = [
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |_| Vec::new(),
        |_| b"something else".to_vec(),
        |bytes| bytes.iter().map(|byte| byte ^ 0x55).collect(),
    ];
    for spoil in spoilt {
        for path in entries() {
            let bytes = fs::read(&path).expect("it can be read");
            fs::write(&path, spoil(&bytes)).expect("it can be written");
        }
        load().expect("a spoilt entry is a miss");
    }
}

/// Case 118: a policy that is replaced on disk changes nothing for a batch that has begun, and counts from the next start.
#[test]
fn a_policy_that_is_replaced_on_disk_counts_from_the_next_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.wasm");
    fs::write(&path, jp_policy_wasm::DEFAULT).expect("it can be written");
    let loaded = load(&path, None).expect("it loads");
    let settings = jp_policy_guest::Settings { tools: vec![], keys: vec![], options: vec![] };
    fs::write(&path, "something else").expect("it can be written");
    assert!(
        loaded.instantiate(&settings, Arguments::default()).is_ok(),
        "what was loaded stays what it was"
    );
    assert!(load(&path, None).is_err(), "and the next load takes what is there now");
}
