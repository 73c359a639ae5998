//! Any bytes as a component: they load or are refused, and a component that loads serves a batch within its budget.
#![no_main]

use std::{sync::OnceLock, time::Duration};

use jp_policy_config::Source;
use jp_policy_harness::{Scenario, simulate};
use jp_policy_wasm::{Budget, Component, DEFAULT, Engine};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| Engine::new().expect("an engine"));
    let budget = Budget {
        fuel: 1_000_000,
        start_fuel: 1_000_000,
        time: Duration::from_millis(50),
        memory: 4 << 20,
        ..Budget::default()
    };
    // Random bytes are hardly ever a component: most inputs change the default one instead. Two bytes say where, the rest is
    // laid over it.
    let laid_over;
    let bytes = match data {
        [b'\0', ..] | [] => data,
        [_, low, high, over @ ..] => {
            let mut bytes = DEFAULT.to_vec();
            let at = usize::from(u16::from_le_bytes([*low, *high])) % bytes.len();
            for (byte, new) in bytes[at..].iter_mut().zip(over) {
                *byte = *new;
            }
            laid_over = bytes;
            &laid_over
        }
        _ => data,
    };
    if let Ok(component) = Component::from_bytes(engine, "fuzzed", bytes, budget) {
        let scenario = "
            [conversation.tools.t]
            concurrency = 1
            [[call]]
            name = \"c\"
            tool = \"t\"
            copies = 3
        ";
        let scenario = Scenario::parse(&Source::new("s.toml", scenario)).expect("a scenario");
        if let Ok(simulation) = simulate(&scenario, &component) {
            assert!(
                simulation.record.calls.iter().all(|call| call.settled.is_some()),
                "a call was lost"
            );
            assert!(simulation.record.peaks[0] <= 1, "the limit was exceeded");
        }
    }
});
