//! What can be known of a policy without a batch: what it is made of, whether it loads, what it takes and what it costs.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use jp_policy_core::{
    batch::{Batch, Carried},
    policy::{Arguments, FaultKind, PolicyFactory as _, Refusal, Spent},
};
use jp_policy_guest::{Decision, Settings, View};

use super::{
    budget::Budget,
    bytes::{compile, digest, read},
    compat::{is_wasi, wasi_hints},
    component::Component,
    engine::Engine,
    instance::Instance,
    load_error::LoadError,
    loaded::Loaded,
    metadata::Metadata,
    probe::{Accepts, Where, probe},
    versions::CONTRACTS,
};

/// What can be known of a file that may be a policy.
#[derive(Debug)]
pub struct Inspection {
    /// The file, as it was given.
    pub path: String,
    /// What it has, in bytes; none if it was not read.
    pub bytes: Option<u64>,
    /// `sha256:...`; none if it was not read.
    pub digest: Option<String>,
    /// What its bytes say, as far as they can be read; none if it is not WebAssembly.
    pub metadata: Option<Metadata>,
    /// What it imports, with what the host thinks of it.
    pub imports: Vec<Import>,
    /// Bytes of its compiled code; none if it does not compile.
    pub compiled: Option<u64>,
    /// Why it does not load.
    pub refusal: Option<LoadError>,
    /// What to do about that, beyond what the refusal says.
    pub hints: Vec<String>,
    /// What it does when it is asked; none if it does not load.
    pub policy: Option<Behaviour>,
}

/// Something that a component imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The interface; of a core module, the module.
    pub name: String,
    /// Whether it is a part of WASI.
    pub wasi: bool,
    /// Whether the host has it.
    pub offered: bool,
}

/// What a policy does when it is asked.
#[derive(Debug)]
pub struct Behaviour {
    /// Its name.
    pub name: String,
    /// The version of the contract.
    pub version: &'static str,
    /// Whether it has reasons of its own.
    pub reasons: bool,
    /// What each step cost, up to the first that failed.
    pub steps: Vec<Step>,
    /// What it was held to.
    pub budget: Budget,
    /// What it wants to see of a batch, or why it does not say.
    pub view: Result<View, Refusal>,
    /// What it said to the first question, of one parked call with a key and one without; none if it could not be configured.
    pub decision: Option<Result<Decision, FaultKind>>,
    /// The further fields of a `concurrency` table that it takes.
    pub fields: Accepts,
    /// The options that it takes.
    pub options: Accepts,
}

/// A step on the way to a policy's first decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// `start`, `name`, `configure` or `question`.
    pub name: &'static str,
    /// What it cost.
    pub spent: Spent,
    /// How many instructions it may cost.
    pub budget: u64,
    /// How long it took.
    pub took: Duration,
}

impl Inspection {
    /// Whether the policy would serve a batch as far as this can be told: it loads, and it does not fail when it is configured.
    pub fn serves(&self) -> bool {
        let behaves = |policy: &Behaviour| !matches!(policy.view, Err(Refusal::Fault(_)));
        self.policy.as_ref().is_some_and(behaves)
    }
}

/// Inspects a file under a budget. `settings` have one key, and are what the policy is configured with; `time` is how long it may
/// be asked which further fields it takes, and which values; and the same of options.
pub fn inspect(
    engine: &Engine,
    path: &Path,
    budget: Budget,
    settings: &Settings,
    time: Duration,
) -> Inspection {
    let mut inspection = Inspection {
        path: path.display().to_string(),
        bytes: None,
        digest: None,
        metadata: None,
        imports: Vec::new(),
        compiled: None,
        refusal: None,
        hints: Vec::new(),
        policy: None,
    };
    match read(path, budget) {
        Ok(bytes) => inspection.bytes(engine, &bytes, budget, settings, time),
        Err(error) => {
            if let LoadError::TooLarge { length, .. } = &error {
                inspection.bytes = Some(*length);
            }
            inspection.refusal = Some(error);
        }
    }
    inspection
}

