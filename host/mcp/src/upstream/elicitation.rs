//! What a server asks in the middle of a call: a form, asked field by field.

use jp_policy_core::outcome::{AnswerType, Question};
use jp_policy_runtime::tools::Host;
use rmcp::model::{ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value as Json};

/// How often a field is asked before the form is given up.
const TRIES: usize = 3;

/// Asks a form's fields one after the other. A question that nobody answers cancels the form, as the server is told.
pub(super) async fn ask(
    host: &dyn Host,
    tool: &str,
    message: &str,
    schema: &ElicitationSchema,
) -> ElicitResult {
    let cancel = ElicitResult::new(ElicitationAction::Cancel);
    let accept = ElicitResult::new(ElicitationAction::Accept);
    let fields = fields(schema);
    if fields.is_empty() {
        return match host.ask(confirm(message)).await {
            Some(Json::Bool(true)) => accept.with_content(Json::Object(Map::new())),
            Some(_) => ElicitResult::new(ElicitationAction::Decline),
            None => cancel,
        };
    }
    let mut content = Map::new();
    for (place, field) in fields.iter().enumerate() {
        let mut wrong = None;
        let value = loop {
            let tries = wrong.as_ref().map_or(0, |(tries, _)| *tries);
            if tries == TRIES {
                tracing::warn!(target: "mcp", %tool, field = %field.name, "got no answer that fits");
                return cancel;
            }
            let said = wrong.as_ref().map(|(_, why): &(usize, String)| why.as_str());
            // What it is about is said once.
            let about = (place == 0).then_some(message);
            let Some(answer) = host.ask(field.question(about, said)).await else {
                tracing::warn!(
                    target: "mcp", %tool, id = %field.name,
                    "asked and nobody answered; `questions.<id>.answer` answers it without a person"
                );
                return cancel;
            };
            match field.read(answer) {
                Ok(value) => break value,
                Err(why) => wrong = Some((tries + 1, why)),
            }
        };
        if let Some(value) = value {
            content.insert(field.name.clone(), value);
        }
    }
    accept.with_content(Json::Object(content))
}

fn confirm(message: &str) -> Question {
    Question {
        id: "confirm".to_owned(),
        text: message.to_owned(),
        pre_amble: None,
        answer_type: AnswerType::Boolean,
        default: None,
    }
}

/// A field of a form.
struct Field {
    name: String,
    schema: Json,
    required: bool,
}

fn fields(schema: &ElicitationSchema) -> Vec<Field> {
    // The schema is read as what it is on the wire: its kinds of fields are many, and what is done with them is little.
    let Ok(schema) = serde_json::to_value(schema) else {
        return Vec::new();
    };
    let required = |name: &str| {
        let names = schema.get("required").and_then(Json::as_array);
        names.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
    };
    let properties = schema.get("properties").and_then(Json::as_object);
    let properties = properties.into_iter().flatten();
    properties
        .map(|(name, field)| Field {
            name: name.clone(),
            schema: field.clone(),
            required: required(name),
        })
        .collect()
}

impl Field {
    fn question(&self, about: Option<&str>, wrong: Option<&str>) -> Question {
        let text = ["title", "description"].map(|key| self.schema.get(key).and_then(Json::as_str));
        let mut text = match text {
            [Some(title), Some(description)] => format!("{title} ({description})"),
            [Some(text), None] | [None, Some(text)] => text.to_owned(),
            [None, None] => self.name.clone(),
        };
        if self.takes_several() {
            let options: Vec<String> =
                self.options().unwrap_or_default().into_iter().map(|(word, _)| word).collect();
            text.push_str(&format!(", some of: {}", options.join(", ")));
        }
        if !self.required {
            text.push_str(" [optional]");
        }
        let pre_amble: Vec<&str> = about.into_iter().chain(wrong).collect();
        let answer_type = match (self.kind(), self.options()) {
            ("boolean", _) => AnswerType::Boolean,
            ("array", _) | (_, None) => AnswerType::Text,
            (_, Some(options)) => {
                AnswerType::Select { options: options.into_iter().map(|(word, _)| word).collect() }
            }
        };
        let default = self.schema.get("default").map(|value| match answer_type {
            AnswerType::Boolean => value.clone(),
            AnswerType::Select { .. } | AnswerType::Text => self.shown(value).into(),
        });
        Question {
            id: self.name.clone(),
            text,
            pre_amble: (!pre_amble.is_empty()).then(|| pre_amble.join("\n")),
            answer_type,
            default,
        }
    }

