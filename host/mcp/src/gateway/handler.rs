//! Answers a client's requests.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use jp_policy_config::Tool;
use jp_policy_core::{
    catalog::Terms,
    fan_out::schema,
    policy::Refusal,
    response::{Response, Status},
    terms::RunMode,
};
use jp_policy_runtime::{tools::Definition, whole_text};
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
        ServerConfig, Tool as McpTool,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::{Map, Value as Json};
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, timeout_at},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Dispatcher, ingress::Submitted, progress::ProgressReporter};

/// How long `tools/list` waits for servers that have to start before it is known what their tools take.
const DEFINITION_TIMEOUT: Duration = Duration::from_secs(5);

/// Answers the requests of one client. Cheap to clone.
#[derive(Clone)]
pub struct Handler {
    dispatcher: Arc<Dispatcher>,
    /// From the client's `initialized` on, a task tells it when tools change, until the last clone of this is gone.
    notifying: Arc<OnceLock<DropGuard>>,
}

impl Handler {
    /// Runs calls by this dispatcher, for a connection with an [`Ingress`](super::Ingress).
    pub fn new(dispatcher: Arc<Dispatcher>) -> Self {
        Self { dispatcher, notifying: Arc::default() }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = capabilities.build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("jp-policy", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.notifying.get_or_init(|| {
            let gone = CancellationToken::new();
            if let Some(changes) = self.dispatcher.tools().changes() {
                tokio::spawn(notify_changes(changes, context.peer, gone.clone()));
            }
            gone.drop_guard()
        });
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools =
            self.dispatcher.config().tools.values().filter(|tool| tool.run != RunMode::Skip);
        // All of them at once: each may have to start a server.
        let defining: Vec<_> = tools
            .map(|tool| (tool, define(&self.dispatcher, tool, context.peer.clone())))
            .collect();
        let deadline = Instant::now() + DEFINITION_TIMEOUT;
        let mut offered = Vec::new();
        for (tool, defining) in defining {
            let defined = timeout_at(deadline, defining).await;
            let defined = defined.ok().and_then(Result::ok);
            offered.push(advertised(tool, defined.unwrap_or_else(|| Definition::from(tool))));
        }
        Ok(ListToolsResult::with_all_items(offered))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let token = context.meta.get_progress_token();
        let submitted = context.extensions.get::<Submitted>().and_then(Submitted::take);
        // A connection without an ingress does not keep the order.
        let submitted = submitted.unwrap_or_else(|| {
            let arguments = request.arguments.unwrap_or_default();
            self.dispatcher.submit(request.name.to_string(), arguments, token.is_some())
        });
        let mut call = submitted.map_err(|refusal| refused(&refusal))?;
        self.dispatcher.prompter().assign(call.id(), &context.peer);
        let watched = token.zip(call.status());
        let mut reporter = watched.map(|(token, status)| ProgressReporter::new(token, status));
        loop {
            tokio::select! {
                response = call.response() => {
                    let response = response.ok_or_else(|| ErrorData::internal_error("the batch was lost", None))?;
                    return Ok(result(response).await.into());
                }
                Some(progress) = next_progress(&mut reporter) => {
                    // The connection finds out by itself that a client is gone.
                    let _ = context.peer.notify_progress(progress).await;
                }
                () = context.ct.cancelled() => {
                    call.withdraw();
                    // Its slot is free when nothing of it runs any more, and the client hears nothing of it.
                    let _ = call.response().await;
                    return Err(ErrorData::internal_error("cancelled", None));
                }
            }
        }
    }
}

/// Tells a client when tools change, until it is gone.
async fn notify_changes(
    mut changes: watch::Receiver<()>,
    client: Peer<RoleServer>,
    gone: CancellationToken,
) {
    loop {
        tokio::select! {
            news = changes.changed() => if news.is_err() { return },
            () = gone.cancelled() => return,
        }
        // The connection finds out by itself that a client is gone.
        let _ = client.notify_tool_list_changed().await;
    }
}

async fn next_progress(
    reporter: &mut Option<ProgressReporter>,
) -> Option<ProgressNotificationParam> {
    reporter.as_mut()?.next().await
}

fn refused(refusal: &Refusal) -> ErrorData {
    ErrorData::internal_error(
        format!("the release policy refuses the configuration: {refusal}"),
        None,
    )
}

/// A response as MCP has it: the text, and whether it is an error.
async fn result(response: Response) -> CallToolResult {
    let status = response.status;
    let content = vec![ContentBlock::text(whole_text(response).await)];
    match status {
        Status::Ok => CallToolResult::success(content),
        Status::Error | Status::NotRun | Status::Cancelled => CallToolResult::error(content),
    }
}

/// Finds out what a tool takes. If the receiver is dropped before, the client is told then that tools have changed.
fn define(
    dispatcher: &Arc<Dispatcher>,
    tool: &Tool,
    client: Peer<RoleServer>,
) -> oneshot::Receiver<Definition> {
    let (sender, defined) = oneshot::channel();
    let (dispatcher, name) = (dispatcher.clone(), tool.name.clone());
    tokio::spawn(async move {
        let definition = match dispatcher.tools().definition(&name).await {
            Some(Ok(definition)) => definition,
            Some(Err(why)) => {
                tracing::warn!(target: "gateway", tool = %name, %why, "the tool is offered as it is configured");
                return;
            }
            None => return,
        };
        if sender.send(definition).is_err() {
            // A client that is gone does not need to know.
            let _ = client.notify_tool_list_changed().await;
        }
    });
    defined
}

/// A tool as it is offered to clients.
fn advertised(tool: &Tool, definition: Definition) -> McpTool {
    let Definition { description, input_schema: own } = definition;
    let schema = if Terms::from(tool).fan_out.is_some() { schema(&own) } else { own };
    let schema = match schema {
        Json::Object(schema) => schema,
        _ => Map::new(),
    };
    McpTool::new_with_raw(tool.name.clone(), description.map(Into::into), Arc::new(schema))
}
