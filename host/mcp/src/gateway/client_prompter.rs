//! Asks the client that made a call what the call asks (elicitation), where the client can be asked.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jp_policy_core::prompt::{Prompt, Reply};
use jp_policy_runtime::coordinator::Prompter;
use rmcp::{Peer, RoleServer, service::ElicitationMode};
use tokio::sync::Notify;

use super::form::{form, reply};

/// Asks clients about their own calls.
pub struct ClientPrompter {
    /// Asked in place of a client that can't be.
    fallback: Arc<dyn Prompter>,
    /// Whether clients are asked for approvals too, and not only for answers and reviews.
    approvals: bool,
    /// The client of each call, by the call's id; none: the fallback is asked.
    clients: Mutex<HashMap<String, Option<Peer<RoleServer>>>>,
    /// Notified when a call is assigned.
    assigned: Notify,
}

impl ClientPrompter {
    /// Asks clients what can be asked of them, and `fallback` all else. With `approvals` they are asked to approve calls too; most
    /// agents have asked before they call.
    pub fn new(fallback: Arc<dyn Prompter>, approvals: bool) -> Self {
        Self { fallback, approvals, clients: Mutex::default(), assigned: Notify::new() }
    }

    /// What a call asks goes to this client, until the call is removed.
    pub(super) fn assign(&self, call: &str, client: &Peer<RoleServer>) {
        let asks = client.supported_elicitation_modes().contains(&ElicitationMode::Form);
        self.lock().insert(call.to_owned(), asks.then(|| client.clone()));
        self.assigned.notify_waiters();
    }

    /// What a call asks goes to the fallback, unless the call is a client's already.
    pub(super) fn assign_fallback(&self, call: &str) {
        let mut clients = self.lock();
        if !clients.contains_key(call) {
            clients.insert(call.to_owned(), None);
            self.assigned.notify_waiters();
        }
    }

    /// Forgets a call: it has its response.
    pub(super) fn remove(&self, call: &str) {
        self.lock().remove(call);
    }

    /// The client of a call. Waits until the call is assigned: it may ask before its handler has begun.
    async fn client(&self, call: &str) -> Option<Peer<RoleServer>> {
        // An operation's id is that of its tool call, a dot and a number.
        let call = call.split('.').next().unwrap_or(call);
        loop {
            let assigned = self.assigned.notified();
            if let Some(client) = self.lock().get(call) {
                return client.clone();
            }
            assigned.await;
        }
    }

    async fn ask_client(&self, prompt: Prompt) -> Reply {
        let (_, id) = prompt.subject();
        let Some(client) = self.client(id).await else {
            return self.fallback.ask(prompt).await;
        };
        let Some(form) = form(&prompt).await else {
            return self.fallback.ask(prompt).await;
        };
        match client.create_elicitation(form).await {
            Ok(answer) => reply(&prompt, answer),
            Err(error) => {
                tracing::warn!(target: "gateway", %error, "a client with elicitation failed to elicit");
                self.fallback.ask(prompt).await
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Option<Peer<RoleServer>>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prompter for ClientPrompter {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        if matches!(prompt, Prompt::Approve { .. }) && !self.approvals {
            return self.fallback.ask(prompt);
        }
        Box::pin(self.ask_client(prompt))
    }

    /// No client waits for the people of another.
    fn one_at_a_time(&self) -> bool {
        false
    }
}
