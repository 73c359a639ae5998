//! One policy in four languages, `policies/delay` and its siblings: all of them decide alike and refuse alike.
//!
//! The components in Rust and C are checked in. Those in JavaScript and Python are other bytes with each build:
//! `jp-policy build policies/delay-{js,python} tests/languages/broken-{js,python} --out OUT --no-test` builds them, and with
//! `JP_POLICY_LANGUAGES=OUT` they are tested too. Without it they are left out, and the tests say so.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use jp_policy_config::Source;
use jp_policy_core::policy::{Arguments, FaultKind, Policy, PolicyFactory as _, Refusal};
use jp_policy_guest::{
    Batch, Call, CallId, Decision, Field, Instant, Key, KeyIndex, Problem, Settings, State, Usage,
    Value,
};
use jp_policy_harness::{Scenario, judge, simulate};
use jp_policy_wasm::{Budget, Component, Engine};
use proptest::prelude::*;

const SECOND: Instant = 1_000_000_000;

struct Language {
    name: &'static str,
    policy: Component,
}

/// Where the components that are not checked in are, if they are.
fn built() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let folder = env::var_os("JP_POLICY_LANGUAGES").filter(|folder| !folder.is_empty());
        if folder.is_none() {
            eprintln!(
                "JavaScript and Python are left out: build them with `jp-policy build policies/delay-{{js,python}} tests/languages/broken-{{js,python}} --out OUT --no-test`, and set JP_POLICY_LANGUAGES=OUT"
            );
        }
        // Cargo runs tests in the package's folder; the person who set the variable is in the workspace's.
        folder.map(|folder| policies().join("..").join(folder))
    });
    built.as_deref()
}

fn policies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../policies")
}

fn load(path: &Path) -> Component {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| {
        // Python alone takes half a minute to compile here, so what is compiled is kept beside what was built.
        let engine =
            built().map_or_else(Engine::new, |built| Engine::with_cache(&built.join("compiled")));
        engine.expect("an engine can be made")
    });
    // The clock is no part of what is tested: a busy machine lets a scripting guest wait longer than the default allows.
    let budget = Budget { time: Duration::from_mins(1), ..Budget::default() };
    Component::load(engine, path, None, budget).expect("the component loads")
}

fn languages() -> &'static [Language] {
    static LANGUAGES: OnceLock<Vec<Language>> = OnceLock::new();
    LANGUAGES.get_or_init(|| {
        let mut paths =
            vec![("Rust", policies().join("delay.wasm")), ("C", policies().join("delay-c.wasm"))];
        if let Some(built) = built() {
            paths.push(("JavaScript", built.join("delay-js.wasm")));
            paths.push(("Python", built.join("delay-python.wasm")));
        }
        paths.into_iter().map(|(name, path)| Language { name, policy: load(&path) }).collect()
    })
}

