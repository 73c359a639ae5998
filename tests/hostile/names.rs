//! Names that are made for something else than to be read.

use jp_policy_core::policy::PolicyFactory as _;

use jp_policy_tests::support::{ABC, Life, live, load, quick};

/// The name, and the fault that shows it.
fn shown(policy: &str) -> (String, String) {
    let component = load(policy, quick()).expect("it can be loaded");
    let life = Life::of(&live(&component, ABC, "{}").expect("it serves the batch"));
    assert_eq!(life.starts, "A@0 B@3 C@4");
    let [fault] = life.faults.as_slice() else {
        panic!("{life:?}");
    };
    (component.identity().name.clone(), fault.clone())
}

const TRAP: &str = "trapped: wasm trap: wasm `unreachable` instruction executed";

#[test]
fn a_name_that_could_drive_a_terminal() {
    let clean = "\u{fffd}[31mred\u{fffd}[0m ERROR\u{fffd}";
    assert_eq!(
        shown("name-escapes"),
        (clean.to_owned(), format!("0 s: policy \"{clean}\" {TRAP}"))
    );
}

#[test]
fn a_long_name_is_cut() {
    let cut = format!("{}...", "x".repeat(64));
    assert_eq!(shown("name-long"), (cut.clone(), format!("0 s: policy \"{cut}\" {TRAP}")));
}

/// `policy ""` tells nobody which one it was: the file it came from has to stand in for it.
#[test]
fn a_policy_without_a_name_is_called_by_its_file() {
    let file = "name-empty.wasm";
    assert_eq!(shown("name-empty"), (file.to_owned(), format!("0 s: policy \"{file}\" {TRAP}")));
}
