use super::*;
use crate::DEFAULT;

/// A policy whose bytes change with no compiler.
const FORGETS: &[u8] = include_bytes!("../../../tests/hostile/forgets.wasm");

fn show(metadata: &Metadata) -> String {
    let sections: Vec<_> =
        metadata.sections.iter().map(|(name, bytes)| format!("{name} {bytes}")).collect();
    format!(
        "sections {}\nimports {:?}\nexports {:?}\ntools {:?}\nbroken {:?}\n",
        sections.join(", "),
        metadata.imports,
        metadata.exports,
        metadata.tools,
        metadata.broken
    )
}

fn read(bytes: &[u8]) -> Metadata {
    Metadata::read(bytes).expect("it begins as WebAssembly does")
}

#[test]
fn a_policy_with_all_that_is_nested_in_it() {
    insta::assert_snapshot!(show(&read(FORGETS)), @r#"
    sections type 1312, custom component-name 693, export 543, code 532, custom name 528, import 455, instance 409, alias 260, custom producers 94, global 38, canonical function 35, function 22, data 14, core instance 4, memory 3
    imports []
    exports ["jp:plugin/plugin@0.1.0", "jp:plugin/release-policy@0.1.0"]
    tools ["wit-component 0.254.2"]
    broken None
    "#);
}

#[test]
fn the_sections_of_the_default_policy_make_up_nearly_all_of_it() {
    let metadata = read(DEFAULT);
    let bytes: u64 = metadata.sections.iter().map(|(_, bytes)| bytes).sum();
    let length = DEFAULT.len() as u64;
    assert!(bytes < length && bytes > length * 97 / 100, "{bytes} of {length}");
    assert_eq!(metadata.imports, ["jp:host/log@0.1.0"]);
    assert_eq!((metadata.versions(), metadata.broken), (vec!["0.1.0".to_owned()], None));
}

#[test]
fn a_core_module_is_read_too() {
    let text = r#"(module $tiny
        (import "wasi_snapshot_preview1" "fd_write" (func))
        (import "wasi_snapshot_preview1" "fd_read" (func))
        (memory 1) (data (i32.const 0) "delay") (func (export "run")))"#;
    let metadata = read(&wat::parse_str(text).expect("it parses"));
    insta::assert_snapshot!(show(&metadata), @r#"
    sections import 68, custom name 12, data 11, export 7, code 4, type 4, memory 3, function 2
    imports ["wasi_snapshot_preview1"]
    exports ["run"]
    tools []
    broken None
    "#);
}

#[test]
fn what_ends_too_early_is_read_up_to_there() {
    insta::assert_snapshot!(show(&read(&FORGETS[..300])), @r#"
    sections type 56, global 38, function 22, memory 3
    imports []
    exports []
    tools []
    broken Some("unexpected end-of-file (at byte 149)")
    "#);
    assert!(read(b"\0asm\x0d\0\x01\0\xff\xff\xff\xff").broken.is_some());
    for bytes in [&b""[..], b"\0asm", b"some text"] {
        assert_eq!(Metadata::read(bytes), None, "{bytes:?}");
    }
}

#[test]
fn deep_nesting_is_summed_up() {
    let mut bytes = b"\0asm\x0d\0\x01\0\0\x04\x03abc".to_vec();
    for _ in 0..2_000 {
        // A section of a component that is a component, of the bytes so far.
        let mut length = bytes.len();
        let mut section = vec![4];
        loop {
            let byte = u8::try_from(length & 0x7f).expect("seven bits");
            length >>= 7;
            section.push(if length == 0 { byte } else { byte | 0x80 });
            if length == 0 {
                break;
            }
        }
        bytes = [b"\0asm\x0d\0\x01\0", &section[..], &bytes[..], b"\0\x04\x03abc"].concat();
    }
    let metadata = read(&bytes);
    assert_eq!(
        (metadata.sections, metadata.broken),
        (vec![("custom abc".to_owned(), 8_004)], None)
    );
}

#[test]
fn a_hostile_file_lists_so_many_sections_and_no_more() {
    let custom = |n: u32| {
        let name = format!("{n:04}");
        [&[0, 5, 4], name.as_bytes()].concat()
    };
    let module = [b"\0asm\x01\0\0\0".to_vec(), (0..1_000).flat_map(custom).collect()].concat();
    let sections = read(&module).sections;
    assert_eq!(sections.len(), LISTED + 1);
    assert_eq!(sections[0], ("others".to_owned(), 800 * 5));
}

#[test]
fn a_name_that_could_drive_a_terminal_is_cleaned() {
    let module = b"\0asm\x01\0\0\0\0\x06\x05\x1b[31m";
    assert_eq!(read(module).sections, [("custom \u{fffd}[31m".to_owned(), 6)]);
}
