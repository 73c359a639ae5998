//! Any text as configuration and as scenario: read or refused, and what is refused points at a place in the text.
#![no_main]

use jp_policy::{
    config::{Config, Source},
    harness::Scenario,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let source = Source::new("fuzzed.toml", text);
    match Config::from_sources(&[source.clone(), source.clone()]) {
        Ok(config) => {
            let settings = config.settings();
            assert!(settings.keys.iter().all(|key| key.limit > 0));
        }
        Err(error) => {
            assert!(!error.0.is_empty());
            for problem in &error.0 {
                assert!(!problem.to_string().contains('\u{1b}'), "{problem:?}");
            }
        }
    }
    drop(Scenario::parse(&source));
});
