//! What the host answers to a server: its progress, its questions, its news.

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

use super::{elicitation, in_flight::InFlight};

/// The host, as a server sees it.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) server: String,
    pub(super) calls: Arc<InFlight>,
    /// How often the server has said that it offers other tools now.
    pub(super) changes: Arc<AtomicU64>,
    /// Told of that too, for those that offer its tools on.
    news: watch::Sender<()>,
    /// Nobody is asked any more.
    pub(super) over: CancellationToken,
}

impl Client {
    pub(super) fn new(server: &str, news: watch::Sender<()>) -> Self {
        Self {
            server: server.to_owned(),
            calls: Arc::default(),
            changes: Arc::default(),
            news,
            over: CancellationToken::new(),
        }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        capabilities.elicitation = Some(forms);
        ClientConfig::new(capabilities, Implementation::new("jp-policy", env!("CARGO_PKG_VERSION")))
            // The last one in which a question is a request of its own, to be answered while the call is open.
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request
        else {
            // It was not said that this could be done.
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let origin = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        let cancel = ElicitResult::new(ElicitationAction::Cancel);
        let Some(call) = self.calls.asking(origin).await else {
            tracing::warn!(target: "mcp", server = %self.server, "asks, and no call of it runs");
            return Ok(cancel);
        };
        let ask = async {
            let _turn = call.turn.lock().await;
            elicitation::ask(&*call.host, &call.tool, &message, &requested_schema).await
        };
        tokio::select! {
            answered = ask => Ok(answered),
            // The server does not want to know any more; or the call, or all of it, is to end.
            () = context.ct.cancelled() => Ok(cancel),
            () = call.stop.gently.cancelled() => Ok(cancel),
            () = call.stop.now.cancelled() => Ok(cancel),
            () = self.over.cancelled() => Ok(cancel),
        }
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // That of a call which has ended is nobody's.
        if let Some(call) = self.calls.by_token(&params.progress_token).await {
            let message = params.message.as_deref().map(clean);
            call.host.progress(Progress { done: params.progress, total: params.total, message });
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        tracing::debug!(target: "mcp", server = %self.server, "offers other tools now");
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.news.send_replace(());
    }
}
