use std::{collections::BTreeMap, fs};

use super::*;

fn dirs(folder: &Path, variables: &[(&str, &str)]) -> ConfigDirs {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    ConfigDirs::new(folder, &|name| variables.get(name).map(|value| (*value).to_owned()))
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Layer, path from the root, and whether there is a file.
fn listed(dirs: &ConfigDirs, root: &Path) -> Vec<String> {
    let files = dirs.files().into_iter();
    files
        .map(|StandardFile { layer, path, status }| {
            let path = path.strip_prefix(root).unwrap_or(&path).display();
            format!(
                "{} {path} {}",
                layer.name(),
                if status == FileStatus::Read { "yes" } else { "no" }
            )
        })
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_environment_says_where_the_users_folders_are() {
    let folder = Path::new("/nowhere");
    let of = |variables: &[(&str, &str)]| {
        let dirs = dirs(folder, variables);
        let shown = |path: Option<PathBuf>| {
            path.map_or_else(String::new, |path| path.display().to_string())
        };
        (shown(dirs.user_config), shown(dirs.user_data))
    };
    let both = |config: &str, data: &str| (config.to_owned(), data.to_owned());
    assert_eq!(of(&[]), both("", ""));
    assert_eq!(of(&[("HOME", "/h")]), both("/h/.config/jp", "/h/.local/share/jp"));
    let xdg = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d")];
    assert_eq!(of(&xdg), both("/c/jp", "/d/jp"));
    // A relative one is to be ignored, says the XDG specification.
    let relative = [("HOME", "/h"), ("XDG_CONFIG_HOME", "c"), ("XDG_DATA_HOME", "d")];
    assert_eq!(of(&relative), both("/h/.config/jp", "/h/.local/share/jp"));
    let own = [("HOME", "/h"), ("JP_GLOBAL_CONFIG_DIR", "~/x"), ("JP_USER_DATA_DIR", "/y")];
    assert_eq!(of(&own), both("/h/x", "/y"));
}

#[test]
fn the_layers_come_in_the_order_of_jp() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "config/config.yaml", "");
    write(root, "repo/.jp/config.toml", "");
    write(root, "repo/.jp/.id", "A PREAMBLE\notvo8\n");
    write(root, "repo/.jp.json", "{}");
    write(root, "repo/sub/deep/.jp.toml", "");
    write(root, "data/workspace/old-name-otvo8/config.toml", "");
    let (config, data) = (root.join("config"), root.join("data"));
    let variables = [
        ("JP_GLOBAL_CONFIG_DIR", config.to_str().unwrap()),
        ("JP_USER_DATA_DIR", data.to_str().unwrap()),
    ];
    assert_eq!(
        listed(&dirs(&root.join("repo/sub/deep"), &variables), root),
        [
            "user_global config/config.yaml yes",
            "workspace repo/.jp/config.toml yes",
            "cwd repo/.jp.json yes",
            "cwd repo/sub/deep/.jp.toml yes",
            "user_workspace data/workspace/old-name-otvo8/config.toml yes",
        ]
    );
    // A folder that was passed on the way is not mentioned, the one that work is done in is.
    assert_eq!(
        listed(&dirs(&root.join("repo/sub"), &variables), root)[2..4],
        ["cwd repo/.jp.json yes", "cwd repo/sub/.jp.toml no"]
    );
}

#[test]
fn the_first_extension_wins_and_what_is_missing_is_named() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "repo/.jp/config.yml", "");
    write(root, "repo/.jp/config.json", "{}");
    write(root, "repo/.jp/.id", "otvo8");
    let data = root.join("data");
    let variables = [("JP_USER_DATA_DIR", data.to_str().unwrap())];
    assert_eq!(
        listed(&dirs(&root.join("repo"), &variables), root),
        [
            "workspace repo/.jp/config.json yes",
            "cwd repo/.jp.toml no",
            "user_workspace data/workspace/repo-otvo8/config.toml no",
        ]
    );
}

#[test]
fn an_id_that_is_none_leads_nowhere() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "repo/.jp/.id", "../..");
    let data = root.join("data");
    let variables = [("JP_USER_DATA_DIR", data.to_str().unwrap())];
    assert_eq!(
        listed(&dirs(&root.join("repo"), &variables), root),
        ["workspace repo/.jp/config.toml no", "cwd repo/.jp.toml no"]
    );
}
