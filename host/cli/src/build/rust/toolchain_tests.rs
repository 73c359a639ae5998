use super::*;

#[test]
fn one_command_installs_what_is_missing() {
    let said = |rustup, debian| BuildError::Missing(missing(rustup, debian)).to_string();
    insta::assert_snapshot!(said(true, true), @r"
    no Rust toolchain here builds for wasm32-unknown-unknown

    hint: rustup target add wasm32-unknown-unknown
    ");
    insta::assert_snapshot!(said(false, true), @r"
    no Rust toolchain here builds for wasm32-unknown-unknown

    hint: apt-get install --no-install-recommends rustc-web cargo-web rust-web-src rust-web-llvm lld-22
    ");
    insta::assert_snapshot!(said(false, false), @r"
    no Rust toolchain here builds for wasm32-unknown-unknown

    hint: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- --target wasm32-unknown-unknown
    ");
}
