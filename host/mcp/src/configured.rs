//! All configured tools: local commands, and tools of MCP servers.

use std::{borrow::Cow, sync::Arc};

use jp_policy_config::{Config, Tool};
use jp_policy_core::catalog::Terms;
use jp_policy_runtime::tools::{
    ArgumentError, Defining, Invocation, LocalTools, ProcessWatch, Running, Stop, Tools, Workspace,
};
use serde_json::{Map, Value as Json};
use tokio::sync::watch;

use crate::upstream::McpServers;

/// Runs the configured tools: commands on this machine, and tools of MCP servers.
pub struct ConfiguredTools {
    commands: LocalTools,
    mcp: McpServers,
}

impl ConfiguredTools {
    /// The tools of this configuration. No MCP server is started before a call needs it.
    pub fn new(config: &Config, workspace: Workspace) -> Self {
        let mcp = McpServers::new(&config.mcp, &workspace.root);
        Self { commands: LocalTools::new(config, workspace), mcp }
    }

    /// Tells `watch` of every process group that is started from now on.
    #[must_use]
    pub fn watched_by(mut self, watch: Arc<dyn ProcessWatch>) -> Self {
        self.mcp.watched_by(&watch);
        self.commands = self.commands.watched_by(watch);
        self
    }

    /// Ends the MCP servers that were started, and waits until nothing of them is left. None is started any more.
    ///
    /// To be called when the last batch is over. A drop without it ends them too, in the background.
    pub async fn close(&self) {
        self.mcp.close().await;
    }

    /// The configuration of a tool; none: there is no such tool.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.commands.tool(name)
    }

    /// A tool of an MCP server, with the server's name and the tool's name there.
    fn upstream(&self, name: &str) -> Option<(&Tool, &str, &str)> {
        let tool = self.tool(name)?;
        let (server, name) = tool.upstream()?;
        Some((tool, server, name))
    }
}

impl Tools for ConfiguredTools {
    fn terms(&self, tool: &str) -> Option<Terms<'_>> {
        self.commands.terms(tool)
    }

    fn names(&self) -> Vec<&str> {
        self.commands.names()
    }

    fn check_arguments<'a>(
        &self,
        tool: &str,
        arguments: &'a Map<String, Json>,
    ) -> Result<Cow<'a, Map<String, Json>>, ArgumentError> {
        self.commands.check_arguments(tool, arguments)
    }

    fn definition<'a>(&'a self, tool: &'a str) -> Defining<'a> {
        match self.upstream(tool) {
            Some((tool, server, name)) => {
                Box::pin(async move { Some(self.mcp.definition(tool, server, name).await) })
            }
            None => self.commands.definition(tool),
        }
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.mcp.changes())
    }

    fn run<'a>(&'a self, invocation: &'a Invocation, stop: &'a Stop) -> Running<'a> {
        match self.upstream(&invocation.tool) {
            Some((_, server, name)) => Box::pin(async move {
                let ran = self.mcp.run(server, name, invocation, stop).await;
                self.commands.spooled(ran).await
            }),
            None => self.commands.run(invocation, stop),
        }
    }
}
