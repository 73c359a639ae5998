//! Prompts as forms that a client shows (elicitation), and what its answers mean.

use jp_policy_core::{
    outcome::{AnswerType, Question},
    prompt::{Answer, Approval, Prompt, Reply, Review},
    text::clean,
};
use jp_policy_runtime::whole_text;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value as Json, json};

/// The name of the only field of a form in which something is edited.
const TEXT: &str = "text";

/// A prompt as a form; none: the question is none that a form can have.
pub(super) async fn form(prompt: &Prompt) -> Option<ElicitRequestParams> {
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

/// What a client's answer to a prompt means.
pub(super) fn reply(prompt: &Prompt, answer: ElicitResult) -> Reply {
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
        Prompt::Question { question, .. } => Reply::Answer(match content.remove(&question.id) {
            _ if !accepted => Answer::Dismissed,
            Some(answer) => Answer::Given(answer),
            None => Answer::Unanswered,
        }),
        Prompt::Review { .. } if !accepted => Reply::Review(Review::Withhold),
        Prompt::Review { edit, .. } => Reply::Review(match text().filter(|_| *edit) {
            Some(text) => Review::Replace(text),
            None => Review::Deliver,
        }),
    }
}
