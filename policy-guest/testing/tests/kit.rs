//! What the test kit says when something is wrong.

use std::{fs, panic};

use jp_policy_guest::{
    Batch, Decision, Error, Policy, Problem, Settings,
    rules::{Rules, release},
};
use jp_policy_testing::{Check, component_scenarios, scenarios};

/// Never lets a call of key 0 start.
struct Forgets(Vec<u32>);

impl Policy for Forgets {
    const NAME: &'static str = "forgets";

    fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
        settings.refuse_all()?;
        Ok(Self(settings.keys.iter().map(|key| key.limit).collect()))
    }

    fn release(&self, batch: &Batch) -> Result<Decision, Error> {
        let keyed = |id: &u32| batch.calls.iter().any(|call| call.id == *id && call.key == Some(0));
        Ok(Decision::release(release(&self.0, batch).into_iter().filter(|id| !keyed(id))))
    }
}

/// The text that a failing test shows.
fn failure(test: impl FnOnce() + panic::UnwindSafe) -> String {
    let error = panic::catch_unwind(test).expect_err("it fails");
    *error.downcast::<String>().expect("it says why")
}

const SCENARIO: &str = r#"
title = "One after the other"
[conversation.tools.edit]
concurrency = 1
[[call]]
name = "A"
tool = "edit"
[[call]]
name = "B"
tool = "edit"
[expect]
starts = "A@0 B@1"
"#;

#[test]
fn what_is_right_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("one.toml"), SCENARIO).expect("it can be written");
    scenarios::<Rules>(folder.path());
    Check::quick().rules().native::<Rules>();
}

#[test]
fn a_scenario_that_comes_out_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("one.toml");
    fs::write(&file, SCENARIO.replace("B@1", "B@0")).expect("it can be written");
    let folder = folder.path().to_owned();
    assert_eq!(
        failure(move || scenarios::<Rules>(folder)),
        format!(
            "{}: One after the other\n  starts:\n    expected  A@0 B@0\n    actual    A@0 B@1\n",
            file.display()
        )
    );
}

#[test]
fn a_folder_without_scenarios() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    let expected = format!("there is no `*.toml` file in `{}`", path.display());
    assert_eq!(failure(move || scenarios::<Rules>(path)), expected);
}

#[test]
fn a_policy_that_is_refuted() {
    assert_eq!(
        failure(|| Check::quick().native::<Forgets>()),
        r#"policy "forgets" is refuted: at 1s it stalled: call A is parked, nothing runs, nobody is asked and no wake-up is set

title = "at 1s it stalled: call A is parked, nothing runs, nobody is asked and no wake-up is set"

[conversation.tools.a]
concurrency = { key = "a", limit = 1 }

[conversation.tools.free]

[[call]]
name = "A"
tool = "a"
approved = "1s"
does = "10s"
"#
    );
}

#[test]
fn fields_that_the_policy_does_not_take() {
    let failure = failure(|| Check::quick().fields("delay = 1").native::<Rules>());
    assert!(failure.starts_with("policy \"default\" can't be checked: "), "{failure}");
    assert!(failure.contains("fields:1:1"), "{failure}");
}

#[test]
fn a_component_that_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = folder.path().join("mine");
    let shown = manifest.display().to_string();
    assert_eq!(
        failure(move || Check::quick().component(manifest)),
        format!(
            "the policy is not built: there is no `mine.wasm` in `{shown}` or beside it; build it with\n\n    jp-policy build {shown}\n"
        )
    );
}

/// The default policy as it is checked in.
#[test]
fn a_component_beside_its_crate() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policies/default");
    Check::quick().rules().component(manifest);
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scenarios/limits");
    component_scenarios(manifest, scenarios);
}

#[test]
fn options_are_given_to_a_policy_that_is_no_component_too() {
    let said = failure(|| Check::quick().options("cap = 2").native::<Rules>());
    assert!(said.starts_with("policy \"default\" can't be checked"), "{said}");
    assert!(said.contains("`cap`"), "{said}");
}
