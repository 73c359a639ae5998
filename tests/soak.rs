//! Random batches of real processes, with random cancels and restarts, and nothing lost or left behind.
//!
//! The tools tell themselves who ran when: each holds one of its key's lock files for as long as anything of it lives, and says so
//! when there is none left for it. After each batch every call has exactly one response, in written order and of a kind that fits
//! what it does, and no process, file or open file is left.
//!
//! In a plain test the batches are always the same. With `SOAK_SECONDS` it lives through others, for so long, and says its seed:
//! `SOAK_SEED=... SOAK_BATCHES=... cargo test -p jp-policy-tests --test soak` plays the same batches again.

#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use jp_policy_config::{Config, Source};
use jp_policy_core::response::Status;
use jp_policy_core::{
    batch::Carried,
    policy::{Native, PolicyFactory},
    request::Request,
    scheduler::{Event, EventKind},
};
use jp_policy_runtime::{
    coordinator::{AutoPrompter, Coordinator, Finished, Handle, Observer, Setup, Snapshot},
    tools::{LocalTools, Workspace},
};
use jp_policy_wasm::{Component, Engine};
use serde_json::json;

/// Batches that are lived through at the same time: most of what they do is waiting.
const SIDE_BY_SIDE: u64 = 24;

/// What a plain test lives through: these batches, which take about as long as the other long tests.
const SEED: u64 = 20_261_203;
const BATCHES: u64 = 150;

/// How long one run of a call may take: what hangs ends then.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Of how many calls one may take longer although it does not hang: the machine may be busy with something else.
const LATE: u64 = 10;

/// Keys: name and limit; the last tool has none.
const KEYS: [(&str, usize); 3] = [("one", 1), ("two", 2), ("three", 3)];

/// What a call does, and how it may come out where nobody cancels.
const KINDS: &[(&str, &[Status])] = &[
    ("ok", &[Status::Ok]),
    ("ok", &[Status::Ok]),
    ("slow", &[Status::Ok]),
    ("fail", &[Status::Error]),
    ("hang", &[Status::Error]),
    ("ask", &[Status::Ok]),
    ("ask-nobody", &[Status::Error]),
    ("deaf", &[Status::Error]),
    ("children", &[Status::Ok]),
    ("megabytes", &[Status::Ok]),
    ("too-much", &[Status::Error]),
    ("segv", &[Status::Error]),
    ("kill", &[Status::Error]),
    ("skip", &[Status::NotRun]),
    ("nobody", &[Status::Error]),
];

/// `$1` what to do, `$2` key, `$3` limit, `$4` call, `$5` the answer to its question.
const TOOL: &str = r#"
held=
n=0
while [ "$3" != 0 ] && [ $n -lt "$3" ] && [ -z "$held" ]; do
    exec 9>"lock.$2.$n"
    if flock -n 9; then held=1; fi
    n=$((n + 1))
done
if [ "$3" != 0 ] && [ -z "$held" ]; then echo "$4" >> excess; fi
case "$1" in
    ok) echo "$4" ;;
    slow) sleep 0.03; echo "$4" ;;
    fail) echo "no $4" >&2; exit 3 ;;
    hang) sleep 60 ;;
    ask) if [ "$5" = null ]; then
            echo '{"type":"needs_input","question":{"id":"q","text":"?","answer_type":"Text","default":"yes"}}'
         else echo "$4"; fi ;;
    ask-nobody) echo '{"type":"needs_input","question":{"id":"q","text":"?","answer_type":"Text"}}' ;;
    deaf) trap '' TERM; sleep 60 & while :; do sleep 0.1; done ;;
    children) sleep 60 & (sleep 60; echo late) & echo "$4" ;;
    megabytes) echo "$4"; head -c 3000000 /dev/zero | tr '\0' x ;;
    too-much) head -c 20000000 /dev/zero | tr '\0' x ;;
    segv) kill -SEGV $$ ;;
    kill) kill -KILL $$ ;;
esac
"#;

fn number<T: FromStr>(name: &str) -> Option<T> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("`{name}` is {text:?}, expected a number")))
}