    fn kind(&self) -> &str {
        self.schema.get("type").and_then(Json::as_str).unwrap_or("string")
    }

    fn takes_several(&self) -> bool {
        self.kind() == "array"
    }

    /// What may be chosen: as it is shown, and as it is sent.
    fn options(&self) -> Option<Vec<(String, Json)>> {
        let schema = if self.takes_several() { self.schema.get("items")? } else { &self.schema };
        if let Some(choices) =
            schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Json::as_array)
        {
            let options = choices.iter().filter_map(|choice| {
                let value = choice.get("const")?;
                let title = choice.get("title").and_then(Json::as_str);
                Some((title.map_or_else(|| text_of(value), str::to_owned), value.clone()))
            });
            return Some(options.collect());
        }
        let values = schema.get("enum")?.as_array()?;
        let names = schema.get("enumNames").and_then(Json::as_array);
        let options = values.iter().enumerate().map(|(place, value)| {
            let name = names.and_then(|names| names.get(place)?.as_str());
            (name.map_or_else(|| text_of(value), str::to_owned), value.clone())
        });
        Some(options.collect())
    }

    /// A value as the one who answers sees it.
    fn shown(&self, value: &Json) -> String {
        if let Json::Array(values) = value {
            return values.iter().map(|value| self.shown(value)).collect::<Vec<_>>().join(", ");
        }
        let options = self.options().unwrap_or_default();
        let found = options.into_iter().find(|(_, sent)| sent == value);
        found.map_or_else(|| text_of(value), |(word, _)| word)
    }

    /// An answer as the server wants it; none: the field is left out.
    fn read(&self, answer: Json) -> Result<Option<Json>, String> {
        let blank = matches!(&answer, Json::String(text) if text.trim().is_empty());
        if (blank || answer.is_null()) && !self.required {
            return Ok(None);
        }
        let value = match (self.kind(), answer) {
            ("array", Json::String(text)) => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                Json::Array(words.map(|word| self.chosen(word.into())).collect::<Result<_, _>>()?)
            }
            ("array", Json::Array(values)) => {
                Json::Array(values.into_iter().map(|it| self.chosen(it)).collect::<Result<_, _>>()?)
            }
            ("number", Json::String(text)) => parsed(&text, "a number", Json::is_number)?,
            ("integer", Json::String(text)) => parsed(&text, "a whole number", is_whole)?,
            ("boolean", Json::String(text)) => parsed(&text, "true or false", Json::is_boolean)?,
            ("number", value) if !value.is_number() => return Err(expected(&value, "a number")),
            ("integer", value) if !is_whole(&value) => {
                return Err(expected(&value, "a whole number"));
            }
            ("boolean", value) if !value.is_boolean() => {
                return Err(expected(&value, "true or false"));
            }
            ("string", Json::String(text)) => self.chosen(text.into())?,
            ("string", value) if self.options().is_none() => text_of(&value).into(),
            (_, value) => self.chosen(value)?,
        };
        Ok(Some(value))
    }

    fn chosen(&self, value: Json) -> Result<Json, String> {
        let Some(options) = self.options() else {
            return Ok(value);
        };
        let word = text_of(&value);
        let found = options.iter().find(|(shown, sent)| *sent == value || *shown == word);
        found.map(|(_, sent)| sent.clone()).ok_or_else(|| {
            let words: Vec<String> = options.into_iter().map(|(word, _)| word).collect();
            expected(&value, &format!("one of {}", words.join(", ")))
        })
    }
}

fn parsed(text: &str, what: &str, fits: impl Fn(&Json) -> bool) -> Result<Json, String> {
    let value = serde_json::from_str(text.trim()).unwrap_or(Json::Null);
    if fits(&value) { Ok(value) } else { Err(expected(&text.into(), what)) }
}

fn is_whole(value: &Json) -> bool {
    value.is_i64() || value.is_u64()
}

fn expected(value: &Json, what: &str) -> String {
    format!("{value} does not fit: expected {what}")
}

fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
#[path = "elicitation_tests.rs"]
mod tests;
