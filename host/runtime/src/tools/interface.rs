//! What the Host needs of tools, whatever they are: commands on this machine, an embedding program's own functions, another server.

use std::{borrow::Cow, pin::Pin, sync::Arc};

use jp_policy_core::{catalog::Terms, outcome::Outcome, response::Stored};
use serde_json::{Map, Value as Json};
use tokio::sync::watch;

use super::{arguments::ArgumentError, definition::Definition, host::Host, process::Stop};

/// Tools that a [`Coordinator`](crate::coordinator::Coordinator) can run. [`LocalTools`](super::LocalTools) is the one for configured
/// commands; a program that has tools of its own implements this.
///
/// ```
/// use std::sync::Arc;
///
/// use jp_policy_config::{Config, Source};
/// use jp_policy_core::{batch::Carried, catalog::Terms, outcome::Outcome, policy::Native};
/// use jp_policy_runtime::{
///     coordinator::{AutoPrompter, Coordinator, Setup},
///     message,
///     tools::{Invocation, Running, Stop, Tools},
/// };
///
/// /// One tool, a function of this program.
/// struct Adder;
///
/// impl Tools for Adder {
///     fn terms(&self, tool: &str) -> Option<Terms<'_>> {
///         (tool == "add").then(Terms::default)
///     }
///
///     fn names(&self) -> Vec<&str> {
///         vec!["add"]
///     }
///
///     fn run<'a>(&'a self, invocation: &'a Invocation, _: &'a Stop) -> Running<'a> {
///         let sum: i64 = invocation.arguments.values().filter_map(|value| value.as_i64()).sum();
///         let outcome = Outcome::Success { content: sum.to_string() };
///         Box::pin(async { outcome.into() })
///     }
/// }
///
/// // The limits stand in the configuration, as for any tool.
/// let config = Config::from_sources(&[Source::new("tools.toml", "conversation.tools.add.concurrency = 1")])?;
/// let calls = message::parse(r#"[{ "name": "add", "arguments": { "a": 1, "b": 2 } }]"#)?.calls;
/// let setup = Setup {
///     config: &config,
///     tools: Arc::new(Adder),
///     factory: &Native::rules(),
///     prompter: Arc::new(AutoPrompter { approve: true }),
///     timeout: None,
///     carried: Carried::default(),
/// };
/// let finished = tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
///     Ok::<_, Box<dyn std::error::Error>>(Coordinator::new(setup)?.run(calls, &mut ()).await)
/// })?;
/// assert_eq!(finished.responses[0].content, "3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Tools: Send + Sync {
    /// On which terms a tool's calls are run; none: there is no such tool.
    fn terms(&self, tool: &str) -> Option<Terms<'_>>;

    /// The names of all tools, to tell which one was meant by a name that is none.
    fn names(&self) -> Vec<&str>;

    /// Checks a tool's arguments, and fills in its defaults where some are missing. A call whose arguments do not fit is not run.
    fn check_arguments<'a>(
        &self,
        tool: &str,
        arguments: &'a Map<String, Json>,
    ) -> Result<Cow<'a, Map<String, Json>>, ArgumentError> {
        let _ = tool;
        Ok(Cow::Borrowed(arguments))
    }

    /// What a tool is for and what it takes, for whoever chooses it; or why that can't be found out now. None: there is no such
    /// tool, or nothing is known of it. It may take as long as a server takes to start.
    fn definition<'a>(&'a self, tool: &'a str) -> Defining<'a> {
        let _ = tool;
        Box::pin(std::future::ready(None))
    }

    /// Ticks when tools may have come to take something else than their [`definition`](Self::definition) said. None: they never do.
    fn changes(&self) -> Option<watch::Receiver<()>> {
        None
    }

    /// Runs a released call once, until nothing of it runs any more. Never fails: what goes wrong is an outcome.
    ///
    /// The slot of its key is free when the future is ready, so that must not be before everything it started is gone. It is
    /// asked to end early by `stop`; where it did, [`Ran::stopped`] is set. A call whose outcome is a question is run again
    /// with the answer; a run that has to go on until there is one asks [`Invocation::host`].
    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a>;
}

/// A tool's run to come.
pub type Running<'a> = Pin<Box<dyn Future<Output = Ran> + Send + 'a>>;

/// A tool's definition to come.
pub type Defining<'a> =
    Pin<Box<dyn Future<Output = Option<Result<Definition, String>>> + Send + 'a>>;

/// A tool with its arguments and, when it is run again after a question, the answers.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The tool's configured name.
    pub tool: Arc<str>,
    /// Its arguments, checked.
    pub arguments: Arc<Map<String, Json>>,
    /// All answers so far, by question id.
    pub answers: Map<String, Json>,
    /// Whom the run can tell how far it is, and ask without ending.
    pub host: Arc<dyn Host>,
}

/// What came of one run, and whether it was cut short.
#[derive(Debug, Clone)]
pub struct Ran {
    /// What it gave.
    pub outcome: Outcome,
    /// It was stopped before it ended by itself.
    pub stopped: bool,
    /// The whole result, where it is so large that the outcome has its beginning only.
    pub whole: Option<Stored>,
}

impl From<Outcome> for Ran {
    /// It ended by itself with this.
    fn from(outcome: Outcome) -> Self {
        Self { outcome, stopped: false, whole: None }
    }
}
