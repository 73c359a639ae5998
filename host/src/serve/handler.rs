//! Answers a client's requests.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
        ServerCapabilities, ServerConfig, Tool as McpTool,
    },
    service::RequestContext,
};
use serde_json::{Map, Value as Json, json};
use tokio::sync::watch;

use super::{Desk, Place, ordered::HandedIn};
use crate::{
    config::{RunMode, Tool},
    coordinator::{Response, Status},
    policy::Refusal,
    server::{Terms, schema},
};

/// One client's side of a desk.
#[derive(Clone)]
pub struct Handler {
    desk: Arc<Desk>,
}

impl Handler {
    /// Answers from this desk, on a connection that is [`Ordered`](super::Ordered).
    pub fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("jp-policy", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.desk.config().tools.values().filter(|tool| tool.run != RunMode::Skip);
        Ok(ListToolsResult::with_all_items(tools.map(advertised).collect()))
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
        let mut watched = token.zip(pending.place());
        let mut steps = 0.0;
        loop {
            tokio::select! {
                response = pending.response() => {
                    let response = response.ok_or_else(|| ErrorData::internal_error("the batch was lost", None))?;
                    return Ok(result(&response).into());
                }
                Some((token, place)) = moved(&mut watched) => {
                    steps += 1.0;
                    let message = match place {
                        Place::Submitted => continue,
                        Place::Queued(why) => why,
                        Place::Running => "running".to_owned(),
                    };
                    let mut progress = ProgressNotificationParam::new(token, steps);
                    progress.message = Some(message);
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

/// A tool as it is offered to clients.
fn advertised(tool: &Tool) -> McpTool {
    let own = input_schema(&tool.parameters);
    let schema = if Terms::from(tool).fan_out.is_some() { schema(&own) } else { own };
    let schema = match schema {
        Json::Object(schema) => schema,
        _ => Map::new(),
    };
    McpTool::new_with_raw(tool.name.clone(), tool.summary.clone().map(Into::into), Arc::new(schema))
}

/// A JSON schema from `parameters` as jp writes them: by name, each a schema that may say `required`.
fn input_schema(parameters: &Json) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, parameter) in parameters.as_object().into_iter().flatten() {
        let mut property = parameter.as_object().cloned().unwrap_or_default();
        if property.remove("required") == Some(Json::Bool(true)) {
            required.push(Json::String(name.clone()));
        }
        if let Some(summary) = property.remove("summary") {
            property.entry("description").or_insert(summary);
        }
        properties.insert(name.clone(), Json::Object(property));
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if let (Some(schema), false) = (schema.as_object_mut(), required.is_empty()) {
        schema.insert("required".to_owned(), Json::Array(required));
    }
    schema
}
