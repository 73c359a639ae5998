//! What a call asks is asked by the client that made the call (elicitation), where the client can do that.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jp_policy_core::{
    outcome::{AnswerType, Question},
    prompt::{Approval, Prompt, Reply, Review},
    text::clean,
};
use jp_policy_runtime::{coordinator::Prompter, whole_text};
use rmcp::{
    Peer, RoleServer,
    model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema},
    service::ElicitationMode,
};
use serde_json::{Map, Value as Json, json};
use tokio::sync::Notify;

/// What a form that is edited calls its only field.
const TEXT: &str = "text";

/// The clients, as those who are asked.
pub struct Clients {
    /// Who is asked for a client that can't be.
    otherwise: Arc<dyn Prompter>,
    /// Whether clients are asked for approvals too, and not only what tools ask and want reviewed.
    approvals: bool,
    /// Whose call each is, by its id; none: of a client that can't ask.
    calls: Mutex<HashMap<String, Option<Peer<RoleServer>>>>,
    /// Told when a call has come in.
    came: Notify,
}

impl Clients {
    /// Clients that are asked what can be asked of them, and for all else `otherwise`. `approvals`: whether they are asked to
    /// approve calls too; most agents have asked before they call.
    pub fn new(otherwise: Arc<dyn Prompter>, approvals: bool) -> Self {
        Self { otherwise, approvals, calls: Mutex::default(), came: Notify::new() }
    }

    /// A call is this client's, until it has its response.
    pub(super) fn attend(&self, call: &str, client: &Peer<RoleServer>) {
        let asks = client.supported_elicitation_modes().contains(&ElicitationMode::Form);
        self.lock().insert(call.to_owned(), asks.then(|| client.clone()));
        self.came.notify_waiters();
    }

    /// A call that is no client's, unless it is one's already: `otherwise` is asked for it.
    pub(super) fn leave_alone(&self, call: &str) {
        let mut calls = self.lock();
        if !calls.contains_key(call) {
            calls.insert(call.to_owned(), None);
            self.came.notify_waiters();
        }
    }

    /// A call has its response.
    pub(super) fn forget(&self, call: &str) {
        self.lock().remove(call);
    }

    /// Whose call it is. A call is approved, and so perhaps asked about, before whoever answers its client has taken it.
    async fn client(&self, call: &str) -> Option<Peer<RoleServer>> {
        // An operation of a call has the call's id before the dot.
        let call = call.split('.').next().unwrap_or(call);
        loop {
            let came = self.came.notified();
            if let Some(client) = self.lock().get(call) {
                return client.clone();
            }
            came.await;
        }
    }

    async fn ask_client(&self, prompt: Prompt) -> Reply {
        let (_, id) = prompt.subject();
        let Some(client) = self.client(id).await else {
            return self.otherwise.ask(prompt).await;
        };
        let Some(form) = form(&prompt).await else {
            return self.otherwise.ask(prompt).await;
        };
        match client.create_elicitation(form).await {
            Ok(answer) => reply(&prompt, answer),
            Err(error) => {
                tracing::warn!(target: "serve", %error, "a client that says it can be asked can't");
                self.otherwise.ask(prompt).await
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Option<Peer<RoleServer>>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prompter for Clients {
    fn ask(&self, prompt: Prompt) -> Pin<Box<dyn Future<Output = Reply> + Send + '_>> {
        if matches!(prompt, Prompt::Approve { .. }) && !self.approvals {
            return self.otherwise.ask(prompt);
        }
        Box::pin(self.ask_client(prompt))
    }

    /// Each client has people of its own, and none waits for those of another.
    fn one_at_a_time(&self) -> bool {
        false
    }
}

/// A prompt as a client shows it. None: it can't be said in a form.
async fn form(prompt: &Prompt) -> Option<ElicitRequestParams> {
    let (message, fields, required) = match prompt {
        Prompt::Approve { tool, arguments, edit, problem, .. } => {
            let shown = serde_json::to_string_pretty(arguments).unwrap_or_default();
            let problem = problem.as_ref().map(|problem| format!("{problem}\n\n"));
            let problem = problem.unwrap_or_default();
            let message = format!("{problem}Run tool `{tool}` with these arguments?\n{shown}");
            let text = json!({ "type": "string", "title": "Arguments", "default": shown });
            (message, edit.then_some((TEXT, text)), true)
        }
        Prompt::Question { tool, question, .. } => {
            let about = question.pre_amble.iter().map(|text| format!("\n{text}"));
            let message = format!("Tool `{tool}` asks:{}", about.collect::<String>());
            (message, Some((question.id.as_str(), field(question))), true)
        }
        Prompt::Review { response, edit } => {
            let (tool, content) = (&response.name, whole_text(response.clone()).await);
            let message = format!("Deliver the result of tool `{tool}`?\n{content}");
            let text = json!({ "type": "string", "title": "Result", "default": content });
            (message, edit.then_some((TEXT, text)), false)
        }
    };
    let name = fields.as_ref().map(|(name, _)| *name).filter(|_| required);
    let properties: Map<String, Json> =
        fields.iter().map(|(name, field)| ((*name).to_owned(), field.clone())).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if let Some(name) = name {
        schema["required"] = json!([name]);
    }
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    let message = message.lines().map(clean).collect::<Vec<_>>().join("\n");
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// A question as a field of a form.
fn field(question: &Question) -> Json {
    let mut field = match &question.answer_type {
        AnswerType::Boolean => json!({ "type": "boolean" }),
        AnswerType::Select { options } => json!({ "type": "string", "enum": options }),
        AnswerType::Text => json!({ "type": "string" }),
    };
    field["title"] = clean(&question.text).into();
    if let Some(default) = &question.default {
        field["default"] = default.clone();
    }
    field
}

/// What a client's answer says.
fn reply(prompt: &Prompt, answer: ElicitResult) -> Reply {
    let accepted = answer.action == ElicitationAction::Accept;
    let mut content = match answer.content {
        Some(Json::Object(content)) => content,
        _ => Map::new(),
    };
    let mut text = || match content.remove(TEXT) {
        Some(Json::String(text)) => Some(text),
        _ => None,
    };
    match prompt {
        Prompt::Approve { tool, .. } if !accepted => {
            Reply::Approval(Approval::Reject(format!("tool `{tool}` was not approved")))
        }
        Prompt::Approve { edit: false, .. } => Reply::Approval(Approval::Run(None)),
        Prompt::Approve { tool, .. } => match text().as_deref().map(serde_json::from_str) {
            None => Reply::Approval(Approval::Run(None)),
            Some(Ok(Json::Object(arguments))) => Reply::Approval(Approval::Run(Some(arguments))),
            Some(Ok(_)) => Reply::Approval(Approval::Reject(format!(
                "tool `{tool}` was not run: its edited arguments are no JSON object"
            ))),
            Some(Err(error)) => Reply::Approval(Approval::Reject(format!(
                "tool `{tool}` was not run: its edited arguments are no JSON: {error}"
            ))),
        },
        Prompt::Question { question, .. } => {
            Reply::Answer(content.remove(&question.id).filter(|_| accepted))
        }
        Prompt::Review { .. } if !accepted => Reply::Review(Review::Withhold),
        Prompt::Review { edit, .. } => Reply::Review(match text().filter(|_| *edit) {
            Some(text) => Review::Replace(text),
            None => Review::Deliver,
        }),
    }
}
