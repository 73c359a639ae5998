use std::collections::HashMap;

use jp_policy_config::Source;
use jp_policy_core::policy::Native;
use jp_policy_harness::{Scenario, SimulateOptions, simulate_with};
use jp_policy_report::{Decisions, trace};
use serde_json::Value as Json;

fn traced(scenario: &str) -> Vec<Json> {
    let scenario = Scenario::parse(&Source::new("s.toml", scenario)).expect("a scenario");
    let mut decisions = Decisions::default();
    let setup = SimulateOptions { observer: Some(&mut decisions), ..SimulateOptions::default() };
    let simulation = simulate_with(&scenario, &Native::rules(), setup).expect("it ends");
    let Json::Object(mut trace) = trace(&simulation.record, &decisions.0) else {
        panic!("a table")
    };
    assert_eq!(trace["displayTimeUnit"], "ms");
    let Some(Json::Array(events)) = trace.remove("traceEvents") else { panic!("a list") };
    check(&events);
    events
}

/// The rules of the format: what each kind of event has, and that the spans of a track nest.
fn check(events: &[Json]) {
    let mut tracks: HashMap<(u64, u64), Vec<(f64, f64)>> = HashMap::new();
    let mut named = Vec::new();
    for event in events {
        let number =
            |field: &str| event[field].as_f64().unwrap_or_else(|| panic!("{field} of {event}"));
        let (pid, tid) =
            (event["pid"].as_u64().expect("a pid"), event["tid"].as_u64().expect("a tid"));
        assert!(event["name"].is_string(), "{event}");
        match event["ph"].as_str().expect("a phase") {
            "X" => {
                assert!(number("ts") >= 0.0 && number("dur") >= 0.0, "{event}");
                let span = (number("ts"), number("ts") + number("dur"));
                tracks.entry((pid, tid)).or_default().push(span);
                assert!(named.contains(&(pid, tid)), "a track has its name first: {event}");
            }
            "i" => {
                assert!(number("ts") >= 0.0);
                assert!(["g", "p", "t"].iter().any(|scope| event["s"] == *scope), "{event}");
            }
            "C" => {
                assert!(number("ts") >= 0.0);
                assert!(event["args"]["running"].as_i64().is_some_and(|n| n >= 0), "{event}");
            }
            "M" => {
                let what = event["name"].as_str().expect("a name");
                if what.ends_with("_name") {
                    assert!(event["args"]["name"].is_string(), "{event}");
                    named.push((pid, tid));
                } else {
                    assert!(event["args"]["sort_index"].is_u64(), "{event}");
                }
            }
            other => panic!("unknown phase {other}"),
        }
    }
    for (track, spans) in tracks {
        for (n, a) in spans.iter().enumerate() {
            for b in &spans[n + 1..] {
                let apart = a.1 <= b.0 || b.1 <= a.0;
                let nested = (a.0 <= b.0 && b.1 <= a.1) || (b.0 <= a.0 && a.1 <= b.1);
                assert!(apart || nested, "{a:?} and {b:?} overlap in track {track:?}");
            }
        }
    }
}

/// The events of a kind: process, track, name, from, how long.
fn lines(events: &[Json], kind: &str) -> Vec<String> {
    let of_kind = events.iter().filter(|event| event["ph"] == kind);
    of_kind
        .map(|event| {
            let name = event["name"].as_str().unwrap_or_default();
            format!("{}/{} {name} {} {}", event["pid"], event["tid"], event["ts"], event["dur"])
        })
        .collect()
}

#[test]
fn spans_by_key_and_call() {
    let events = traced(
        "
        [conversation.tools.edit]
        concurrency = 1
        [conversation.tools.look]
        [[call]]
        name = \"A\"
        tool = \"edit\"
        does = \"1s ask 1500ns\"
        answered = 2
        [[call]]
        name = \"B\"
        tool = \"edit\"
        [[call]]
        name = \"C\"
        tool = \"look\"
        [[call]]
        name = \"D\"
        tool = \"look\"
        rejected = 0
        ",
    );
    assert_eq!(
        lines(&events, "X"),
        [
            "2/1 A 0.0 2000001.5",
            "2/1 asks 1000000.0 1000000.0",
            "2/2 waits 0.0 2000001.5",
            "2/2 B 2000001.5 1000000.0",
            "3/3 C 0.0 1000000.0",
        ]
    );
    assert_eq!(
        lines(&events, "i"),
        ["1/0 start 2 calls 0.0 null", "1/0 start 2 B 2000001.5 null", "3/4 not run 0.0 null"]
    );
    let running = events.iter().filter(|event| event["ph"] == "C");
    let running: Vec<_> =
        running.map(|event| format!("{} {}", event["ts"], event["args"]["running"])).collect();
    assert_eq!(running, ["0.0 1", "2000001.5 1", "3000001.5 0"]);
    let names = events.iter().filter(|event| event["name"] == "process_name");
    let names: Vec<_> = names.map(|event| event["args"]["name"].clone()).collect();
    assert_eq!(names, ["policy", "key edit", "no key"]);
}

#[test]
fn a_run_that_lingers_has_a_track_of_its_own() {
    let events = traced(
        "
        [conversation.tools.t]
        [[call]]
        name = \"A\"
        tool = \"t\"
        does = \"5s\"
        gone = 4
        [[event]]
        at = 2
        restart = true
        ",
    );
    assert_eq!(lines(&events, "X"), ["2/1 A 0.0 4000000.0", "2/2 A 2000000.0 5000000.0"]);
}

#[test]
fn every_kind_of_end_keeps_the_rules() {
    traced(
        "
        [conversation.tools.f]
        concurrency = 2
        fan_out = { on_error = \"stop\" }
        [conversation.tools.t]
        concurrency = 1
        [[call]]
        name = \"F\"
        tool = \"f\"
        operations = { f1 = \"1s fail\", f2 = \"4s ask 1s\", f3 = \"1s\" }
        [[call]]
        name = \"A\"
        tool = \"t\"
        does = [\"3s ask 9s\", \"\", \"8s\"]
        gone = [6, 9]
        [[call]]
        name = \"B\"
        tool = \"t\"
        approved = [1, 5]
        [[event]]
        at = 4
        restart = true
        [[event]]
        at = 5
        restart = true
        [[event]]
        at = 8
        cancel = true
        ",
    );
}
