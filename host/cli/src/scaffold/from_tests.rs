use super::*;

fn name() -> Name {
    "slow-start".parse().expect("it is a name")
}

#[test]
fn a_policy_has_its_new_name_and_its_old_fields() {
    let fields = Fields::new(&name());
    for origin in Origin::ALL {
        let files = origin.source(Language::Rust, &name(), &fields);
        let lib = files.iter().find(|file| file.path.ends_with("lib.rs")).expect("there is one");
        let lib = String::from_utf8_lossy(&lib.contents);
        assert!(lib.contains("const NAME: &'static str = \"slow-start\";"), "{origin:?}");
        for file in origin.scenarios(&name(), &fields) {
            let text = String::from_utf8_lossy(&file.contents).into_owned();
            let old =
                [format!("policy = \"{}\"", origin.name()), format!("{}.wasm", origin.name())];
            assert!(
                !old.iter().any(|old| text.contains(old)),
                "{origin:?} {}",
                file.path.display()
            );
        }
    }
    for language in [Language::JavaScript, Language::Python, Language::C] {
        let files = Origin::Delay.source(language, &name(), &fields);
        let policy = String::from_utf8_lossy(&files[0].contents).into_owned();
        assert!(policy.contains("\"slow-start\"") && policy.contains("\"delay\""), "{language}");
    }
}

#[test]
fn links_that_lead_out_are_text() {
    let text = "see [`delay`](../delay) and [this](#here), [`wit`](../../wit).";
    assert_eq!(unlinked(text), "see `delay` and [this](#here), `wit`.");
    assert_eq!(unlinked("a](../b"), "a](../b");
}
