//! Every scenario under `tests/scenarios` comes out as it says, with the default policy as a component and natively.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jp_policy::{
    harness::{Scenario, mismatches, simulate},
    policy::{
        Blueprint, Native,
        wasm::{Component, Engine},
    },
};

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

fn failures(path: &Path, scenario: &Scenario, policy: &str, blueprint: &dyn Blueprint) -> Option<String> {
    let found = match (&scenario.config, &scenario.expect.errors) {
        (Err(error), Some(expected)) => {
            let errors: Vec<&String> = error.0.iter().map(|problem| &problem.message).collect();
            (errors != expected.iter().collect::<Vec<_>>()).then(|| format!("errors: {errors:#?}"))
        }
        (Ok(_), Some(_)) => Some("the configuration holds, and errors were expected".to_owned()),
        _ => match simulate(scenario, blueprint) {
            Err(error) => Some(error.to_string()),
            Ok(simulation) => {
                let found = mismatches(&scenario.expect, &simulation.record);
                let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
        },
    };
    found.map(|found| format!("{} ({policy}): {}\n{found}", path.display(), scenario.title))
}

#[test]
fn every_scenario_comes_out_with_both_policies() {
    let engine = Engine::new().expect("an engine can be made");
    let policies: [(&str, Box<dyn Blueprint>); 2] = [
        ("component", Box::new(Component::embedded(&engine).expect("the default component loads"))),
        ("native", Box::new(Native::rules())),
    ];
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "there are scenarios");
    let mut failed = Vec::new();
    for path in &paths {
        match Scenario::read(path) {
            Err(error) => failed.push(error.to_string()),
            Ok(scenario) => failed.extend(
                policies.iter().filter_map(|(name, policy)| failures(path, &scenario, name, policy.as_ref())),
            ),
        }
    }
    assert!(failed.is_empty(), "{} of {} failed\n\n{}", failed.len(), paths.len(), failed.join("\n\n"));
}
