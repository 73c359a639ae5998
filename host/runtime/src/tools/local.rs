//! The configured tools that are commands on this machine.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf, sync::Arc};

use jp_policy_config::{Config, Tool, ToolSource};
use jp_policy_core::{catalog::Terms, outcome::Outcome};
use serde_json::{Map, Value as Json, json};

use super::{
    arguments::{self, ArgumentError},
    definition::Definition,
    group::ProcessWatch,
    interface::{Defining, Invocation, Ran, Running, Tools},
    outcome::read_outcome,
    process::{self, Spec, Stop, located},
    spool::{IN_MEMORY, Spool},
    template,
};

/// Where commands run, and what their templates are told of it.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// The folder that commands run in, absolute.
    pub root: PathBuf,
    /// `context.workspace_id`.
    pub id: String,
    /// `context.conversation_id`.
    pub conversation: String,
}

/// Runs the configured tools that are commands. It knows the others by name, and says that it can't run them.
pub struct LocalTools {
    tools: BTreeMap<String, Tool>,
    workspace: Workspace,
    watch: Option<Arc<dyn ProcessWatch>>,
    spool: Spool,
}

impl LocalTools {
    /// A server of these tools.
    pub fn new(config: &Config, workspace: Workspace) -> Self {
        Self { tools: config.tools.clone(), workspace, watch: None, spool: Spool::default() }
    }

    /// Tells `watch` of every process group.
    #[must_use]
    pub fn watched_by(mut self, watch: Arc<dyn ProcessWatch>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// A tool's configuration.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    async fn run(&self, invocation: &Invocation, stop: &Stop) -> Ran {
        let spec = match self.spec(invocation) {
            Ok(spec) => spec,
            Err(message) => return Outcome::error(message).into(),
        };
        let program = spec.words.first().cloned().unwrap_or_default();
        let exit = match process::run(spec, &self.spool, stop, self.watch.clone()).await {
            Ok(exit) => exit,
            Err(error) => {
                let message = format!(
                    "tool `{}`: failed to start `{program}` in `{}`: {error}",
                    invocation.tool,
                    self.workspace.root.display()
                );
                return Outcome::error(message).into();
            }
        };
        let (tool, stopped) = (invocation.tool.clone(), exit.stopped);
        let outcome = if exit.stdout.kept() > IN_MEMORY as u64 {
            // What is read back from a file is read where that keeps nobody waiting.
            let read = tokio::task::spawn_blocking(move || read_outcome(&tool, &exit)).await;
            read.unwrap_or_else(|error| {
                Outcome::error(format!("the result can't be read: {error}"))
            })
        } else {
            read_outcome(&tool, &exit)
        };
        self.spooled(Ran { outcome, stopped, whole: None }).await
    }

    /// The same with a large result in a file, beside those of the commands.
    pub async fn spooled(&self, mut ran: Ran) -> Ran {
        if let Outcome::Success { content } = &mut ran.outcome
            && content.len() > IN_MEMORY
        {
            let (spool, text) = (self.spool.clone(), std::mem::take(content));
            match tokio::task::spawn_blocking(move || spool.put(text)).await {
                Ok(put) => (*content, ran.whole) = put,
                Err(error) => {
                    ran.outcome = Outcome::error(format!("the result can't be kept: {error}"));
                }
            }
        }
        ran
    }

    fn spec(&self, invocation: &Invocation) -> Result<Spec, String> {
        let name = &*invocation.tool;
        let tool = self.tool(name).ok_or_else(|| format!("no tool `{name}`"))?;
        let called = match &tool.source {
            ToolSource::Local(called) => called.as_deref().unwrap_or(name),
            ToolSource::Mcp { server, .. } => {
                return Err(format!(
                    "tool `{name}` comes from the MCP server `{server}`, and only commands are run here"
                ));
            }
            ToolSource::Builtin(_) => {
                return Err(format!("tool `{name}` is built into jp, which is not here"));
            }
        };
        let command =
            tool.command.as_ref().ok_or_else(|| format!("tool `{name}` has no `command`"))?;
        let context = json!({
            "tool": {
                "name": called,
                "arguments": *invocation.arguments,
                "answers": invocation.answers,
                "options": tool.options,
            },
            "context": {
                "action": "run",
                "root": self.workspace.root.to_string_lossy(),
                "access": null,
                "workspace_id": self.workspace.id,
                "conversation_id": self.workspace.conversation,
                "config_dir": tool.folder().to_string_lossy(),
            },
        });
        let mut words =
            template::fill(command, &context).map_err(|error| format!("tool `{name}`: {error}"))?;
        if let Some(program) = words.first_mut() {
            *program = located(program, &self.workspace.root).to_string_lossy().into_owned();
        }
        Ok(Spec { words, folder: self.workspace.root.clone(), environment: Vec::new() })
    }
}

impl Tools for LocalTools {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.tool(tool).map(Terms::from)
    }

    fn names(&self) -> Vec<&str> {
        self.tools.keys().map(String::as_str).collect()
    }

    fn check_arguments<'a>(
        &self,
        tool: &str,
        arguments: &'a Map<String, Json>,
    ) -> Result<Cow<'a, Map<String, Json>>, ArgumentError> {
        match self.tool(tool) {
            Some(tool) => arguments::check(arguments, &tool.parameters),
            None => Ok(Cow::Borrowed(arguments)),
        }
    }

    fn definition<'a>(&'a self, tool: &'a str) -> Defining<'a> {
        let definition = self.tool(tool).map(|tool| Ok(Definition::from(tool)));
        Box::pin(std::future::ready(definition))
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        Box::pin(LocalTools::run(self, invocation, stop))
    }
}
