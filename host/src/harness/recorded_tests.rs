use std::path::{Path, PathBuf};

use super::*;
use crate::{
    harness::{ends, parked, responses, simulate, starts},
    policy::Native,
};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn story(scenario: &Scenario) -> Option<[String; 4]> {
    let record = simulate(scenario, &Native::rules()).ok()?.record;
    // When a result was reviewed is not kept: it changes nothing for other calls.
    let all = responses(&record);
    let how = all.split(", ").map(|it| it.split('@').next()).collect::<Vec<_>>();
    let how = how.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Some([starts(&record), ends(&record), parked(&record), how])
}

/// What the record of a scenario says is a scenario that comes out the same, and its text is too.
#[test]
fn the_scenario_of_a_record_comes_out_as_the_record() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let mut same = 0;
    let mut differ = Vec::new();
    for file in files(&folder) {
        let scenario = Scenario::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let (Ok(config), Some(told)) = (&scenario.config, story(&scenario)) else {
            continue;
        };
        // A record does not tell when the last call had been written.
        if scenario.complete.is_some() {
            continue;
        }
        let record = simulate(&scenario, &Native::rules()).expect("it came out before").record;
        let arguments: Vec<String> =
            scenario.calls.iter().map(|call| call.arguments.clone()).collect();
        let again = recorded_scenario(&record, config, &arguments).scenario;
        let text = again.to_toml().expect("it holds");
        let read = Scenario::parse(&Source::new("again.toml", text.as_str()))
            .unwrap_or_else(|error| panic!("{}: {error}\n{text}", file.display()));
        assert_eq!(read.calls, again.calls, "{}\n{text}", file.display());
        match story(&again) {
            Some(again) if again == told => same += 1,
            again => differ.push(format!("{} {told:#?} {again:#?}", file.display())),
        }
    }
    assert!(differ.is_empty(), "{} as told, {}:\n{}", same, differ.len(), differ.join("\n"));
    assert!(same > 70, "{same}");
}
