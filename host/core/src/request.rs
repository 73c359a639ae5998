//! A call of an assistant's message.

use std::{fmt::Write as _, sync::Arc};

use serde_json::{Map, Value as Json};

use crate::text::{cut, push_clean_to};

/// The most characters of a title.
const TITLE: usize = 60;

/// The most characters of a value in a title.
const TITLE_VALUE: usize = 20;

/// A call as the assistant wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its id: the assistant's own, or `call_N` by its place where it has none. Unique within the batch.
    pub id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// Its arguments, or what is wrong with them. A call with wrong arguments is still a call and gets its response.
    pub arguments: Result<Arc<Map<String, Json>>, String>,
}

impl Request {
    /// Its arguments as JSON text; none, if they can't be read.
    pub fn arguments_as_json(&self) -> String {
        let none = Map::new();
        let arguments = self.arguments.as_deref().unwrap_or(&none);
        // A map of JSON values can always be written.
        serde_json::to_string(arguments).unwrap_or_default()
    }

    /// The call in a few words: its tool, and what of its arguments is short.
    pub fn title(&self) -> String {
        let mut title = String::with_capacity(TITLE);
        self.write_title(&mut title);
        title
    }

    /// Writes the title into an empty text.
    pub(crate) fn write_title(&self, title: &mut String) {
        push_clean_to(title, &self.name, TITLE);
        for value in self.arguments.iter().flat_map(|arguments| arguments.values()) {
            if title.chars().nth(TITLE).is_some() {
                break;
            }
            match value {
                Json::String(text) => {
                    title.push(' ');
                    push_clean_to(title, text, TITLE_VALUE);
                }
                Json::Number(number) => {
                    let _ = write!(title, " {number}");
                }
                Json::Bool(_) | Json::Null | Json::Array(_) | Json::Object(_) => {}
            }
        }
        cut(title, TITLE);
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
