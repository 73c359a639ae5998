use std::{
    fs,
    path::{Path, PathBuf},
};

use jp_policy_config::Source;
use proptest::prelude::*;

use super::{
    super::scenario::{Ending, Phase},
    *,
};

/// Reads what was written, and checks that nothing got lost. What of the configuration is not about releases is not written.
fn again(scenario: &Scenario) -> String {
    let text = scenario.to_toml().expect("its configuration holds");
    let read = Scenario::parse(&Source::new("again.toml", text.as_str()))
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read.title, scenario.title, "{text}");
    assert_eq!(read.earlier, scenario.earlier, "{text}");
    assert_eq!(read.calls, scenario.calls, "{text}");
    assert_eq!(read.events, scenario.events, "{text}");
    assert_eq!(read.complete, scenario.complete, "{text}");
    assert_eq!(read.expect, scenario.expect, "{text}");
    let (a, b) = (read.config.expect("it holds"), scenario.config.as_ref().expect("it holds"));
    assert_eq!(a.settings(), b.settings(), "{text}");
    assert_eq!(release(&a), release(b), "{text}");
    text
}

/// What of the release configuration must come back, and which calls the gate may stop.
fn release(config: &Config) -> String {
    let policy = config.release.policy.as_ref().map(|plugin| {
        let path = std::path::absolute(&plugin.path).expect("there is a current folder");
        let checksum = plugin.checksum.as_ref().map(|checksum| checksum.value.clone());
        (plugin.name.clone(), path, checksum, plugin.run, plugin.limits)
    });
    let fan_out = config.tools.values().map(|tool| {
        (&tool.name, tool.fan_out.as_ref().map(|fan_out| (fan_out.enabled, fan_out.on_error)))
    });
    let fan_out: Vec<_> = fan_out.collect();
    format!("{:?} {:?} {policy:?} {fan_out:?}", config.release.guard, config.release.on_fault)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_scenario_there_is_comes_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut written = 0;
    for folder in ["../../tests/scenarios", "../../policies/delay/scenarios"] {
        for file in files(&root.join(folder)) {
            let scenario = Scenario::read(&file).unwrap_or_else(|error| panic!("{error}"));
            if scenario.config.is_ok() {
                again(&scenario);
                written += 1;
            }
        }
    }
    assert!(written > 50, "{written}");
}

/// Everything that a scenario file can say.
const ALL: &str = r#"
        title = "All there is"
        complete = 2

        [conversation.tools.edit]
        concurrency = { key = "a \"b\"", limit = 2, delay = "2s", when = 2026-01-01, n = 0x10, list = [1, { x = inf }] }
        fan_out = { on_error = "stop" }
        [conversation.tools."read it"]
        concurrency = 0
        [conversation.tools.free]

        [conversation.release]
        guard = "order"
        on_fault = "settle"
        policy = "delay"
        [plugins.wasm.delay]
        path = "/policies/delay.wasm"
        options = { "x y" = 1.5 }
        limits = { fuel = 50_000_000, memory = "64 MiB" }

        [[earlier]]
        key = "a \"b\""
        gone = 0.3

        [[call]]
        name = "A"
        tool = "edit"
        operations = { "f 1" = "1500ms ask 2s fail", f2 = "1ns" }
        answered = [3, "4us"]
        [[call]]
        name = "late"
        tool = "read it"
        arguments = { path = "a\nb", n = [1, 2.5] }
        arrives = 1
        approved = 3
        answered_after = [1]
        does = "ask"
        reviewed = 9
        gone = 10
        [[call]]
        name = "no"
        tool = "free"
        parent = "late"
        arrives = 1
        rejected = 2
        [[call]]
        name = "never"
        tool = "free"
        arrives = 1
        undecided = true

        [[event]]
        at = 5
        restart = true
        [[event]]
        at = 6
        end_again = "late"
        [[event]]
        at = 7
        cancel = true

        [expect]
        starts = ""
        peaks = { 'a "b"' = 2 }
        settled = 8
        faults = []
