use super::*;

fn name() -> Name {
    "slow-start".parse().expect("it is a name")
}

#[test]
fn a_policy_has_its_new_name_and_its_old_fields() {
    let fields = Fields::new(&name());
    for origin in Origin::ALL {
        let files = origin.files(Language::Rust, &name(), &fields);
        let lib = files.iter().find(|file| file.path.ends_with("lib.rs")).expect("there is one");
        let lib = String::from_utf8_lossy(&lib.contents);
        assert!(lib.contains("const NAME: &'static str = \"slow-start\";"), "{origin:?}");
        for file in files.iter().filter(|file| file.path.starts_with(SCENARIOS)) {
            let text = String::from_utf8_lossy(&file.contents).into_owned();
            let old = [format!("policy = \"{}\"", origin.name), format!("{}.wasm", origin.name)];
            assert!(
                !old.iter().any(|old| text.contains(old)),
                "{origin:?} {}",
                file.path.display()
            );
        }
    }
    let delay = Origin::ALL[1];
    for language in [Language::JavaScript, Language::Python, Language::C] {
        let files = delay.files(language, &name(), &fields);
        let policy = files.iter().find(|file| file.path.as_os_str() == language.marker_file());
        let policy = String::from_utf8_lossy(&policy.expect("there is one").contents).into_owned();
        assert!(policy.contains("\"slow-start\"") && policy.contains("\"delay\""), "{language}");
    }
}

/// As the help of `new` says.
#[test]
fn all_are_there_in_rust_and_delay_in_every_language() {
    for origin in Origin::ALL {
        let languages: Vec<_> = origin.languages().collect();
        let all = ["delay"].contains(&origin.name);
        assert_eq!(languages, if all { &Language::ALL[..] } else { &[Language::Rust] });
    }
    assert_eq!(Origin::AT_ONCE.languages().count(), Language::ALL.len());
}

#[test]
fn links_that_lead_out_are_text() {
    let text = "see [`delay`](../delay) and [this](#here), [`wit`](../../wit).";
    assert_eq!(unlinked(text), "see `delay` and [this](#here), `wit`.");
    assert_eq!(unlinked("a](../b"), "a](../b");
}
