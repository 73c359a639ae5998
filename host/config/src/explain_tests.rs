use std::fs;

use super::*;
use crate::{ConfigDirs, Source};

fn layers() -> Layers {
    let mut layers = Layers::default();
    let user = "[conversation.tools.github_issues]\ncommand = 'x'\nconcurrency = 4\n";
    let workspace =
        "[conversation.tools.github_issues.concurrency]\nkey = 'github'\ndelay = '2s'\n";
    layers.source(Layer::UserGlobal, &Source::new("user.toml", user));
    layers.source(Layer::Workspace, &Source::new("jp.toml", workspace));
    layers.source(Layer::Workspace, &Source::new("other.toml", "[conversation.tools.other]\n"));
    layers
}

/// One line a step, then what wins.
fn told(layers: &Layers, key: &str) -> String {
    let explanation = match layers.explain(key) {
        Ok(explanation) => explanation,
        Err(error) => return error.to_string(),
    };
    let mut out = format!("{}\n", explanation.path.join(" / "));
    for Step { layer, says } in &explanation.steps {
        let says = match says {
            Says::Nothing => continue,
            Says::Missing(path) => format!("missing {}", path.display()),
            Says::Closed(path) => format!("closed {}", path.display()),
            Says::Value { place, text, then } => {
                format!("{place} {text} => {}", then.as_deref().unwrap_or("nothing"))
            }
        };
        out += &format!("{}: {says}\n", layer.name());
    }
    out += &format!("= {}", explanation.value.as_deref().unwrap_or("nothing"));
    for Winner { field, layer, place } in &explanation.winners {
        out += &format!("\n{} {} {place}", field.as_deref().unwrap_or("-"), layer.name());
    }
    out
}

#[test]
fn every_layer_that_touched_a_value_is_told_and_which_won() {
    let mut layers = layers();
    layers.cfg("conversation.tools.github_issues.concurrency.limit:=8");
    insta::assert_snapshot!(told(&layers, "tools.github_issues.concurrency"), @r#"
    conversation / tools / github_issues / concurrency
    user_global: user.toml:3:15 4 => 4
    workspace: jp.toml:1:1 { key = "github", delay = "2s" } => { key = "github", limit = 4, delay = "2s" }
    cli_cfg: --cfg:1:46 { limit = 8 } => { key = "github", limit = 8, delay = "2s" }
    = { key = "github", limit = 8, delay = "2s" }
    key workspace jp.toml:2:7
    limit cli_cfg --cfg:1:53
    delay workspace jp.toml:3:9
    "#);
}

#[test]
fn a_field_can_be_asked_for_alone() {
    let mut layers = layers();
    insta::assert_snapshot!(told(&layers, "conversation.tools.github_issues.concurrency.limit"), @"
    conversation / tools / github_issues / concurrency / limit
    user_global: user.toml:3:15 4 => 4
    = 4
    - user_global user.toml:3:15
    ");
    layers.cfg("conversation.tools.github_issues.concurrency=0");
    insta::assert_snapshot!(told(&layers, "tools.github_issues.concurrency.key"), @r#"
    conversation / tools / github_issues / concurrency / key
    user_global: user.toml:3:15 4 => "github_issues"
    workspace: jp.toml:2:7 "github" => "github"
    cli_cfg: --cfg:1:46 0 => nothing
    = nothing
    "#);
}

#[test]
fn what_was_taken_away_is_told() {
    let mut layers = layers();
    layers.cfg("conversation.tools.github_issues.concurrency:=null");
    insta::assert_snapshot!(told(&layers, "tools.github_issues.concurrency"), @r#"
    conversation / tools / github_issues / concurrency
    user_global: user.toml:3:15 4 => 4
    workspace: jp.toml:1:1 { key = "github", delay = "2s" } => { key = "github", limit = 4, delay = "2s" }
    cli_cfg: --cfg:1:47 null => nothing
    = nothing
    "#);
}

#[test]
fn a_name_that_nothing_has_is_refused_with_the_nearest() {
    let layers = layers();
    assert_eq!(
        told(&layers, "tools.github_isues.concurrency"),
        "`conversation.tools` has no `github_isues`; did you mean `github_issues`?"
    );
    assert_eq!(
        told(&layers, "tools.other.concurency"),
        "`conversation.tools.other` has no `concurency`; did you mean `concurrency`?"
    );
    assert_eq!(
        told(&layers, "tools.other.."),
        "the key `tools.other..` can't be read: a name is missing"
    );
    assert_eq!(told(&layers, "release.policy"), "conversation / release / policy\n= nothing");
}

#[test]
fn places_without_a_file_are_named() {
    let root = tempfile::tempdir().expect("a folder can be made");
    fs::create_dir(root.path().join(".jp")).expect("a folder can be made");
    fs::write(
        root.path().join(".jp/config.toml"),
        "inherit = false\n[conversation.tools.a]\nconcurrency = 1\n",
    )
    .expect("it can be written");
    fs::write(root.path().join(".jp.toml"), "[conversation.tools.a]\nconcurrency = 2\n")
        .expect("it can be written");
    let mut layers = Layers::default();
    let dirs = ConfigDirs {
        user_config: Some(root.path().join("user")),
        user_data: None,
        folder: root.path().to_owned(),
        relative: true,
    };
    // The files are there under their whole paths only: this is not the current folder.
    layers.standard_files(&ConfigDirs { relative: false, ..dirs });
    let told =
        told(&layers, "tools.a.concurrency").replace(&*root.path().to_string_lossy(), "/ROOT");
    insta::assert_snapshot!(told, @"
    conversation / tools / a / concurrency
    user_global: missing /ROOT/user/config.toml
    workspace: /ROOT/.jp/config.toml:3:15 1 => 1
    cwd: closed /ROOT/.jp.toml
    = 1
    - workspace /ROOT/.jp/config.toml:3:15
    ");
}