#[test]
fn every_scenario_comes_out_in_every_language() {
    let folder = fs::read_dir(policies().join("delay/scenarios")).expect("the folder is there");
    let mut paths: Vec<PathBuf> =
        folder.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are scenarios");
    let mut failed = Vec::new();
    for path in paths {
        let scenario = Scenario::read(&path).unwrap_or_else(|error| panic!("{error}"));
        for Language { name, policy } in languages() {
            for mismatch in judge(&scenario, policy) {
                failed.push(format!("{} ({name}) {mismatch}", path.display()));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_language_has_the_same_name() {
    for Language { name, policy } in languages() {
        assert_eq!(policy.identity().name, "delay", "{name}");
    }
}

/// A policy for one key with these fields.
fn configured(language: &Language, fields: Vec<Field>) -> Result<Box<dyn Policy>, Vec<Problem>> {
    let keys = vec![Key { name: "api".to_owned(), limit: 1, fields }];
    let settings = Settings { tools: vec![], keys, options: vec![] };
    language.policy.instantiate(&settings, Arguments::default()).map_err(|refusal| match refusal {
        Refusal::Settings(problems) => problems,
        other => panic!("{}: {other}", language.name),
    })
}

fn field(name: &str, value: Value) -> Field {
    Field { name: name.to_owned(), value }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn parked(key: Option<KeyIndex>) -> Call {
    Call { id: 0, parent: 0, tool: 0, key, state: State::Parked, since: 0 }
}

fn usage(last: Option<Instant>) -> Usage {
    Usage {
        key: 0,
        running: 0,
        waiting: 1,
        ended: 0,
        failed: 0,
        last_release: last,
        last_end: last,
    }
}

#[test]
fn every_language_reads_durations_alike() {
    const DELAY: &str = "expected a duration like \"2s\" or \"250ms\" (a whole number and ns, us, ms, s, m or h), or a number of seconds";
    const NEGATIVE: &str = "a pause can't be negative";
    const TOO_LONG: &str = "a pause can't be longer than 584 years";
    let digits = "9".repeat(5000);
    let cases = [
        (text("0s"), Ok(0)),
        (text("7ns"), Ok(7)),
        (text("7us"), Ok(7_000)),
        (text("250ms"), Ok(SECOND / 4)),
        (text("007s"), Ok(7 * SECOND)),
        (text("1m"), Ok(60 * SECOND)),
        (text("1000000h"), Ok(3_600_000_000 * SECOND)),
        (text(&format!("{}1s", "0".repeat(5000))), Ok(SECOND)),
        (Value::Integer(0), Ok(0)),
        (Value::Integer(2), Ok(2 * SECOND)),
        (Value::Number(1.5), Ok(1_500_000_000)),
        (Value::Number(0.1), Ok(100_000_000)),
        (Value::Number(0.000_000_000_6), Ok(1)),
        (Value::Number(0.000_000_000_4), Ok(0)),
        (Value::Number(-0.0), Ok(0)),
        (text(""), Err(DELAY)),
        (text("2"), Err(DELAY)),
        (text("s"), Err(DELAY)),
        (text("-"), Err(DELAY)),
        (text("--2s"), Err(DELAY)),
        (text("+2s"), Err(DELAY)),
        (text("2 s"), Err(DELAY)),
        (text(" 2s"), Err(DELAY)),
        (text("2s\n"), Err(DELAY)),
        (text("2S"), Err(DELAY)),
        (text("1.5s"), Err(DELAY)),
        (text("2sec"), Err(DELAY)),
        (text("1m30s"), Err(DELAY)),
        (text("٢s"), Err(DELAY)),
        (text("2µs"), Err(DELAY)),
        (Value::Number(f64::NAN), Err(DELAY)),
        (Value::Flag(true), Err(DELAY)),
        (Value::Json("[2]".to_owned()), Err(DELAY)),
        (text("-2s"), Err(NEGATIVE)),
        (text(&format!("-{digits}s")), Err(NEGATIVE)),
        (Value::Integer(-1), Err(NEGATIVE)),
        (Value::Integer(i64::MIN), Err(NEGATIVE)),
        (Value::Number(-1e-300), Err(NEGATIVE)),
        (Value::Number(f64::NEG_INFINITY), Err(NEGATIVE)),
        (text("18446744073709551616ns"), Err(TOO_LONG)),
        (text("99999999h"), Err(TOO_LONG)),
        (text(&format!("{digits}s")), Err(TOO_LONG)),
        (Value::Integer(i64::MAX), Err(TOO_LONG)),
        (Value::Integer(18_446_744_074), Err(TOO_LONG)),
        (Value::Number(18_446_744_073.709_553), Err(TOO_LONG)),
        (Value::Number(f64::INFINITY), Err(TOO_LONG)),
    ];
    for language in languages() {
        for (value, expected) in &cases {
            let read = configured(language, vec![field("delay", value.clone())]);
            let read = read.map(|mut policy| {
                let (keys, calls) = (vec![usage(Some(0))], vec![parked(Some(0))]);
                let batch = Batch { now: 0, running: 0, keys, calls };
                policy.release(&batch).expect("it decides").wake_at.unwrap_or(0)
            });
            let expected = expected
                .map_err(|message: &str| vec![Problem::new(Some(0), Some("delay"), message)]);
            assert_eq!(read, expected, "{}: {value:?}", language.name);
        }
    }
}

#[test]
fn every_language_takes_the_longest_pause_there_is() {
    for language in languages() {
        let longest = vec![field("delay", text("18446744073709551615ns"))];
        let mut policy = configured(language, longest).expect("it fits");
        let (keys, calls) = (vec![usage(Some(SECOND))], vec![parked(Some(0))]);
        let batch = Batch { now: SECOND, running: 0, keys, calls };
        let decision = policy.release(&batch).expect("it decides");
        // JavaScript has no number between this and 2^64.
        let never = u64::MAX - 2047;
        assert!(
            decision.release.is_empty() && decision.wake_at >= Some(never),
            "{}: {decision:?}",
            language.name
        );
    }
}

#[test]
fn rust_says_why_a_call_waits_and_the_others_leave_it_to_the_host() {
    let batch = Batch {
        now: 2 * SECOND,
        running: 0,
        keys: vec![usage(Some(3 * SECOND / 2))],
        calls: vec![parked(Some(0))],
    };
    for language in languages() {
        let mut policy =
            configured(language, vec![field("delay", text("2s"))]).expect("it is taken");
        let reason = (language.name == "Rust")
            .then(|| "key api pauses 2s after the last end, until 3.5s".to_owned());
        assert_eq!(policy.explain(&batch, 0), reason, "{}", language.name);
    }
}

/// Fields that are taken: pauses of quarters of a second, so that they often end together.
fn fields() -> impl Strategy<Value = Vec<Field>> {
    let delay = proptest::option::weighted(0.8, 0_i64..6);
    (delay, proptest::option::of(any::<bool>())).prop_map(|(delay, start)| {
        let Some(quarters) = delay else {
            return vec![];
        };
        let delay = field("delay", text(&format!("{}ms", quarters * 250)));
        let from = start.map(|start| field("from", text(if start { "start" } else { "end" })));
        std::iter::once(delay).chain(from).collect()
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let key = (1_u32..4, fields());
    proptest::collection::vec(key, 1..4).prop_map(|keys| {
        let keys = (0..).zip(keys).map(|(n, (limit, fields))| {
            let n: u32 = n;
            Key { name: format!("key {n}"), limit, fields }
        });
        Settings { tools: vec![], keys: keys.collect(), options: vec![] }
    })
}

/// Questions of any kind, those that the host would not ask among them: both views, keys that are not shown, too much running.
fn batch() -> impl Strategy<Value = Batch> {
    let ago = || proptest::option::weighted(0.8, 0_u64..5);
    let usage = (proptest::bool::weighted(0.8), 0_u32..4, ago(), ago());
    let call = (proptest::option::weighted(0.8, 0_u32..3), 0_u8..6);
    let usages = proptest::collection::vec(usage, 3);
    let calls = proptest::collection::vec(call, 0..12);
    (0_u64..16, usages, calls).prop_map(|(now, usages, calls)| {
        let at = |ago: Option<u64>| ago.map(|ago| now.saturating_sub(ago) * SECOND / 4);
        let keys = (0..).zip(usages).filter(|(_, (shown, ..))| *shown);
        let keys = keys.map(|(key, (_, running, last_release, last_end))| {
            let (last_release, last_end) = (at(last_release), at(last_end));
            Usage { key, running, waiting: 1, ended: 0, failed: 0, last_release, last_end }
        });
        let calls = (0..).zip(calls).map(|(n, (key, state))| {
            let state = match state {
                0 => State::Pending,
                1 => State::Running,
                _ => State::Parked,
            };
            let id: CallId = 3 * n + 1;
            Call { id, parent: id, tool: 0, key, state, since: 0 }
        });
        Batch { now: now * SECOND / 4, running: 0, keys: keys.collect(), calls: calls.collect() }
    })
}

/// The same, without the keys that the settings do not have.
fn known(batch: &Batch, keys: usize) -> Batch {
    let has = |key: KeyIndex| (key as usize) < keys;
    Batch {
        keys: batch.keys.iter().filter(|usage| has(usage.key)).copied().collect(),
        calls: batch.calls.iter().filter(|call| call.key.is_none_or(has)).copied().collect(),
        ..*batch
    }
}

proptest! {
    #[test]
    fn every_language_decides_alike(settings in settings(), batches in proptest::collection::vec(batch(), 1..8)) {
        let batches: Vec<Batch> = batches.iter().map(|batch| known(batch, settings.keys.len())).collect();
        let decisions = |language: &Language| -> Vec<Result<Decision, FaultKind>> {
            let policy = language.policy.instantiate(&settings, Arguments::default());
            let mut policy = policy.expect("the settings are taken");
            batches.iter().map(|batch| policy.release(batch)).collect()
        };
        let expected = decisions(&languages()[0]);
        for language in &languages()[1..] {
            prop_assert_eq!(&decisions(language), &expected, "{}", language.name);
        }
    }
}

/// What is made of an exception is the language's choice, and the host tells the two apart.
#[test]
fn an_exception_is_an_error_in_javascript_and_a_trap_in_python() {
    let Some(built) = built() else {
        return;
    };
    let scenario = r#"
        [conversation.tools.t]
        concurrency = 1
        [[call]]
        name = "A"
        tool = "t"
    "#;
    let scenario = Scenario::parse(&Source::new("scenario.toml", scenario)).expect("a scenario");
    let faults = ["broken-js.wasm", "broken-python.wasm"].map(|file| {
        let simulation = simulate(&scenario, &load(&built.join(file))).expect("it comes to an end");
        let faults = simulation.record.faults.iter();
        faults.map(|fault| (fault.kind.word(), fault.to_string())).collect::<Vec<_>>()
    });
    let expected = [
        (
            "error",
            "policy \"broken\" answered with an error: cannot read property 'of' of undefined",
        ),
        ("trap", "policy \"broken\" trapped: wasm trap: wasm `unreachable` instruction executed"),
    ];
    assert_eq!(faults, expected.map(|(kind, message)| vec![(kind, message.to_owned())]));
}
