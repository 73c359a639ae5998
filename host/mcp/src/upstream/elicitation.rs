//! Asks a form of a server (elicitation) field by field.

use jp_policy_core::outcome::{AnswerType, Question};
use jp_policy_runtime::tools::Host;
use rmcp::model::{ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value as Json};

/// How often a field is asked until an answer fits.
const MAX_ATTEMPTS: usize = 3;

/// Asks a form's fields one after the other. A field without an answer cancels the form.
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
            let attempts = wrong.as_ref().map_or(0, |(attempts, _)| *attempts);
            if attempts == MAX_ATTEMPTS {
                tracing::warn!(target: "upstream", %tool, field = %field.name, "no answer fits the field");
                return cancel;
            }
            let problem = wrong.as_ref().map(|(_, why): &(usize, String)| why.as_str());
            // The message of the form is shown once.
            let about = (place == 0).then_some(message);
            let Some(answer) = host.ask(field.question(about, problem)).await else {
                tracing::warn!(
                    target: "upstream", %tool, id = %field.name,
                    "the question has no answer; `questions.<id>.answer` answers it without a person"
                );
                return cancel;
            };
            match field.parse(answer) {
                Ok(value) => break value,
                Err(why) => wrong = Some((attempts + 1, why)),
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
    // Read as JSON: the schema has many kinds of fields, and few differ here.
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
    fn question(&self, about: Option<&str>, problem: Option<&str>) -> Question {
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
        let pre_amble: Vec<&str> = about.into_iter().chain(problem).collect();
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

    /// The options, as they are shown and as they are sent; none: any value fits.
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

    /// A value as it is shown.
    fn shown(&self, value: &Json) -> String {
        if let Json::Array(values) = value {
            return values.iter().map(|value| self.shown(value)).collect::<Vec<_>>().join(", ");
        }
        let options = self.options().unwrap_or_default();
        let found = options.into_iter().find(|(_, sent)| sent == value);
        found.map_or_else(|| text_of(value), |(word, _)| word)
    }

    /// An answer as it is sent; none: the field is left out. Fails if it does not fit.
    fn parse(&self, answer: Json) -> Result<Option<Json>, String> {
        let blank = matches!(&answer, Json::String(text) if text.trim().is_empty());
        if (blank || answer.is_null()) && !self.required {
            return Ok(None);
        }
        let value = match (self.kind(), answer) {
            ("array", Json::String(text)) => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                Json::Array(words.map(|word| self.option(word.into())).collect::<Result<_, _>>()?)
            }
            ("array", Json::Array(values)) => {
                Json::Array(values.into_iter().map(|it| self.option(it)).collect::<Result<_, _>>()?)
            }
            ("number", Json::String(text)) => parse_json(&text, "a number", Json::is_number)?,
            ("integer", Json::String(text)) => parse_json(&text, "a whole number", is_whole)?,
            ("boolean", Json::String(text)) => {
                parse_json(&text, "true or false", Json::is_boolean)?
            }
            ("number", value) if !value.is_number() => return Err(expected(&value, "a number")),
            ("integer", value) if !is_whole(&value) => {
                return Err(expected(&value, "a whole number"));
            }
            ("boolean", value) if !value.is_boolean() => {
                return Err(expected(&value, "true or false"));
            }
            ("string", Json::String(text)) => self.option(text.into())?,
            ("string", value) if self.options().is_none() => text_of(&value).into(),
            (_, value) => self.option(value)?,
        };
        Ok(Some(value))
    }

    fn option(&self, value: Json) -> Result<Json, String> {
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

fn parse_json(text: &str, what: &str, fits: impl Fn(&Json) -> bool) -> Result<Json, String> {
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