#[test]
fn random_batches_lose_nothing_and_leave_nothing() {
    let seconds: Option<u64> = number("SOAK_SECONDS");
    // A plain test does the same every time; who asks for a soak gets what nobody has seen yet.
    let fresh = || seconds.map_or(SEED, |_| fastrand::u64(..));
    let seed: u64 = number("SOAK_SEED").unwrap_or_else(fresh);
    let most = if seconds.is_some() { u64::MAX } else { BATCHES };
    let batches: u64 = number("SOAK_BATCHES").unwrap_or(most);
    let time = seconds.map_or(Duration::MAX, Duration::from_secs);
    println!("SOAK_SEED={seed}");
    let engine = Engine::new().expect("an engine");
    let component = Component::embedded(&engine).expect("the default component loads");
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let start = Instant::now();
    // Whatever is opened once and kept is open now.
    live(&runtime, &component, folder.path(), seed, u64::MAX);
    let open = open_files();
    let (next, calls, late) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while start.elapsed() < time {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= batches {
                        break;
                    }
                    let lived = live(&runtime, &component, folder.path(), seed, n);
                    calls.fetch_add(lived.calls, Ordering::Relaxed);
                    late.fetch_add(lived.late, Ordering::Relaxed);
                }
            });
        }
    });
    let lived = next.into_inner().min(batches);
    let (calls, late) = (calls.into_inner(), late.into_inner());
    println!("{lived} batches of {calls} calls in {:?}; {late} took too long", start.elapsed());
    assert!(late * LATE <= calls, "{late} of {calls} calls took too long, which do not hang");
    assert_eq!(open_files(), open, "open files, after {lived} batches of SOAK_SEED={seed}");
    assert!(lived > 0);
}

/// A batch, what is done to it, and what has to be true of it afterwards.
fn live(
    runtime: &tokio::runtime::Runtime,
    component: &Component,
    folder: &Path,
    seed: u64,
    n: u64,
) -> Lived {
    let name = format!("batch {n} of SOAK_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed.wrapping_add(n));
    let folder = folder.join(n.to_string());
    fs::create_dir(&folder).expect("a folder");
    let plan = Plan::random(&mut random);
    let rules = Native::rules();
    let factory: &dyn PolicyFactory = if random.bool() { component } else { &rules };
    let config = Config::from_sources(&[Source::new("tools.toml", tools())]).expect("it holds");
    let workspace = Workspace { root: folder.clone(), ..Workspace::default() };
    let setup = Setup {
        config: &config,
        tools: Arc::new(LocalTools::new(&config, workspace)),
        factory,
        prompter: Arc::new(AutoPrompter { approve: true }),
        timeout: Some(TIMEOUT),
        carried: Carried::default(),
    };
    let finished = runtime.block_on(async {
        let mut coordinator = Coordinator::new(setup).expect("the rules take everything");
        let mut meddler =
            Meddler { handle: coordinator.handle(), plan: plan.meddling.clone(), events: 0 };
        let late = plan.late.then(|| coordinator.submitter());
        let (first, rest) =
            plan.calls.split_at(if plan.late { plan.calls.len() / 2 } else { plan.calls.len() });
        if let Some(late) = late {
            for call in rest {
                late.submit(call.request());
            }
        }
        let run = coordinator.run(first.iter().map(Call::request).collect(), &mut meddler);
        // Nothing in a batch takes longer than a few timeouts and graces in a row.
        tokio::time::timeout(Duration::from_mins(2), run)
            .await
            .unwrap_or_else(|_| panic!("{name} does not end"))
    });
    let late = check(&name, &plan, &finished, &folder);
    fs::remove_dir_all(&folder).expect("it can be removed");
    Lived { calls: plan.calls.len() as u64, late }
}

/// A batch that was lived through.
struct Lived {
    calls: u64,
    /// Calls that took too long although they do not hang.
    late: u64,
}

/// Checks everything; gives how many calls took too long although they do not hang.
fn check(name: &str, plan: &Plan, finished: &Finished, folder: &Path) -> u64 {
    let mut late = 0;
    let ids: Vec<&str> = finished.responses.iter().map(|response| &*response.id).collect();
    let written: Vec<&str> = plan.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, written, "{name}: one response a call, in written order");
    for (response, call) in finished.responses.iter().zip(&plan.calls) {
        let fits = call.right.contains(&response.status)
            || (plan.cancels() && response.status == Status::Cancelled);
        let too_long = response.content == format!("tool `{}` did not end within 2s", call.tool);
        assert!(
            fits || too_long,
            "{name}: {} is {:?}: {}",
            call.kind,
            response.status,
            response.content
        );
        late += u64::from(!fits);
        if response.status == Status::Ok {
            let text = response.text().expect("it can be read");
            let (length, expected) = (text.len(), format!("{}\n", call.id));
            assert!(text.starts_with(&expected), "{name}: {} says {:?}", call.id, response.content);
            let more = if call.kind == "megabytes" { 3_000_000 } else { 0 };
            assert_eq!(length, expected.len() + more, "{name}: {} is whole", call.id);
        }
    }
    let excess = fs::read_to_string(folder.join("excess")).unwrap_or_default();
    assert_eq!(excess, "", "{name}: they ran over the limit");
    for (key, peak) in finished.record.peaks_by_key() {
        let limit = KEYS.iter().find(|(name, _)| *name == key).map_or(0, |(_, limit)| *limit);
        assert!(peak as usize <= limit, "{name}: key {key} has a peak of {peak}");
    }
    assert_eq!(finished.record.faults.len(), 0, "{name}");
    let left = processes_in(folder);
    assert!(left.is_empty(), "{name}: processes are left: {left:?}");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("it can be read").file_name());
    let files: BTreeSet<String> = files.map(|file| file.to_string_lossy().into_owned()).collect();
    let strange: Vec<&String> = files.iter().filter(|file| !file.starts_with("lock.")).collect();
    assert!(strange.is_empty(), "{name}: files are left: {strange:?}");
    late
}