impl Inspection {
    fn bytes(
        &mut self,
        engine: &Engine,
        bytes: &[u8],
        budget: Budget,
        settings: &Settings,
        time: Duration,
    ) {
        self.bytes = Some(bytes.len() as u64);
        self.digest = Some(digest(bytes));
        let metadata = Metadata::read(bytes);
        let imports = metadata.iter().flat_map(|metadata| &metadata.imports);
        let offered = |name: &str| CONTRACTS.iter().any(|it| it.imports().contains(&name));
        self.imports = imports
            .map(|name| Import { name: name.clone(), wasi: is_wasi(name), offered: offered(name) })
            .collect();
        self.metadata = metadata;
        let loaded = compile(engine, &self.path, bytes).and_then(|compiled| {
            let code = compiled.image_range();
            self.compiled = Some((code.end.addr() - code.start.addr()) as u64);
            Component::from_compiled(engine, self.path.clone(), bytes, &compiled, budget, CONTRACTS)
        });
        match loaded {
            Ok(component) => self.policy = Some(ask(&component, bytes, settings, time)),
            Err(error) => {
                // An incompatibility has its hints already.
                if !matches!(error, LoadError::Incompatible { .. })
                    && self.imports.iter().any(|import| import.wasi)
                {
                    self.hints = wasi_hints(bytes).into();
                }
                self.refusal = Some(error);
            }
        }
    }
}

fn ask(component: &Component, bytes: &[u8], settings: &Settings, time: Duration) -> Behaviour {
    let loaded = component.loaded();
    let configure = |settings: &Settings| {
        let instance = Instance::start(loaded, Arguments::default());
        instance.map_err(Refusal::Fault)?.configure(settings).map(drop)
    };
    let mut steps = Vec::new();
    let (view, decision, reasons) = first_steps(loaded, settings, &mut steps);
    Behaviour {
        name: component.identity().name.clone(),
        version: component.version(),
        reasons,
        steps,
        budget: loaded.budget,
        view,
        decision,
        fields: probe(&configure, settings, Where::Field, bytes, time),
        options: probe(&configure, settings, Where::Option, bytes, time),
    }
}

type FirstSteps = (Result<View, Refusal>, Option<Result<Decision, FaultKind>>, bool);

/// Takes an instance through its first steps, up to its first decision, and notes what each cost.
fn first_steps(loaded: &Loaded, settings: &Settings, steps: &mut Vec<Step>) -> FirstSteps {
    let arguments = Arguments::default();
    for _ in CALLS {
        arguments.push_text("{}");
    }
    let Budget { fuel, start_fuel, .. } = loaded.budget;
    let started = Instant::now();
    let mut step = |name, instance: &Instance, budget, started: Instant| {
        let took = started.elapsed();
        steps.push(Step { name, spent: instance.spent(), budget, took });
    };
    let mut instance = match Instance::start(loaded, arguments) {
        Ok(instance) => instance,
        Err(fault) => return (Err(Refusal::Fault(fault)), None, false),
    };
    let reasons = instance.explains();
    step("start", &instance, start_fuel, started);
    let started = Instant::now();
    let named = instance.name();
    step("name", &instance, start_fuel, started);
    // The name was given when it was loaded; an instance that has failed is not entered again.
    if let Err(fault) = named {
        return (Err(Refusal::Fault(fault)), None, reasons);
    }
    let started = Instant::now();
    let configured = instance.configure(settings);
    step("configure", &instance, start_fuel, started);
    let view = match configured {
        Ok(view) => view,
        Err(refusal) => return (Err(refusal), None, reasons),
    };
    let mut batch = Batch::new(settings, Carried::default());
    for (parent, tool) in (0..).zip(CALLS) {
        let call = batch.add(0, tool, parent);
        batch.park(0, call);
    }
    let question = batch.view(0, view);
    let started = Instant::now();
    let decision = instance.release(&question, loaded.budget.of_a_question());
    step("question", &instance, fuel, started);
    (Ok(view), Some(decision), reasons)
}

/// The tools of the calls of the first question: the one of the first key, and one that has no key.
const CALLS: [u32; 2] = [0, 1];
