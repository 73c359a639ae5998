use super::*;
use crate::DEFAULT;

/// A policy whose bytes change with no compiler.
const FORGETS: &[u8] = include_bytes!("../../../tests/hostile/forgets.wasm");

fn show(anatomy: &Anatomy) -> String {
    let mut out = String::new();
    for part in &anatomy.parts {
        let kind = if part.component { "component" } else { "module" };
        let sections = part.sections.iter().map(|it| format!("{} {}", it.name, it.bytes));
        out += &format!(
            "{}{kind} {:?} {}: {}\n",
            "  ".repeat(part.depth),
            part.name,
            part.bytes,
            sections.collect::<Vec<_>>().join(", ")
        );
    }
    out + &format!(
        "more {}\nimports {:?}\nexports {:?}\ntools {:?}\nbroken {:?}\n",
        anatomy.more_parts, anatomy.imports, anatomy.exports, anatomy.tools, anatomy.broken
    )
}

#[test]
fn a_policy_with_all_that_is_nested_in_it() {
    insta::assert_snapshot!(show(&Anatomy::read(FORGETS)), @r#"
    component None 5194: type 402, core instance 4, alias 260, canonical function 35, instance 409, export 64, custom component-name 693, custom producers 47
      module Some("main") 1512: type 56, function 22, memory 3, global 38, export 243, code 532, data 14, custom name 528, custom producers 47
      component Some("jp:plugin/plugin@0.1.0-shim-component") 59: type 10, import 21, export 12
      component Some("jp:plugin/release-policy@0.1.0-shim-component") 1654: type 844, import 434, export 224
    more 0
    imports []
    exports ["jp:plugin/plugin@0.1.0", "jp:plugin/release-policy@0.1.0"]
    tools ["wit-component 0.254.2"]
    broken None
    "#);
}

#[test]
fn the_sections_of_the_default_policy_make_up_nearly_all_of_it() {
    let anatomy = Anatomy::read(DEFAULT);
    let sections = anatomy.parts.iter().flat_map(|part| &part.sections);
    let bytes: u64 = sections.map(|section| section.bytes).sum();
    let length = DEFAULT.len() as u64;
    assert!(bytes < length && bytes > length * 97 / 100, "{bytes} of {length}");
    let names = anatomy.parts.iter().map(|part| part.name.as_deref());
    assert_eq!(
        names.take(4).collect::<Vec<_>>(),
        [None, Some("main"), Some("wit-component-shim-module"), Some("wit-component-fixup")]
    );
    assert_eq!(anatomy.imports, ["jp:host/log@0.1.0"]);
    assert_eq!((anatomy.versions(), anatomy.broken), (vec!["0.1.0".to_owned()], None));
}

#[test]
fn a_core_module_is_read_too() {
    let text = r#"(module $tiny
        (import "wasi_snapshot_preview1" "fd_write" (func))
        (import "wasi_snapshot_preview1" "fd_read" (func))
        (memory 1) (data (i32.const 0) "delay") (func (export "run")))"#;
    let anatomy = Anatomy::read(&wat::parse_str(text).expect("it parses"));
    insta::assert_snapshot!(show(&anatomy), @r#"
    module Some("tiny") 135: type 4, import 68, function 2, memory 3, export 7, code 4, data 11, custom name 12
    more 0
    imports ["wasi_snapshot_preview1"]
    exports ["run"]
    tools []
    broken None
    "#);
}

#[test]
fn what_ends_too_early_is_read_up_to_there() {
    let anatomy = Anatomy::read(&FORGETS[..300]);
    insta::assert_snapshot!(show(&anatomy), @r#"
    component None 300: 
      module None 1512: type 56, function 22, memory 3, global 38
    more 0
    imports []
    exports []
    tools []
    broken Some("unexpected end-of-file (at byte 149)")
    "#);
    for bytes in [&b""[..], b"\0asm", b"some text", b"\0asm\x0d\0\x01\0\xff\xff\xff\xff"] {
        assert!(Anatomy::read(bytes).broken.is_some(), "{bytes:?}");
    }
}

#[test]
fn deep_nesting_is_counted_and_not_kept() {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
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
        bytes = [b"\0asm\x0d\0\x01\0", &section[..], &bytes[..]].concat();
    }
    let anatomy = Anatomy::read(&bytes);
    assert_eq!((anatomy.parts.len(), anatomy.more_parts, anatomy.broken), (PARTS, 1_801, None));
    assert_eq!(anatomy.parts[0].bytes, bytes.len() as u64);
    assert_eq!(anatomy.parts[150].depth, 150);
}

#[test]
fn a_name_that_could_drive_a_terminal_is_cleaned() {
    let module = b"\0asm\x01\0\0\0\0\x06\x05\x1b[31m";
    let sections = &Anatomy::read(module).parts[0].sections;
    assert_eq!(sections[0].name, "custom \u{fffd}[31m");
}
