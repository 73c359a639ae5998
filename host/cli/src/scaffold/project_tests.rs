use super::*;

fn start(language: Language, origin: Option<Origin>) -> Start {
    Start { name: "my-policy".parse().expect("it is a name"), language, origin }
}

fn starts() -> impl Iterator<Item = Start> {
    Language::ALL.into_iter().flat_map(|language| {
        let origins = Origin::ALL.into_iter().filter(move |origin| origin.is_in(language));
        origins.map(Some).chain([None]).map(move |origin| start(language, origin))
    })
}

fn text(files: &[File], path: &str) -> String {
    let file = files.iter().find(|file| file.path.as_os_str() == path);
    let file = file.unwrap_or_else(|| panic!("there is no `{path}`"));
    String::from_utf8(file.contents.clone()).expect("it is text")
}

#[test]
fn a_project_is_complete() {
    for start in starts() {
        let files = files(&start);
        for path in [start.language.file(), "README.md", ".gitignore"] {
            assert!(!text(&files, path).is_empty(), "{start:?} {path}");
        }
        let test = match start.language {
            Language::Rust => "src/tests.rs",
            Language::JavaScript => "policy.test.js",
            Language::Python => "test_policy.py",
            Language::C => "test_policy.c",
        };
        assert!(text(&files, test).len() > 500, "{start:?}");
        assert!(files.iter().any(|file| file.path.starts_with("scenarios")), "{start:?}");
    }
}

/// What only makes sense in the templates, or in the policies' own folders.
const LEFT: [&str; 14] = [
    "{{name}}",
    "{{version}}",
    "{{about}}",
    "{{test}}",
    "{{scenario}}",
    "{{files}}",
    "{{notes}}",
    "{{wit-bindgen}}",
    "{{componentize-",
    "{{ziglang}}",
    "jp_policy_testing",
    "jp-policy-testing",
    "workspace = true",
    "mod kit",
];

#[test]
fn nothing_is_left_to_fill_in_and_nothing_needs_what_is_not_there() {
    for start in starts() {
        for file in files(&start) {
            let Ok(text) = String::from_utf8(file.contents) else { continue };
            let path = file.path.display();
            for left in LEFT {
                assert!(!text.contains(left), "{start:?} {path}: {left}");
            }
            assert!(!text.contains("policies/README"), "{start:?} {path}");
        }
    }
}

#[test]
fn the_readme_names_files_that_are_there() {
    for start in starts() {
        let files = files(&start);
        let readme = text(&files, "README.md");
        let rows = readme.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let rows = rows.map(|(path, _)| path).filter(|path| !path.contains(' '));
        let named = rows.filter(|path| path.contains(['.', '/'])).chain(["scenarios"]);
        for path in named {
            assert!(files.iter().any(|file| file.path.starts_with(path)), "{start:?} {path}");
        }
        let scenario = readme.split("scenarios/").nth(1).and_then(|rest| rest.split(' ').next());
        let scenario = format!("scenarios/{}", scenario.expect("one is named"));
        assert!(!text(&files, &scenario).is_empty());
    }
}

#[test]
fn the_source_is_about_thirty_lines() {
    for language in Language::ALL {
        let files = files(&start(language, None));
        let path = if language == Language::Rust { "src/lib.rs" } else { language.file() };
        let lines = text(&files, path).lines().filter(|line| !line.trim().is_empty()).count();
        assert!((20..=36).contains(&lines), "{language}: {lines} lines");
    }
}

#[test]
fn the_copy_of_the_sdk_is_built_on_what_the_workspace_is() {
    let workspace = include_str!("../../../../Cargo.toml");
    let wit_bindgen = format!("wit-bindgen = {{ version = \"{}\",", sdk::WIT_BINDGEN);
    assert!(workspace.contains(&wit_bindgen), "{wit_bindgen}");
    assert!(
        text(&files(&start(Language::Rust, None)), "sdk/jp-policy-guest/Cargo.toml")
            .contains(&wit_bindgen)
    );
}
