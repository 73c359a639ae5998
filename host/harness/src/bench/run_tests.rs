use std::cell::RefCell;

use jp_policy_core::policy::{FaultKind, Refusal};

use super::*;

const DELAY: &[u8] = include_bytes!("../../../../policies/delay-c.wasm");
const ERROR: &[u8] = include_bytes!("../../../../tests/hostile/error.wasm");
const LOOP: &[u8] = include_bytes!("../../../../tests/hostile/loop-at-once.wasm");
const REFUSES: &[u8] = include_bytes!("../../../../tests/hostile/configure-refuses.wasm");

fn plan() -> Plan {
    Plan {
        calls: vec![1, 16, 100],
        keys: 4,
        by_keys: vec![1, 2],
        calls_by_keys: 8,
        limit: 2,
        time: Duration::ZERO,
    }
}

fn subject(bytes: &[u8]) -> Subject<'_> {
    // Little enough to be spent at once.
    let budget = Budget { fuel: 1_000_000, ..Budget::default() };
    Subject { path: "p.wasm", bytes, budget }
}

fn measure(
    bytes: &[u8],
    parameters: &Parameters,
    look: &dyn Fn(Option<BenchProgress>) -> bool,
) -> Result<Bench, BenchError> {
    let folder = tempfile::tempdir().expect("a folder");
    bench(&subject(bytes), parameters, &plan(), folder.path(), look)
}

fn measured(bytes: &[u8]) -> Bench {
    measure(bytes, &Parameters::default(), &|_| true).expect("it can be measured")
}

/// Calls, keys, how many are shown and released of each row.
fn sizes(rows: &[Row]) -> Vec<(u32, u32, usize, usize)> {
    let released = |row: &Row| row.cost.as_ref().expect("it decides").released;
    rows.iter().map(|row| (row.calls, row.keys, row.shown, released(row))).collect()
}

#[test]
fn a_policy_and_the_default_one_are_asked_the_same() {
    let bench = measured(DELAY);
    assert_eq!((bench.policy.identity.name.as_str(), bench.policy.view), ("delay", View::Front));
    assert_eq!(bench.default.identity.name, "default");
    assert!(!bench.stopped);
    for measured in [&bench.policy, &bench.default] {
        // All slots are free, so two calls of each key are in front.
        assert_eq!(sizes(&measured.by_calls), [(1, 4, 1, 1), (16, 4, 8, 8), (100, 4, 8, 8)]);
        assert_eq!(sizes(&measured.by_keys), [(8, 1, 2, 2), (8, 2, 4, 4)]);
        let costs: Vec<_> =
            measured.by_calls.iter().map(|row| row.cost.clone().expect("it decides")).collect();
        assert!(costs[0].fuel > 0 && costs[0].fuel < costs[1].fuel);
        // What it is shown is the same, so it costs the same.
        assert_eq!(costs[1].fuel, costs[2].fuel);
        assert!(costs.iter().all(|cost| cost.memory >= 65_536 && cost.asked == 1));
        assert!(measured.loading.compile.is_some() && measured.loading.instance.is_some());
    }
    assert_eq!(bench.policy.loading.bytes, DELAY.len() as u64);
}

#[test]
fn it_is_given_its_fields_and_the_default_policy_is_not() {
    let parameters = Parameters::read("f", "delay = \"1s\"", "o", "").expect("it is read");
    let bench = measure(DELAY, &parameters, &|_| true).expect("both take it");
    assert_eq!(sizes(&bench.policy.by_calls)[1], (16, 4, 8, 8));
}

#[test]
fn what_failed_with_few_calls_is_not_tried_with_more() {
    let bench = measured(LOOP);
    let fault = Cut::Fault(FaultKind::OutOfFuel { budget: 1_000_000 });
    let cuts = |rows: &[Row]| rows.iter().map(|row| row.cost.clone().err()).collect::<Vec<_>>();
    let after = Some(Cut::AfterFault { calls: 1, keys: 4 });
    assert_eq!(cuts(&bench.policy.by_calls), [Some(fault.clone()), after.clone(), after]);
    let after = Some(Cut::AfterFault { calls: 8, keys: 1 });
    assert_eq!(cuts(&bench.policy.by_keys), [Some(fault), after]);
    // The default policy is measured all the same.
    assert_eq!(cuts(&bench.default.by_calls), [None, None, None]);
    assert_eq!(bench.policy.loading.resident, None);
}

#[test]
fn an_error_is_a_fault_of_the_row() {
    let bench = measured(ERROR);
    let Err(Cut::Fault(FaultKind::Error { .. })) = bench.policy.by_calls[0].cost else {
        panic!("{:?}", bench.policy.by_calls[0]);
    };
}

#[test]
fn a_refusal_is_told_before_anything_is_measured() {
    let error = measure(REFUSES, &Parameters::default(), &|_| true).expect_err("it refuses");
    let BenchError::Refused { policy, refusal: Refusal::Settings(problems) } = error else {
        panic!("{error}");
    };
    assert_eq!((policy.as_str(), problems.len()), ("configure-refuses", 2));
    let error = measure(b"text", &Parameters::default(), &|_| true).expect_err("it is a text");
    assert_eq!(
        error.to_string(),
        "`p.wasm` is no policy: it is a text file, expected a WebAssembly component"
    );
}

#[test]
fn it_is_told_what_comes_next_and_stops_when_it_is_to() {
    let told = RefCell::new(Vec::new());
    let look = |progress: Option<BenchProgress>| {
        let mut told = told.borrow_mut();
        if let Some(progress) = progress {
            told.push((progress.done, progress.what));
        }
        told.len() < 4
    };
    let bench = measure(DELAY, &Parameters::default(), &look).expect("it can be measured");
    assert!(bench.stopped);
    let told = told.into_inner();
    let first: Vec<_> = told.iter().take(4).map(|(_, what)| what.as_str()).collect();
    let expected = [
        "loading p.wasm",
        "loading (embedded default)",
        "delay: 1 calls, 4 keys",
        "default: 1 calls, 4 keys",
    ];
    assert_eq!(first, expected);
    assert_eq!(told.last().map(|(done, _)| *done), Some(13));
    assert!(bench.policy.by_calls[0].cost.is_ok());
    assert_eq!(bench.default.by_calls[0].cost, Err(Cut::Stopped));
    assert_eq!(bench.policy.by_keys[1].cost, Err(Cut::Stopped));
}
