//! What a call answers to the assistant.

use std::{
    borrow::Cow,
    fmt,
    io::{self, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize, Serializer, ser};

use crate::outcome::Outcome;

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It gave a result.
    Ok,
    /// It failed, or could not be run.
    Error,
    /// It was not run, because somebody or the configuration said so.
    NotRun,
    /// It was cancelled.
    Cancelled,
}

/// A text that is too large for memory and kept elsewhere, say in a file. Reading it may block.
pub trait StoredText: fmt::Debug + Send + Sync {
    /// Reads it whole.
    fn text(&self) -> io::Result<String>;

    /// Writes it out, without having it in memory.
    fn write_to(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// A handle on a [`StoredText`]. Cheap to clone; equal only to its own clones.
#[derive(Debug, Clone)]
pub struct Stored(Arc<dyn StoredText>);

impl Stored {
    /// A handle on this text.
    pub fn new(text: impl StoredText + 'static) -> Self {
        Self(Arc::new(text))
    }
}

impl std::ops::Deref for Stored {
    type Target = dyn StoredText;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stored {}

/// A call's response. Every call gets exactly one.
///
/// A large result is not kept in memory: `content` has its beginning then and says so, and [`text`](Self::text),
/// [`write_to`](Self::write_to) and the serialised response have it whole.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Response {
    /// The id of the call.
    pub id: Arc<str>,
    /// Its tool.
    pub name: Arc<str>,
    /// How it came out.
    pub status: Status,
    /// The result, or what there is to say instead.
    pub content: String,
    /// The whole result, where `content` is its beginning only.
    #[serde(skip)]
    pub whole: Option<Stored>,
    /// Whether trying again may help.
    #[serde(default)]
    pub transient: bool,
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            id: &'a str,
            name: &'a str,
            status: Status,
            content: &'a str,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            transient: bool,
        }
        let Self { id, name, status, transient, .. } = self;
        let content = &*self.text().map_err(ser::Error::custom)?;
        Whole { id, name, status: *status, content, transient: *transient }.serialize(serializer)
    }
}

impl Response {
    /// A response that fits in memory.
    pub fn new(id: &Arc<str>, name: &Arc<str>, status: Status, content: impl Into<String>) -> Self {
        Self {
            id: id.clone(),
            name: name.clone(),
            status,
            content: content.into(),
            whole: None,
            transient: false,
        }
    }

    /// The whole content. Fails where it is kept outside of memory and can't be read.
    pub fn text(&self) -> io::Result<Cow<'_, str>> {
        match &self.whole {
            Some(whole) => whole.text().map(Cow::Owned),
            None => Ok(Cow::Borrowed(&self.content)),
        }
    }

    /// The whole content, or, where that can't be read, its beginning: what there is.
    pub fn text_or_beginning(&self) -> Cow<'_, str> {
        self.text().unwrap_or(Cow::Borrowed(&self.content))
    }

    /// Writes the whole content out, without having it in memory.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.whole {
            Some(whole) => whole.write_to(out),
            None => out.write_all(self.content.as_bytes()),
        }
    }

    /// What an execution's outcome says. A question that nobody answered is a failure.
    pub fn from_outcome(id: &Arc<str>, name: &Arc<str>, outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success { content } => Self::new(id, name, Status::Ok, content),
            Outcome::Error { message, trace, transient } => {
                let content = std::iter::once(message).chain(trace).collect::<Vec<_>>().join("\n");
                Self { transient, ..Self::new(id, name, Status::Error, content) }
            }
            Outcome::NeedsInput { question } => {
                let content = format!(
                    "tool `{name}` asks {:?} and nobody answered; set `questions.{}.answer` to answer it without a person",
                    question.text, question.id
                );
                Self::new(id, name, Status::Error, content)
            }
        }
    }
}
