//! Every scenario under `tests/scenarios` comes out as it says, with the default policy as a component and natively.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jp_policy_core::policy::{Native, PolicyFactory};
use jp_policy_harness::{Scenario, judge};
use jp_policy_wasm::{Component, Engine};

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of scenarios is there") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            into.push(path);
        }
    }
}

#[test]
fn every_scenario_comes_out_with_both_policies() {
    let engine = Engine::new().expect("an engine can be made");
    let policies: [(&str, Box<dyn PolicyFactory>); 2] = [
        ("component", Box::new(Component::embedded(&engine).expect("the default component loads"))),
        ("native", Box::new(Native::rules())),
    ];
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "there are scenarios");
    let mut failed = Vec::new();
    for path in &paths {
        let found: Vec<String> = match Scenario::read(path) {
            Err(error) => vec![error.to_string()],
            Ok(scenario) => {
                let judged =
                    policies.iter().map(|(name, policy)| (name, judge(&scenario, policy.as_ref())));
                judged
                    .flat_map(|(name, found)| {
                        found.into_iter().map(move |it| format!("({name}) {it}"))
                    })
                    .collect()
            }
        };
        if !found.is_empty() {
            failed.push(format!("{}\n{}", path.display(), found.join("\n")));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} failed\n\n{}",
        failed.len(),
        paths.len(),
        failed.join("\n\n")
    );
}
