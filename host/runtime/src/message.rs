//! The calls of an assistant's message, in whichever form the message was written.

use std::{collections::HashMap, sync::Arc};

use jp_policy_core::request::Request;
use serde_json::{Map, Value as Json};

/// The calls of a message, and what is odd about them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Requests {
    /// In written order.
    pub calls: Vec<Request>,
    /// What was changed to keep calls apart.
    pub warnings: Vec<String>,
}

/// A message that has no calls to be found.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// It is not JSON.
    #[error("not JSON")]
    Json(#[from] serde_json::Error),
    /// It is JSON of another shape.
    #[error(
        "no tool calls in it: expected a list of {{id, name, arguments}}, or an assistant message with Anthropic's `tool_use` \
         blocks, OpenAI's `tool_calls` or `function_call` items; found {0}"
    )]
    Shape(String),
    /// One of its calls can't be told what it is.
    #[error("call {place} of the message {problem}")]
    Call {
        /// Its place in written order, from 1.
        place: usize,
        /// What is wrong.
        problem: String,
    },
}

/// Finds the calls of a message. The form is told by its shape:
///
/// - a list of `{id?, name, arguments}`;
/// - Anthropic: a message, or its `content`, with blocks of type `tool_use` (`id`, `name`, `input`);
/// - OpenAI chat: a message, or a whole completion, with `tool_calls` (`id`, `function.name`, `function.arguments` as text);
/// - OpenAI responses: items, or a whole response, with items of type `function_call` (`call_id`, `name`, `arguments` as text).
///
/// ```
/// let text = r#"{ "role": "assistant", "content": [
///     { "type": "text", "text": "Let me look." },
///     { "type": "tool_use", "id": "toolu_1", "name": "read", "input": { "path": "a" } }
/// ] }"#;
/// let requests = jp_policy_runtime::message::parse(text)?;
/// assert_eq!(&*requests.calls[0].name, "read");
/// # Ok::<(), jp_policy_runtime::message::MessageError>(())
/// ```
pub fn parse(text: &str) -> Result<Requests, MessageError> {
    let message: Json = serde_json::from_str(text)?;
    let items = find(&message).ok_or_else(|| MessageError::Shape(shape(&message)))?;
    let mut requests = Requests::default();
    let mut ids = Ids::default();
    for (place, item) in (1..).zip(items) {
        let mut request = read(item, place)?;
        if let Some(changed) = ids.take(&request.id) {
            requests.warnings.push(format!(
                "call {place} (`{}`) has the id {:?} of an earlier call; its response has the id {changed:?}",
                request.name, request.id
            ));
            request.id = changed;
        }
        requests.calls.push(request);
    }
    Ok(requests)
}

/// The ids of the calls so far, each with the number that the next call of the same id tries.
#[derive(Default)]
struct Ids(HashMap<Arc<str>, usize>);

impl Ids {
    /// Takes an id. If it is taken already: the one that was taken instead.
    fn take(&mut self, id: &Arc<str>) -> Option<Arc<str>> {
        let Some(&first) = self.0.get(id) else {
            self.0.insert(id.clone(), 2);
            return None;
        };
        let mut number = first;
        loop {
            let instead: Arc<str> = format!("{id}#{number}").into();
            number += 1;
            if !self.0.contains_key(&instead) {
                self.0.insert(id.clone(), number);
                self.0.insert(instead.clone(), 2);
                return Some(instead);
            }
        }
    }
}

/// The items that are calls.
fn find(message: &Json) -> Option<Vec<&Json>> {
    let of_type =
        |items: &'_ [Json], kind: &str| -> bool { items.iter().any(|item| item["type"] == kind) };
    match message {
        Json::Array(items) if items.is_empty() => Some(Vec::new()),
        Json::Array(items) if of_type(items, "tool_use") => {
            Some(items.iter().filter(|item| item["type"] == "tool_use").collect())
        }
        Json::Array(items) if of_type(items, "function_call") => {
            Some(items.iter().filter(|item| item["type"] == "function_call").collect())
        }
        // OpenAI's `tool_calls` taken out of their message.
        Json::Array(items) if items.iter().all(|item| item["function"].is_object()) => {
            Some(items.iter().collect())
        }
        Json::Array(items) if items.iter().any(|item| item["tool_calls"].is_array()) => {
            items.iter().rev().find(|item| item["tool_calls"].is_array()).and_then(find)
        }
        Json::Array(items) if items.iter().all(|item| item.get("name").is_some()) => {
            Some(items.iter().collect())
        }
        Json::Object(object) => {
            if let Some(Json::Array(calls)) = object.get("tool_calls") {
                return Some(calls.iter().collect());
            }
            if let Some(Json::Array(choices)) = object.get("choices") {
                return choices.first().and_then(|choice| find(&choice["message"]));
            }
            let inner = ["content", "output", "calls"].iter().find_map(|field| object.get(*field));
            inner
                .filter(|inner| inner.as_array().is_some_and(|items| !items.is_empty()))
                .and_then(find)
        }
        _ => None,
    }
}

fn read(item: &Json, place: usize) -> Result<Request, MessageError> {
    let wrong = |problem: String| MessageError::Call { place, problem };
    let Json::Object(object) = item else {
        return Err(wrong(format!("is {}, expected an object", shape(item))));
    };
    let function = match object.get("function") {
        Some(Json::Object(function)) => function,
        _ => object,
    };
    let name = match function.get("name") {
        Some(Json::String(name)) if !name.is_empty() => Arc::from(name.as_str()),
        Some(other) => return Err(wrong(format!("has the name {other}, expected a text"))),
        None => return Err(wrong("has no `name`".to_owned())),
    };
    let id = match object.get("call_id").or_else(|| object.get("id")) {
        Some(Json::String(id)) if !id.is_empty() => Arc::from(id.as_str()),
        Some(Json::Number(id)) => id.to_string().into(),
        _ => format!("call_{place}").into(),
    };
    let arguments = function.get("arguments").or_else(|| function.get("input"));
    Ok(Request { id, name, arguments: read_arguments(arguments).map(Arc::new) })
}

fn read_arguments(arguments: Option<&Json>) -> Result<Map<String, Json>, String> {
    match arguments {
        None | Some(Json::Null) => Ok(Map::new()),
        Some(Json::Object(arguments)) => Ok(arguments.clone()),
        // OpenAI writes them as text, and a call without arguments as an empty one.
        Some(Json::String(text)) if text.trim().is_empty() => Ok(Map::new()),
        Some(Json::String(text)) => match serde_json::from_str(text) {
            Ok(Json::Object(arguments)) => Ok(arguments),
            Ok(other) => Err(format!("the arguments are {}, expected an object", shape(&other))),
            Err(error) => Err(format!("the arguments are not JSON: {error}")),
        },
        Some(other) => Err(format!("the arguments are {}, expected an object", shape(other))),
    }
}

fn shape(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(_) => "a boolean".to_owned(),
        Json::Number(_) => "a number".to_owned(),
        Json::String(_) => "a text".to_owned(),
        Json::Array(items) => format!("a list of {}", items.len()),
        Json::Object(object) => {
            let names: Vec<String> =
                object.keys().take(6).map(|name| format!("`{}`", name.escape_debug())).collect();
            format!(
                "an object with {}",
                if names.is_empty() { "nothing in it".to_owned() } else { names.join(", ") }
            )
        }
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
