//! The configured servers, by name.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use jp_policy_config::{McpServer, Tool};
use jp_policy_runtime::tools::{Definition, Invocation, ProcessWatch, Ran, Stop};
use rmcp::model::Tool as Offered;
use tokio::{sync::watch, task::JoinSet};

use super::{
    calls,
    connection::{Connection, until_stopped},
    error::McpError,
    schema,
    server::Upstream,
};

/// The MCP servers that tools may come from. None of them runs before a call needs it.
pub(crate) struct McpServers {
    upstreams: BTreeMap<String, Arc<Upstream>>,
    /// Notified when one of them says that its list of tools has changed.
    list_changed: watch::Sender<()>,
}

impl McpServers {
    /// These servers, with this folder as workspace.
    pub(crate) fn new(servers: &BTreeMap<String, McpServer>, root: &Path) -> Self {
        let list_changed = watch::Sender::new(());
        let upstreams = servers.iter().map(|(name, server)| {
            let upstream = Upstream::new(server.clone(), root.to_owned(), list_changed.clone());
            (name.clone(), Arc::new(upstream))
        });
        Self { upstreams: upstreams.collect(), list_changed }
    }

    /// Changes when one of them says that its list of tools has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.list_changed.subscribe()
    }

    /// Tells `watch` of every process group that is started from now on.
    pub(crate) fn watched_by(&mut self, watch: &Arc<dyn ProcessWatch>) {
        for upstream in self.upstreams.values_mut().filter_map(Arc::get_mut) {
            upstream.watch = Some(watch.clone());
        }
    }

    /// Runs a call of a tool that is `name` at `server`.
    pub(crate) async fn run(
        &self,
        server: &str,
        name: &str,
        invocation: &Invocation,
        stop: &Stop,
    ) -> Ran {
        let tool = &invocation.tool;
        match self.find_tool(server, name, stop).await {
            Ok((connection, _)) => calls::call(&connection, server, name, invocation, stop).await,
            Err(McpError::Stopped { .. }) => calls::stopped(tool),
            Err(error) => error.outcome(tool).into(),
        }
    }

    /// What a tool takes: the server's definition, with the configured one laid over it.
    pub(crate) async fn definition(
        &self,
        tool: &Tool,
        server: &str,
        name: &str,
    ) -> Result<Definition, String> {
        match self.find_tool(server, name, &Stop::default()).await {
            Ok((_, offered)) => Ok(schema::merge(tool, &offered)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The connection to a server, and its tool of this name.
    async fn find_tool(
        &self,
        server: &str,
        name: &str,
        stop: &Stop,
    ) -> Result<(Arc<Connection>, Offered), McpError> {
        let upstream = self.upstreams.get(server).ok_or_else(|| McpError::UnknownServer {
            server: server.to_owned(),
            known: self.upstreams.keys().cloned().collect(),
        })?;
        let connection = upstream.connection(stop).await?;
        loop {
            let (tools, at) = tokio::select! {
                listed = connection.list_tools() => listed?,
                () = until_stopped(stop) => {
                    return Err(McpError::Stopped { server: server.to_owned() });
                }
            };
            if let Some(tool) = tools.iter().find(|tool| tool.name == name) {
                return Ok((connection, tool.clone()));
            }
            // Some servers add their tools bit by bit when they start.
            if !connection.has_changed_since(at) {
                return Err(McpError::UnknownTool {
                    server: server.to_owned(),
                    tool: name.to_owned(),
                    known: tools.iter().map(|tool| tool.name.to_string()).collect(),
                });
            }
        }
    }

    /// Ends all of them, and waits until nothing of them is left.
    pub(crate) async fn close(&self) {
        let mut closing = JoinSet::new();
        for upstream in self.upstreams.values() {
            let upstream = upstream.clone();
            closing.spawn(async move { upstream.close().await });
        }
        closing.join_all().await;
    }

    #[cfg(test)]
    pub(super) fn with_upstreams(
        upstreams: BTreeMap<String, Arc<Upstream>>,
        list_changed: watch::Sender<()>,
    ) -> Self {
        Self { upstreams, list_changed }
    }
}
