//! Any memory as a policy's answer: it is read or is a fault, limits hold, and every call has its response.
//!
//! The component answers each question with a result area whose bytes are the input, in a memory that is filled with the input.
#![no_main]

use std::{sync::OnceLock, time::Duration};

use jp_policy_config::Source;
use jp_policy_harness::{Scenario, simulate};
use jp_policy_wasm::{Budget, Component, Engine};
use libfuzzer_sys::fuzz_target;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Bytes of the result area and of what may stand behind it.
const INPUT: usize = 4096;

/// A byte that stands nowhere else so often in a row.
const MARK: u8 = 0xa7;

/// The component with marks where the input goes, and their place.
fn template() -> &'static (Vec<u8>, usize) {
    static TEMPLATE: OnceLock<(Vec<u8>, usize)> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let text =
            include_str!("answer.wat").replace("INPUT", &format!("\\{MARK:02x}").repeat(INPUT));
        let mut module = wat::parse_str(&text).expect("the module is well-formed");
        let mut resolve = Resolve::default();
        let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit/jp-plugin-0.1.0");
        let (package, _) = resolve.push_path(contract).expect("the contract parses");
        let world = resolve
            .select_world(&[package], Some("release-policy-plugin"))
            .expect("the world is there");
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
            .expect("it can be embedded");
        let mut encoder = ComponentEncoder::default().module(&module).expect("a module");
        let component = encoder.encode().expect("it becomes a component");
        let place =
            component.windows(INPUT).position(|window| window.iter().all(|byte| *byte == MARK));
        (component, place.expect("the marks are in it"))
    })
}

fuzz_target!(|data: &[u8]| {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| Engine::new().expect("an engine"));
    let (component, place) = template();
    let mut bytes = component.clone();
    bytes[*place..*place + INPUT].fill(0);
    for (byte, new) in bytes[*place..*place + INPUT].iter_mut().zip(data) {
        *byte = *new;
    }
    let budget = Budget { time: Duration::from_millis(50), memory: 4 << 20, ..Budget::default() };
    let component =
        Component::from_bytes(engine, "fuzzed", &bytes, budget).expect("it fits the contract");
    for guard in ["limit", "order"] {
        let scenario = format!(
            "
            conversation.release.guard = \"{guard}\"
            [conversation.tools.t]
            concurrency = 2
            [conversation.tools.u]
            [[call]]
            name = \"c\"
            tool = \"t\"
            copies = 4
            [[call]]
            name = \"u\"
            tool = \"u\"
            "
        );
        let scenario = Scenario::parse(&Source::new("s.toml", scenario)).expect("a scenario");
        let simulation = simulate(&scenario, &component).expect("it comes to an end");
        assert!(
            simulation.record.calls.iter().all(|call| call.settled.is_some()),
            "a call was lost"
        );
        assert!(
            simulation.record.calls.iter().all(|call| call.runs.len() == 1),
            "a call ran twice or never"
        );
        assert!(simulation.record.peaks[0] <= 2, "the limit was exceeded");
        assert!(simulation.record.faults.len() <= 1, "a fault is reported once");
    }
});
