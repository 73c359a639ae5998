use super::*;

#[test]
fn every_tool_has_a_version() {
    for package in ["componentize-qjs", "componentize-py", "ziglang"] {
        let version = pinned(package);
        assert!(version.split('.').count() == 3 && !version.is_empty(), "{package} {version}");
    }
}

#[test]
fn commands_are_for_the_folder_that_was_named() {
    let command = |folder: &str| pip_install(Path::new(folder), "ziglang");
    let version = pinned("ziglang");
    assert_eq!(
        command("."),
        format!("python3 -m venv .venv && .venv/bin/pip install ziglang=={version}")
    );
    assert_eq!(
        command("my policy"),
        format!(
            "python3 -m venv 'my policy/.venv' && 'my policy/.venv/bin'/pip install ziglang=={version}"
        )
    );
    let command = |folder: &str| npm_install(Path::new(folder), "componentize-qjs");
    let version = pinned("componentize-qjs");
    assert_eq!(
        command("."),
        format!("npm install --save-dev --save-exact componentize-qjs@{version}")
    );
    assert_eq!(
        command("./my policy"),
        format!(
            "npm install --prefix 'my policy' --save-dev --save-exact componentize-qjs@{version}"
        )
    );
}

#[test]
fn a_project_s_own_program_comes_first_and_those_of_folders_above_count() {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    let root = tempfile::tempdir().expect("a folder");
    let root = root.path().canonicalize().expect("it is there");
    let program = |folder: &str| {
        let path = root.join(folder).join(NODE_PROGRAMS).join("sh");
        fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        fs::write(&path, "").expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path
    };
    let project = root.join("policies/mine");
    fs::create_dir_all(&project).expect("it can be made");
    let found = || find(&project, NODE_PROGRAMS, "sh");
    assert_eq!(found(), on_path("sh"));
    let above = program(".");
    assert_eq!(found().and_then(|it| it.canonicalize().ok()), above.canonicalize().ok());
    assert_eq!(found(), Some(above.canonicalize().expect("it is there")));
    let own = program("policies/mine");
    assert_eq!(found(), Some(own));
}
