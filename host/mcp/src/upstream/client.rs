//! Handles what a server sends: progress, elicitations, changed lists.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use jp_policy_core::text::clean;
use jp_policy_runtime::tools::Progress;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
        ProgressNotificationParam, ProtocolVersion,
    },
    service::{InboundStreamOrigin, NotificationContext, RequestContext},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{elicitation, in_flight::InFlightCalls};

/// The client of one server.
#[derive(Debug, Clone)]
pub(super) struct UpstreamClient {
    pub(super) server: String,
    pub(super) calls: Arc<InFlightCalls>,
    /// How often the server has said that its list of tools has changed.
    pub(super) list_changes: Arc<AtomicU64>,
    /// Notified of that, for the clients of the gateway.
    list_changed: watch::Sender<()>,
    /// Cancels open elicitations.
    pub(super) closing: CancellationToken,
}

impl UpstreamClient {
    pub(super) fn new(server: &str, list_changed: watch::Sender<()>) -> Self {
        Self {
            server: server.to_owned(),
            calls: Arc::default(),
            list_changes: Arc::default(),
            list_changed,
            closing: CancellationToken::new(),
        }
    }
}

impl ClientHandler for UpstreamClient {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        capabilities.elicitation = Some(forms);
        ClientConfig::new(capabilities, Implementation::new("jp-policy", env!("CARGO_PKG_VERSION")))
            // The last version in which an elicitation is a request of its own, answered while the call is open.
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request
        else {
            // Only forms are in the capabilities.
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let origin = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        let cancel = ElicitResult::new(ElicitationAction::Cancel);
        let Some(call) = self.calls.by_origin(origin).await else {
            tracing::warn!(target: "upstream", server = %self.server, "the server elicits, and no call of it runs");
            return Ok(cancel);
        };
        let ask = async {
            let _open = call.prompt_lock.lock().await;
            elicitation::ask(&*call.host, &call.tool, &message, &requested_schema).await
        };
        tokio::select! {
            answered = ask => Ok(answered),
            // The server cancels the request, the call is stopped, or the server is ended.
            () = context.ct.cancelled() => Ok(cancel),
            () = call.stop.gently.cancelled() => Ok(cancel),
            () = call.stop.now.cancelled() => Ok(cancel),
            () = self.closing.cancelled() => Ok(cancel),
        }
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // The progress of a call that has ended is dropped.
        if let Some(call) = self.calls.by_token(&params.progress_token).await {
            let message = params.message.as_deref().map(clean);
            call.host.progress(Progress { done: params.progress, total: params.total, message });
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        tracing::debug!(target: "upstream", server = %self.server, "the list of tools has changed");
        self.list_changes.fetch_add(1, Ordering::SeqCst);
        self.list_changed.send_replace(());
    }
}
