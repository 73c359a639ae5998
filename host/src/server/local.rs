//! The configured tools: commands on this machine are run here, calls of MCP servers are handed on.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf, sync::Arc};

use serde_json::{Map, Value as Json, json};
#[cfg(feature = "mcp")]
use tokio::sync::watch;

#[cfg(feature = "mcp")]
use super::mcp::McpServers;
use super::{
    ArgumentError, Defining, Definition, Invocation, Outcome, ProcessWatch, Ran, Running, Stop,
    Terms, Tools, arguments,
    process::{self, Spec, located},
    spool::Spool,
    template,
};
use crate::config::{Config, Tool, ToolSource};

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

/// Runs the configured tools.
pub struct Server {
    tools: BTreeMap<String, Tool>,
    workspace: Workspace,
    watch: Option<Arc<dyn ProcessWatch>>,
    spool: Spool,
    #[cfg(feature = "mcp")]
    mcp: McpServers,
}

impl Server {
    /// A server of these tools.
    pub fn new(config: &Config, workspace: Workspace) -> Self {
        Self {
            tools: config.tools.clone(),
            #[cfg(feature = "mcp")]
            mcp: McpServers::new(&config.mcp, &workspace.root),
            workspace,
            watch: None,
            spool: Spool::default(),
        }
    }

    /// Tells `watch` of every process group.
    #[must_use]
    pub fn watched_by(mut self, watch: Arc<dyn ProcessWatch>) -> Self {
        #[cfg(feature = "mcp")]
        self.mcp.watched_by(&watch);
        self.watch = Some(watch);
        self
    }

    /// Ends the MCP servers that were started, and waits until nothing of them is left. None is started any more.
    ///
    /// To be called when the batch is over. A server that is dropped instead ends them too, in the background.
    #[cfg(feature = "mcp")]
    pub async fn close(&self) {
        self.mcp.close().await;
    }

    async fn definition(&self, tool: &str) -> Option<Result<Definition, String>> {
        let tool = self.tools.get(tool)?;
        #[cfg(feature = "mcp")]
        if let Some((server, name)) = tool.upstream() {
            return Some(self.mcp.definition(tool, server, name).await);
        }
        Some(Ok(Definition::from(tool)))
    }

    /// A tool's configuration.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    async fn run(&self, invocation: &Invocation, stop: &Stop) -> Ran {
        #[cfg(feature = "mcp")]
        if let Some(tool) = self.tool(&invocation.tool)
            && let Some((server, name)) = tool.upstream()
        {
            let ran = self.mcp.run(server, name, invocation, stop).await;
            return self.spooled(ran);
        }
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
        let outcome = Outcome::read(&invocation.tool, &exit);
        self.spooled(Ran { outcome, stopped: exit.stopped, whole: None })
    }

    /// The same with a large result in a file.
    fn spooled(&self, mut ran: Ran) -> Ran {
        if let Outcome::Success { content } = &mut ran.outcome {
            (*content, ran.whole) = self.spool.put(std::mem::take(content));
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
                    "tool `{name}` comes from the MCP server `{server}`, which needs the feature `mcp`"
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

impl Tools for Server {
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
        Box::pin(Server::definition(self, tool))
    }

    #[cfg(feature = "mcp")]
    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.mcp.changes())
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        Box::pin(Server::run(self, invocation, stop))
    }
}
