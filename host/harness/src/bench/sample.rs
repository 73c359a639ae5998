//! A measurement with numbers that are made up, for the tests of what shows it.

use std::time::Duration;

use jp_policy_core::policy::{FaultKind, Identity};
use jp_policy_guest::View;

use super::{Bench, Cost, Cut, Loading, Measured, Plan, Row, Timing};

fn timing(micros: u64) -> Timing {
    Timing { time: Duration::from_micros(micros), samples: 9 }
}

fn row(calls: u32, keys: u32, shown: usize, nanos: u64) -> Row {
    let cost = Cost {
        fuel: nanos * 3,
        most_fuel: nanos * 3,
        time: Duration::from_nanos(nanos),
        asked: 2_000,
        memory: 196_608,
        released: shown.min(16),
    };
    Row { calls, keys, shown, cost: Ok(cost) }
}

fn measured(name: &str, view: View, [by_calls, by_keys]: [Vec<Row>; 2], micros: u64) -> Measured {
    let loading = Loading {
        bytes: 10_000 + micros,
        compile: Some(timing(900 * micros)),
        cold: timing(1_000 * micros),
        cached: timing(10 * micros),
        instance: Some(timing(micros)),
        resident: Some(micros << 12),
    };
    let identity = Identity {
        name: name.to_owned(),
        digest: Some(format!("sha256:{}", "0123456789abcdef".repeat(4))),
    };
    Measured { identity, view, loading, by_calls, by_keys }
}

/// A policy with the full view, whose cost grows with the batch, and which fails with 10,000 calls.
pub fn sample() -> Bench {
    let plan = Plan { by_keys: vec![1, 16], ..Plan::full() };
    let fault = Cut::Fault(FaultKind::OutOfFuel { budget: 500_000_000 });
    let cut = |calls, cut| Row { calls, keys: 4, shown: 0, cost: Err(cut) };
    let mut slow = row(1_000, 16, 1_000, 1_500_000_000);
    if let Ok(cost) = &mut slow.cost {
        cost.asked = 1;
        cost.most_fuel += 1_234;
    }
    let policy = [
        vec![
            row(16, 4, 16, 5_000),
            row(100, 4, 100, 30_000),
            row(1_000, 4, 1_000, 310_000),
            Row { shown: 10_000, ..cut(10_000, fault) },
            cut(100_000, Cut::AfterFault { calls: 10_000, keys: 4 }),
        ],
        vec![row(1_000, 1, 1_000, 300_000), slow],
    ];
    let default = [
        [16, 100, 1_000, 10_000, 100_000].map(|calls| row(calls, 4, 16, 2_400)).to_vec(),
        vec![row(1_000, 1, 4, 900), Row { cost: Err(Cut::Stopped), ..row(1_000, 16, 64, 0) }],
    ];
    Bench {
        plan,
        policy: measured("a policy <of> mine & others", View::Full, policy, 42),
        default: measured("default", View::Front, default, 25),
        stopped: true,
    }
}