/// The tools: one for each key and each kind, and one without a key.
fn tools() -> String {
    let keys = KEYS.iter().copied().chain([("none", 0)]);
    let tool = |(key, limit): (&str, usize)| {
        let concurrency = match limit {
            0 => String::new(),
            limit => format!("concurrency = {{ key = '{key}', limit = {limit} }}"),
        };
        format!(
            r"
            [conversation.tools.{key}]
            run = 'unattended'
            {concurrency}
            command = {{ program = 'sh', args = ['-c', '''{TOOL}''', 'sh', '{{{{tool.arguments.do}}}}', '{key}', '{limit}', '{{{{tool.arguments.id}}}}', '{{{{tool.answers.q}}}}'] }}
            [conversation.tools.{key}_skip]
            run = 'skip'
            {concurrency}
            "
        )
    };
    keys.map(tool).collect()
}

struct Call {
    id: String,
    tool: String,
    kind: &'static str,
    right: &'static [Status],
}

impl Call {
    fn request(&self) -> Request {
        let arguments = json!({ "do": self.kind, "id": self.id });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        Request {
            id: self.id.as_str().into(),
            name: self.tool.as_str().into(),
            arguments: Ok(arguments.into()),
        }
    }
}

/// What is done to a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meddling {
    Cancel,
    Kill,
    Restart,
}

struct Plan {
    calls: Vec<Call>,
    /// Whether half of the calls come in one by one.
    late: bool,
    /// What is done at which event.
    meddling: Vec<(usize, Meddling)>,
}

impl Plan {
    fn random(random: &mut fastrand::Rng) -> Self {
        let length = random.usize(1..=14);
        let calls = (0..length).map(|n| {
            let (kind, right) = KINDS[random.usize(..KINDS.len())];
            let key = random.choice(["one", "two", "three", "none"]).unwrap_or("none");
            let tool = match kind {
                "skip" => format!("{key}_skip"),
                "nobody" => "nobody".to_owned(),
                _ => key.to_owned(),
            };
            Call { id: format!("call_{n}"), tool, kind, right }
        });
        let calls: Vec<Call> = calls.collect();
        // Half of the batches are left alone.
        let meddlings = random.usize(..4).saturating_sub(1);
        let meddling = (0..meddlings).map(|_| {
            let what = [Meddling::Cancel, Meddling::Kill, Meddling::Restart];
            (random.usize(..8 * length), what[random.usize(..what.len())])
        });
        Self { meddling: meddling.collect(), calls, late: random.u8(..4) == 0 }
    }

    fn cancels(&self) -> bool {
        self.meddling.iter().any(|(_, what)| *what != Meddling::Restart)
    }
}

/// Does it.
struct Meddler {
    handle: Handle,
    plan: Vec<(usize, Meddling)>,
    events: usize,
}

impl Observer for Meddler {
    fn event(&mut self, event: &Event, _: &Snapshot<'_>) {
        if matches!(event.kind, EventKind::Decided(_)) {
            return;
        }
        self.events += 1;
        for (_, what) in self.plan.iter().filter(|(at, _)| *at == self.events) {
            match what {
                Meddling::Cancel => self.handle.cancel(),
                Meddling::Kill => self.handle.kill(),
                Meddling::Restart => self.handle.restart(),
            }
        }
    }
}

/// The processes that run in a folder, by what they are called.
fn processes_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("there are processes");
    let processes = entries.flatten().map(|entry| entry.path());
    let here =
        processes.filter(|path| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == folder));
    // One that has just ended has no name any more.
    here.filter_map(|path: PathBuf| fs::read_to_string(path.join("cmdline")).ok())
        .filter(|line| !line.is_empty())
        .map(|line| line.replace('\0', " "))
        .collect()
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").expect("they can be counted").count()
}