"#;

#[test]
fn a_scenario_as_it_is_written() {
    let scenario = Scenario::parse(&Source::new("a.toml", ALL)).expect("it can be read");
    insta::assert_snapshot!(again(&scenario), @r###"
    title = "All there is"
    complete = "2s"

    [conversation.tools.edit]
    concurrency = { key = "a \"b\"", limit = 2, delay = "2s", list = [1, { x = inf }], n = 16, when = 2026-01-01 }
    fan_out = { enabled = true, on_error = "stop" }

    [conversation.tools.free]

    [conversation.tools."read it"]
    concurrency = 0

    [conversation.release]
    policy = "delay"
    guard = "order"
    on_fault = "settle"

    [plugins.wasm.delay]
    path = "/policies/delay.wasm"
    options = { "x y" = 1.5 }
    limits = { fuel = 50000000, memory = "64 MiB" }

    [[earlier]]
    key = "a \"b\""
    gone = "300ms"

    [[call]]
    name = "edit"
    tool = "edit"
    operations = { "f 1" = "1500ms ask 2s fail", f2 = "1ns" }
    answered = ["3s", "4us"]

    [[call]]
    name = "late"
    tool = "read it"
    arguments = { path = "a\nb", n = [1, 2.5] }
    arrives = "1s"
    approved = "3s"
    does = "0s ask 0s"
    answered_after = "1s"
    gone = "10s"
    reviewed = "9s"

    [[call]]
    name = "no"
    tool = "free"
    parent = "late"
    arrives = "1s"
    rejected = "2s"
    does = "1s"

    [[call]]
    name = "never"
    tool = "free"
    arrives = "1s"
    undecided = true
    does = "1s"

    [[event]]
    at = "5s"
    restart = true

    [[event]]
    at = "6s"
    end_again = "late"

    [[event]]
    at = "7s"
    cancel = true

    [expect]
    starts = ""
    settled = "8s"
    peaks = { "a \"b\"" = 2 }
    faults = []
    "###);
}

#[test]
fn a_configuration_that_does_not_hold_can_not_be_written() {
    let text =
        "[conversation.tools.a]\ncommand = \"true\"\nconcurrency = -1\n[expect]\nerrors = []\n";
    let scenario = Scenario::parse(&Source::new("a.toml", text)).expect("it can be read");
    let error = scenario.to_toml().expect_err("nobody knows what to write").to_string();
    assert_eq!(
        error,
        "a.toml:3:15: error: tool `a`: `concurrency` is -1, expected a whole number from 0 to 4294967295\n  \
         a.toml:3:15: negative\n  help: 0 lifts the limit"
    );
}

/// Any text, odd ones among them.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        any::<String>().prop_filter("a name", |text| !text.trim().is_empty()),
        Just("a.b \"c\" '\\\u{7f}\u{1}\n\t#=\u{10ffff}".to_owned()),
    ]
}

fn time_() -> impl Strategy<Value = Instant> {
    prop_oneof![
        (0..20_u64).prop_map(|seconds| seconds * 1_000_000_000),
        0..5_000_000_000_u64,
        Just(Instant::MAX),
    ]
}

