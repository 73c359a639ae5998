//! Any text as configuration in each format, as single value and as scenario: read or refused, and what is refused points at a place
//! in the text.
#![no_main]

use jp_policy_config::{Config, ConfigError, Diagnostic, Layer, Layers, Source};
use jp_policy_harness::Scenario;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for path in ["fuzzed.toml", "fuzzed.json", "fuzzed.yaml"] {
        let source = Source::new(path, text);
        let mut layers = Layers::default();
        layers.source(Layer::Workspace, &source).source(Layer::Config, &source);
        build(layers);
    }
    let known = Source::new(
        "known.toml",
        "[conversation.tools.a_b]\ncommand = 'x'\nconcurrency = 1\n[conversation.tools.'a.b']\ncommand = { program = 'x', args = [] }\n",
    );
    // Each costs as much as a configuration: a long text would spend its time here alone.
    for line in text.lines().take(32) {
        let mut layers = Layers::default();
        layers.source(Layer::Workspace, &known);
        // A path would be looked for on the disk.
        if line.contains('=') && !line.starts_with('@') {
            layers.cfg(line);
        }
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        layers.environment([
            (format!("JP_CFG_{name}"), value.to_owned()),
            (format!("JP_CFG_CONVERSATION_TOOLS_{name}"), value.to_owned()),
        ]);
        drop(layers.explain(line));
        drop(layers.explain("tools.a_b.concurrency"));
        build(layers);
    }
    drop(Scenario::parse(&Source::new("fuzzed.toml", text)));
});

fn build(layers: Layers) {
    match layers.build() {
        Ok(config) => {
            check(&config.warnings);
            let settings = config.settings();
            assert!(settings.keys.iter().all(|key| key.limit > 0));
            // What holds still holds when it is asked again.
            assert!(Config::check(&config).len() <= config.warnings.len());
        }
        Err(ConfigError(problems)) => {
            assert!(!problems.is_empty());
            check(&problems);
        }
    }
}

fn check(problems: &[Diagnostic]) {
    for problem in problems {
        assert!(!problem.to_string().contains('\u{1b}'), "{problem:?}");
        for (place, _) in &problem.labels {
            let text = place.source.text();
            assert!(place.span.start <= place.span.end && place.span.end <= text.len(), "{problem:?}");
            assert!(text.is_char_boundary(place.span.start) && text.is_char_boundary(place.span.end), "{problem:?}");
        }
    }
}
