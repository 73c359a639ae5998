//! The test kit for authors of release policies, for the tests of the policy's own crate.
//!
//! The same scenarios and the same checker as `jp-policy test` and `jp-policy check`, on the policy as plain Rust, without
//! WebAssembly; and the whole check on the built component, which is found beside the crate.
//!
//! ```
//! use jp_policy_guest::{Batch, Decision, Error, Policy, Problem, Settings, State};
//! use jp_policy_testing::Check;
//!
//! /// Starts one call at a time, whatever its key.
//! struct OneByOne;
//!
//! impl Policy for OneByOne {
//!     const NAME: &'static str = "one-by-one";
//!
//!     fn configure(settings: Settings) -> Result<Self, Vec<Problem>> {
//!         settings.refuse_all().map(|()| Self)
//!     }
//!
//!     fn release(&self, batch: &Batch) -> Result<Decision, Error> {
//!         let next = batch.calls.iter().find(|call| call.state == State::Parked);
//!         Ok(match next {
//!             Some(call) if batch.running == 0 => Decision::release([call.id]),
//!             _ => Decision::nothing(),
//!         })
//!     }
//! }
//!
//! // In a test of the crate:
//! Check::quick().native::<OneByOne>();
//! ```
//!
//! Every function panics with what is wrong, as a test wants it.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use jp_policy_core::policy::{Native, PolicyFactory};
use jp_policy_guest::Policy;
use jp_policy_harness::{
    Parameters,
    check::{self, CheckProgress, Plan},
    suite,
};
use jp_policy_wasm::{Budget, Component, Engine};

/// Lives through all scenarios of a folder (or one file) with the policy as plain Rust.
///
/// `path` is taken as seen from the crate's own folder, which is where cargo runs tests.
///
/// # Panics
///
/// If a scenario can't be read or comes out otherwise than it says, with the differences of all of them.
pub fn scenarios<P: Policy>(path: impl AsRef<Path>) {
    judge(path.as_ref(), &Native::<P>::new());
}

/// The same with the built component of the crate; see [`Check::component`] for where it is looked for.
///
/// # Panics
///
/// As [`scenarios`] does, and if there is no component.
pub fn component_scenarios(manifest: impl AsRef<Path>, path: impl AsRef<Path>) {
    judge(path.as_ref(), &load(&built(manifest.as_ref())));
}

/// Proves or refutes a policy, as `jp-policy check` does.
#[derive(Debug, Clone, Default)]
pub struct Check {
    plan: Plan,
    fields: String,
    options: String,
}

impl Check {
    /// All batches of up to four calls and two keys, then a thousand random ones. Takes a minute or so unless the tests are
    /// built with optimisation.
    pub fn full() -> Self {
        Self::default()
    }

    /// Small enough for every run of the tests: up to two calls, fifty random batches.
    pub fn quick() -> Self {
        let plan = Plan { calls: 2, timed: 1, random: 50, ..Plan::default() };
        Self { plan, ..Self::default() }
    }

    /// Holds the policy to the default rules too: order within a key, and no needless waiting.
    #[must_use]
    pub fn rules(mut self) -> Self {
        self.plan.rules = true;
        self
    }

    /// Gives every key these further fields: TOML, one a line, as `delay = "2s"`.
    #[must_use]
    pub fn fields(mut self, toml: &str) -> Self {
        toml.clone_into(&mut self.fields);
        self
    }

    /// Gives the policy these options: TOML, one a line.
    #[must_use]
    pub fn options(mut self, toml: &str) -> Self {
        toml.clone_into(&mut self.options);
        self
    }

    /// Changes anything else of what is searched.
    #[must_use]
    pub fn plan(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(&mut self.plan);
        self
    }

    /// Checks the policy as plain Rust.
    ///
    /// # Panics
    ///
    /// If it is refuted, with what went wrong and the smallest batch that shows it, as the text of a scenario file.
    pub fn native<P: Policy>(self) {
        self.check(Native::<P>::new());
    }

    /// Checks the built component of the crate in this folder, `env!("CARGO_MANIFEST_DIR")`. It is `NAME.wasm` in the folder or
    /// beside it, where `jp-policy build` writes it.
    ///
    /// # Panics
    ///
    /// If it is refuted, as [`native`](Self::native) does; if it is not there, with the command that builds it; if it is not
    /// the host's.
    pub fn component(mut self, manifest: impl AsRef<Path>) {
        let path = built(manifest.as_ref());
        self.plan.path = Some(path.clone());
        self.check(load(&path));
    }

    fn check(mut self, factory: impl PolicyFactory + 'static) {
        self.plan.parameters = Parameters::read("fields", &self.fields, "options", &self.options)
            .unwrap_or_else(|error| panic!("{error}"));
        let name = factory.identity().name.clone();
        let factory: Arc<dyn PolicyFactory> = Arc::new(factory);
        let report = check::check(&factory, &self.plan, &Arc::new(CheckProgress::default()))
            .unwrap_or_else(|error| panic!("policy \"{name}\" can't be checked: {error}"));
        if let Some(refutation) = report.refutation {
            let scenario = refutation.scenario.to_toml().unwrap_or_default();
            panic!("policy \"{name}\" is refuted: {}\n\n{scenario}", refutation.violation);
        }
    }
}

fn judge(path: &Path, policy: &dyn PolicyFactory) {
    let files = suite::find(&[path.to_owned()]).unwrap_or_else(|error| panic!("{error}"));
    assert!(!files.is_empty(), "there is no `*.toml` file in `{}`", path.display());
    let loaded = suite::load(&files);
    let tested =
        suite::judge_all(&loaded, |_, _| Ok(policy), |_| std::ops::ControlFlow::Continue(()));
    let mut wrong = String::new();
    for tested in tested.iter().filter(|tested| !tested.passed()) {
        let _ = writeln!(wrong, "{}: {}", tested.file.display(), tested.title);
        for problem in tested.problems() {
            let _ = writeln!(wrong, "  {}", problem.replace('\n', "\n  "));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The component of the crate in this folder.
fn built(manifest: &Path) -> PathBuf {
    let name = manifest.file_name().unwrap_or_default();
    let file = PathBuf::from(name).with_extension("wasm");
    let places = [manifest.join(&file), manifest.with_file_name(&file)];
    let found = places.iter().find(|place| place.is_file()).cloned();
    found.unwrap_or_else(|| {
        panic!(
            "the policy is not built: there is no `{}` in `{}` or beside it; build it with\n\n    jp-policy build {}\n",
            file.display(),
            manifest.display(),
            manifest.display()
        )
    })
}

fn load(path: &Path) -> Component {
    let engine = Engine::new().unwrap_or_else(|error| panic!("{error}"));
    Component::load(&engine, path, None, Budget::default())
        .unwrap_or_else(|error| panic!("{error}"))
}
