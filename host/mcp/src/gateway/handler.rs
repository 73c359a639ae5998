//! Answers a client's requests.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use jp_policy_config::Tool;
use jp_policy_core::{
    catalog::Terms,
    fan_out::schema,
    response::{Response, Status},
};
use jp_policy_core::{policy::Refusal, terms::RunMode};
use jp_policy_runtime::tools::{Definition, Progress};
use rmcp::{
    ErrorData, Peer, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
        ServerCapabilities, ServerConfig, Tool as McpTool,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::{Map, Value as Json};
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, timeout_at},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Desk, Place, ordered::HandedIn};

/// How long a client waits for servers that have to start before it can be told what their tools take.
const PATIENCE: Duration = Duration::from_secs(5);

/// One client's side of a desk.
#[derive(Clone)]
pub struct Handler {
    desk: Arc<Desk>,
    /// Once the client has said hello, it is told when tools change, until the last clone of this is gone.
    telling: Arc<OnceLock<DropGuard>>,
}

impl Handler {
    /// Answers from this desk, on a connection that is [`Ordered`](super::Ordered).
    pub fn new(desk: Arc<Desk>) -> Self {
        Self { desk, telling: Arc::default() }
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
        self.telling.get_or_init(|| {
            let gone = CancellationToken::new();
            if let Some(changes) = self.desk.tools().changes() {
                tokio::spawn(tell(changes, context.peer, gone.clone()));
            }
            gone.drop_guard()
        });
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.desk.config().tools.values().filter(|tool| tool.run != RunMode::Skip);
        // All of them at once: each may have to start a server.
        let defining: Vec<_> =
            tools.map(|tool| (tool, define(&self.desk, tool, context.peer.clone()))).collect();
        let deadline = Instant::now() + PATIENCE;
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
        let handed_in = context.extensions.get::<HandedIn>().and_then(HandedIn::take);
        let mut pending = match handed_in {
            Some(pending) => pending,
            // A connection that does not fix the order has none to keep.
            None => {
                let arguments = request.arguments.unwrap_or_default();
                self.desk.submit(request.name.to_string(), arguments, token.is_some())
            }
        }
        .map_err(|refusal| refused(&refusal))?;
        self.desk.clients().attend(pending.id(), &context.peer);
        let mut watched = token.zip(pending.place());
        let mut last = 0.0;
        let mut begun = None;
        loop {
            tokio::select! {
                response = pending.response() => {
                    let response = response.ok_or_else(|| ErrorData::internal_error("the batch was lost", None))?;
                    return Ok(result(&response).into());
                }
                Some((token, place)) = moved(&mut watched) => {
                    let (done, total, message) = match place {
                        Place::Submitted => continue,
                        Place::Queued(why) => (last + 1.0, None, Some(why)),
                        Place::Running => (last + 1.0, None, Some("running".to_owned())),
                        Place::Come(Progress { done, total, message }) => {
                            // What it counts begins where the steps before it have ended.
                            let begun = *begun.get_or_insert(last);
                            (begun + done, total.map(|total| begun + total), message)
                        }
                    };
                    if done <= last {
                        // It has to increase, and something that has not is no news.
                        continue;
                    }
                    last = done;
                    let mut progress = ProgressNotificationParam::new(token, done);
                    (progress.total, progress.message) = (total, message);
                    // A client that is gone is noticed elsewhere.
                    let _ = context.peer.notify_progress(progress).await;
                }
                () = context.ct.cancelled() => {
                    pending.withdraw();
                    // Its slot is free when nothing of it runs any more, and the client hears nothing of it.
                    let _ = pending.response().await;
                    return Err(ErrorData::internal_error("cancelled", None));
                }
            }
        }
    }
}

/// Tells a client when tools change, until it is gone.
async fn tell(mut changes: watch::Receiver<()>, client: Peer<RoleServer>, gone: CancellationToken) {
    loop {
        tokio::select! {
            ticked = changes.changed() => if ticked.is_err() { return },
            () = gone.cancelled() => return,
        }
        // One that is gone is noticed elsewhere.
        let _ = client.notify_tool_list_changed().await;
    }
}

/// Waits until a watched call stands somewhere else; none, if it is not watched, or does not move any more.
async fn moved(
    watched: &mut Option<(ProgressToken, watch::Receiver<Place>)>,
) -> Option<(ProgressToken, Place)> {
    let (token, place) = watched.as_mut()?;
    place.changed().await.ok()?;
    Some((token.clone(), place.borrow_and_update().clone()))
}

fn refused(refusal: &Refusal) -> ErrorData {
    ErrorData::internal_error(
        format!("the release policy refuses the configuration: {refusal}"),
        None,
    )
}

/// A response as MCP has it: the text, and whether it is an error.
fn result(response: &Response) -> CallToolResult {
    let content = vec![ContentBlock::text(response.text_or_beginning())];
    match response.status {
        Status::Ok => CallToolResult::success(content),
        Status::Error | Status::NotRun | Status::Cancelled => CallToolResult::error(content),
    }
}

/// Finds out what a tool takes. A client that does not wait for it is told when it is known.
fn define(
    desk: &Arc<Desk>,
    tool: &Tool,
    client: Peer<RoleServer>,
) -> oneshot::Receiver<Definition> {
    let (sender, defined) = oneshot::channel();
    let (desk, name) = (desk.clone(), tool.name.clone());
    tokio::spawn(async move {
        let definition = match desk.tools().definition(&name).await {
            Some(Ok(definition)) => definition,
            Some(Err(why)) => {
                tracing::warn!(target: "serve", tool = %name, %why, "is offered as it is configured");
                return;
            }
            None => return,
        };
        if sender.send(definition).is_err() {
            // One that has gone does not need to know.
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
