//! The author's guide, `policies/README.md`, says what is so: its policy, scenario, configurations, budgets and faults.

use std::{fs, time::Duration};

use jp_policy_config::{Config, Source};
use jp_policy_core::policy::{FaultKind, Invalid};
use jp_policy_wasm::Budget;

const GUIDE: &str = include_str!("../README.md");

/// The texts between ```` ```LANGUAGE ```` and ```` ``` ````.
fn snippets(language: &str) -> Vec<&'static str> {
    let begin = format!("\n```{language}\n");
    GUIDE.split(begin.as_str()).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect()
}

mod policy {
    use jp_policy_testing::{Check, scenarios};

    include!("guide/grace.rs");

    #[test]
    fn it_is_the_guide_s() {
        assert_eq!(super::snippets("rust")[0], include_str!("guide/grace.rs"));
    }

    #[test]
    fn its_scenario_comes_out() {
        let all = super::snippets("toml");
        let scenario = all.iter().find(|snippet| snippet.contains("[expect]"));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("one.toml");
        super::fs::write(file, scenario.expect("there is one")).expect("it can be written");
        scenarios::<Grace>(folder.path());
    }

    #[test]
    fn it_keeps_the_contract() {
        Check::quick().rules().native::<Grace>();
        Check::quick().options("grace = '2s'").native::<Grace>();
    }
}

#[test]
fn its_configurations_load() {
    let all = snippets("toml");
    let configurations: Vec<_> = all
        .into_iter()
        .filter(|snippet| snippet.contains("[plugins.wasm.") && !snippet.contains("[expect]"))
        .collect();
    assert_eq!(configurations.len(), 3);
    for snippet in configurations {
        let config = Config::from_sources(&[Source::new("guide.toml", snippet)]);
        assert!(config.is_ok(), "{snippet}");
    }
}

/// The table of budgets is read as a configuration, and has to say what is the default anyway.
#[test]
fn its_budgets_are_the_defaults() {
    let (_, table) = GUIDE.split_once("| limit | default |").expect("there is a table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut limits = String::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        limits += &format!("{} = {}\n", cells[1].trim_matches('`'), cells[2]);
    }
    assert_eq!(limits.lines().count(), 9, "{limits}");
    let text = format!(
        "[conversation.release]\npolicy = \"p\"\n[plugins.wasm.p]\npath = \"p.wasm\"\n[plugins.wasm.p.limits]\n{limits}"
    );
    let config = Config::from_sources(&[Source::new("limits.toml", text)]).expect("it loads");
    let plugin = config.release.policy.expect("there is one");
    let none = Budget {
        fuel: 0,
        start_fuel: 0,
        time: Duration::ZERO,
        memory: 0,
        table: 0,
        instances: 0,
        answer: 0,
        file: 0,
        log_lines: 0,
    };
    assert_eq!(none.with(plugin.limits), Budget::default());
}

#[test]
fn its_faults_are_said_so() {
    let Budget { fuel, time, memory, table, instances, answer, .. } = Budget::default();
    let key = || "t".to_owned();
    let faults = [
        FaultKind::Trap {
            message: "panicked at policies/panics/src/lib.rs:25:9: no message".into(),
        },
        FaultKind::OutOfFuel { budget: fuel },
        FaultKind::OutOfTime { budget_ms: u64::try_from(time.as_millis()).expect("it fits") },
        FaultKind::OutOfMemory { budget: memory as u64 },
        FaultKind::OutOfTable { budget: table as u64 },
        FaultKind::TooMany { what: "memories", budget: instances },
        FaultKind::Error { message: "no key fits the lock".into() },
        FaultKind::Unreadable {
            message: format!("an answer of 40000000 bytes, over the budget of {answer}"),
        },
        FaultKind::InvalidDecision { call: 7, why: Invalid::Unknown },
        FaultKind::OverLimit { key: key(), limit: 1, running: 0, released: vec![0, 1] },
        FaultKind::OutOfOrder { key: key(), released: 1, before: 0 },
        FaultKind::Stall { parked: vec![0, 1] },
        FaultKind::Spin { wakes: jp_policy_core::scheduler::SPIN_WAKES },
    ];
    for fault in faults {
        let row = format!("| `{}` | `{fault}`", fault.word());
        assert!(GUIDE.contains(&row), "{row}");
    }
    for why in [Invalid::Pending, Invalid::Running, Invalid::Over, Invalid::Twice] {
        assert!(GUIDE.contains(&format!("`{why}`")), "{why}");
    }
}
