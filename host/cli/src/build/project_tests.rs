use std::fs;

use super::*;

fn refusal(folder: &Path) -> String {
    let error = Project::open(folder).expect_err("it is no policy").to_string();
    error.replace(&folder.display().to_string(), "DIR")
}

#[test]
fn a_folder_is_known_by_its_file() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("mine");
    assert_eq!(refusal(&folder), "failed to access `DIR`: No such file or directory (os error 2)");
    fs::create_dir(&folder).expect("it can be made");
    assert_eq!(
        refusal(&folder),
        "`DIR` is no policy: it has none of `Cargo.toml`, `policy.js`, `policy.py`, `policy.c`\n\n\
         hint: `jp-policy new NAME` writes a policy to start from"
    );
    // The last first: whichever is asked earlier wins.
    for language in Language::ALL.into_iter().rev() {
        let file = folder.join(language.marker_file());
        fs::write(&file, "").expect("it can be written");
        let project = Project::open(&folder).expect("it is a policy");
        assert_eq!((project.name.as_str(), project.language), ("mine", language));
    }
    let file = folder.join("policy.c");
    assert_eq!(
        refusal(&file),
        "`DIR` is no policy: it is a file, expected the folder of the source"
    );
}

#[test]
fn paths_are_written_as_the_folder_was() {
    let paths = |folder: &str| {
        let folder = PathBuf::from(folder);
        let project = Project { folder, name: "mine".to_owned(), language: Language::C };
        (project.inside().display().to_string(), project.beside().display().to_string())
    };
    assert_eq!(paths("a/mine"), ("a/mine/mine.wasm".into(), "a/mine.wasm".into()));
    assert_eq!(paths("mine"), ("mine/mine.wasm".into(), "mine.wasm".into()));
    assert_eq!(paths("."), ("mine.wasm".into(), "./../mine.wasm".into()));
}
