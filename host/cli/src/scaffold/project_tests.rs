use super::*;

fn project(language: Language, origin: Origin) -> NewProject {
    NewProject { name: "my-policy".parse().expect("it is a name"), language, origin }
}

fn projects() -> impl Iterator<Item = NewProject> {
    let origins = Origin::ALL.into_iter().chain([Origin::AT_ONCE]);
    origins.flat_map(|origin| origin.languages().map(move |language| project(language, origin)))
}

fn text(files: &[File], path: &str) -> String {
    let file = files.iter().find(|file| file.path.as_os_str() == path);
    let file = file.unwrap_or_else(|| panic!("there is no `{path}`"));
    String::from_utf8(file.contents.clone()).expect("it is text")
}

#[test]
fn a_project_is_complete() {
    for project in projects() {
        let files = project.files();
        for path in [project.language.marker_file(), "README.md", ".gitignore"] {
            assert!(!text(&files, path).is_empty(), "{project:?} {path}");
        }
        let test = match project.language {
            Language::Rust => "src/tests.rs",
            Language::JavaScript => "policy.test.js",
            Language::Python => "test_policy.py",
            Language::C => "test_policy.c",
        };
        assert!(text(&files, test).len() > 500, "{project:?}");
        assert!(files.iter().any(|file| file.path.starts_with("scenarios")), "{project:?}");
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
    for project in projects() {
        for file in project.files() {
            let Ok(text) = String::from_utf8(file.contents) else { continue };
            let path = file.path.display();
            for left in LEFT {
                assert!(!text.contains(left), "{project:?} {path}: {left}");
            }
            assert!(!text.contains("policies/README"), "{project:?} {path}");
        }
    }
}

#[test]
fn the_readme_names_files_that_are_there() {
    for project in projects() {
        let files = project.files();
        let readme = text(&files, "README.md");
        let rows = readme.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let rows = rows.map(|(path, _)| path).filter(|path| !path.contains(' '));
        let named = rows.filter(|path| path.contains(['.', '/'])).chain(["scenarios"]);
        for path in named {
            assert!(files.iter().any(|file| file.path.starts_with(path)), "{project:?} {path}");
        }
        let scenario = readme.split("scenarios/").nth(1).and_then(|rest| rest.split(' ').next());
        let scenario = format!("scenarios/{}", scenario.expect("one is named"));
        assert!(!text(&files, &scenario).is_empty());
    }
}

#[test]
fn the_source_is_about_thirty_lines() {
    for language in Language::ALL {
        let files = project(language, Origin::AT_ONCE).files();
        let path = if language == Language::Rust { "src/lib.rs" } else { language.marker_file() };
        let lines = text(&files, path).lines().filter(|line| !line.trim().is_empty()).count();
        assert!((20..=36).contains(&lines), "{language}: {lines} lines");
    }
}

#[test]
fn the_copy_of_the_sdk_is_built_on_what_the_workspace_is() {
    let workspace = include_str!("../../../../Cargo.toml");
    let wit_bindgen = format!("wit-bindgen = {{ version = \"{}\",", template::WIT_BINDGEN);
    assert!(workspace.contains(&wit_bindgen), "{wit_bindgen}");
    assert!(
        text(&project(Language::Rust, Origin::AT_ONCE).files(), "sdk/jp-policy-guest/Cargo.toml")
            .contains(&wit_bindgen)
    );
}
