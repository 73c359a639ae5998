use std::path::{Path, PathBuf};

use jp_policy_core::policy::{Native, PolicyFactory as _};
use jp_policy_report::{ends, parked, responses, starts};

use super::*;
use crate::simulate;

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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut same = 0;
    let mut differ = Vec::new();
    for file in files(&folder) {
        let scenario = Scenario::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let (Ok(config), Some(told)) = (&scenario.config, story(&scenario)) else {
            continue;
        };
        // A record does not tell when the last call had been written, nor what earlier batches had left.
        if scenario.complete.is_some() || !scenario.earlier.is_empty() {
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

/// What a header says of a configuration is enough to decide about releases as it did.
#[test]
fn the_configuration_of_a_header_is_the_one_it_was_made_of() {
    let text = r#"
        [conversation.tools.edit]
        concurrency = { key = "a \"b\"", limit = 2, delay = "2s", n = 1, x = 1.5, on = true, list = [1, { a = "b" }] }
        fan_out = { on_error = "stop" }
        [conversation.tools."read it"]
        concurrency = 0
        [conversation.tools.fans]
        fan_out = true
        [conversation.release]
        guard = "order"
        on_fault = "settle"
        policy = "mine"
        [plugins.wasm.mine]
        path = "/policies/mine.wasm"
        options = { cap = 3 }
    "#;
    let config = Config::from_sources(&[Source::new("a.toml", text)]).expect("it holds");
    let time = std::time::SystemTime::UNIX_EPOCH;
    let mut header = jp_policy_report::header(&config, Native::rules().identity(), time, false);
    header.policy.path = Some("/policies/mine.wasm".to_owned());
    let again = recorded_config(&header).expect("it holds");
    assert_eq!(again.settings(), config.settings());
    assert_eq!(
        (again.release.guard, again.release.on_fault),
        (config.release.guard, config.release.on_fault)
    );
    let gates = |config: &Config| -> Vec<Option<jp_policy_core::terms::OnError>> {
        let tools = config.tools.values();
        tools.map(|tool| tool.fan_out.as_ref().map(|fan_out| fan_out.on_error)).collect()
    };
    assert_eq!(gates(&again), gates(&config));
    let path = again.release.policy.map(|plugin| plugin.path);
    assert_eq!(path, Some(PathBuf::from("/policies/mine.wasm")));
}

/// A call of a tool that nobody configured has a scenario that can be read, and a label of its own.
#[test]
fn calls_of_unknown_tools_and_of_one_label_have_their_place() {
    let text = "[conversation.tools.t]\n[[call]]\nname = \"a\"\ntool = \"t\"\n[[call]]\nname = \"b\"\ntool = \"t\"\n\
                [[call]]\nname = \"c\"\ntool = \"t\"\nrejected = 0\n";
    let scenario = Scenario::parse(&Source::new("a.toml", text)).expect("it can be read");
    let mut record = simulate(&scenario, &Native::rules()).expect("it comes out").record;
    record.calls[1].label = "a".into();
    record.calls[2].label = "".into();
    record.calls[2].tool = u32::MAX;
    let config = scenario.config.as_ref().expect("it holds");
    let recorded = recorded_scenario(&record, config, &[]);
    let text = recorded.scenario.to_toml().expect("it holds");
    let read = Scenario::parse(&Source::new("b.toml", text)).expect("it can be read");
    let calls: Vec<(&str, &str)> =
        read.calls.iter().map(|call| (call.label.as_str(), call.tool.as_str())).collect();
    assert_eq!(calls, [("a", "t"), ("a #2", "t"), ("call 3", "unknown")]);
    assert_eq!(recorded.assumed, []);
}