fn call() -> impl Strategy<Value = CallSpec> {
    let phases = prop::collection::vec(time_(), 1..4);
    let decision = prop_oneof![
        prop::collection::vec(time_(), 1..3).prop_map(PersonEvent::Approved),
        time_().prop_map(PersonEvent::NotRun),
        Just(PersonEvent::Never),
    ];
    let times = || prop::collection::vec(time_(), 0..3);
    let arguments = prop_oneof![
        Just("{}".to_owned()),
        (text(), text(), any::<i64>(), any::<i32>()).prop_map(|(name, value, n, quarters)| {
            let x = f64::from(quarters) / 4.0;
            let mut object = serde_json::Map::new();
            object.insert(name, serde_json::json!([value, { "n": n, "x": x }, true]));
            serde_json::Value::Object(object).to_string()
        }),
    ];
    let tool = prop_oneof![Just("t"), Just("fans"), Just("free")];
    let ending = prop_oneof![Just(Ending::Succeeds), Just(Ending::Fails), Just(Ending::Dismissed)];
    (
        (tool, any::<bool>(), arguments, phases, ending),
        (decision, times(), times(), prop::option::of(time_()), times()),
    )
        .prop_map(|((tool, sibling, arguments, phases, ending), rest)| {
            let (decision, answered, answered_after, reviewed, gone) = rest;
            let last = phases.len() - usize::from(ending != Ending::Dismissed);
            let phases = phases.into_iter().enumerate();
            CallSpec {
                label: String::new(),
                tool: tool.to_owned(),
                // Whether it belongs to the call before it: turned into a number below.
                parent: u32::from(sibling),
                arguments,
                arrives: 0,
                decision,
                runs: vec![Behaviour {
                    phases: phases.map(|(n, takes)| Phase { takes, asks: n < last }).collect(),
                    ending,
                }],
                answered,
                answered_after,
                reviewed,
                gone,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_as_the_same(
        title in text(),
        key in text(),
        field in text(),
        calls in prop::collection::vec((call(), text()), 0..6),
        arrivals in prop::collection::vec(time_(), 6),
        cancel in prop::option::of(time_()),
        restart in prop::option::of(time_()),
        faults in prop::option::of(prop::collection::vec(text(), 0..3)),
    ) {
        let concurrency = inline_table([("key", quoted(&key)), ("limit", "2".to_owned()), (field.as_str(), quoted(&title))]
            .into_iter()
            .filter(|(name, value)| *name != field || *value == quoted(&title) && !["key", "limit"].contains(name)));
        // A key is no place for control characters.
        prop_assume!(!key.chars().any(char::is_control));
        let text = format!(
            "[conversation.tools.t]\nconcurrency = {concurrency}\n[conversation.tools.free]\n\
             [conversation.tools.fans]\nconcurrency = {concurrency}\nfan_out = {{ on_error = \"stop\" }}\n"
        );
        let config = Config::from_sources(&[Source::new("a.toml", text.as_str())]);
        prop_assert!(config.is_ok(), "{text}\n{config:?}");
        let mut arrivals = arrivals;
        arrivals.sort_unstable();
        let (mut parent, mut read) = (0, Vec::<CallSpec>::new());
        for (n, ((call, label), arrives)) in calls.into_iter().zip(arrivals).enumerate() {
            let sibling = call.parent == 1 && n > 0;
            parent += u32::from(n > 0 && !sibling);
            let decision = match call.decision {
                PersonEvent::Approved(at) => {
                    PersonEvent::Approved(at.into_iter().map(|at| at.max(arrives)).collect())
                }
                PersonEvent::NotRun(at) => PersonEvent::NotRun(at.max(arrives)),
                PersonEvent::Never => PersonEvent::Never,
            };
            let same = sibling.then(|| read[n - 1].clone());
            let call = CallSpec { label: format!("{n}{label}"), parent, arrives, decision, ..call };
            // Now and then all of them are operations of one call.
            read.push(match same {
                Some(first) if call.runs[0].ending == Ending::Fails => {
                    CallSpec { label: call.label, runs: call.runs, ..first }
                }
                _ => call,
            });
        }
        let events = [restart.map(ScenarioEvent::Restart), cancel.map(ScenarioEvent::Cancel)];
        again(&Scenario {
            title,
            config,
            earlier: Vec::new(),
            calls: read,
            events: events.into_iter().flatten().collect(),
            complete: cancel,
            expect: Expect { faults, ..Expect::default() },
        });
    }
}
