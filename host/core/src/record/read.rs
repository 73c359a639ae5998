//! Reads the text of a record file back.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};

use super::{
    line::{FORMAT, Header, Line, Stamped, VERSION},
    model::Record,
    steps::Steps,
};
use crate::{
    batch::{CallId, End, ExecutionId, Instant, KeyIndex},
    description::CallDescription,
    request::Request,
    scheduler::{Decided, Event, EventKind},
};

/// A record file, read and checked.
#[derive(Debug, Clone)]
pub struct RecordFile {
    /// What the batch ran under.
    pub header: Header,
    /// The calls in written order.
    pub calls: Vec<RecordedCall>,
    /// What happened, in the order it did; of faults, `faults` tells more.
    pub events: Vec<Event>,
    /// The same as a record.
    pub record: Record,
    /// What the policy did that could not be accepted.
    pub faults: Vec<RecordedFault>,
    /// Why calls waited, in the policy's words, as far as that was recorded.
    pub reasons: Vec<RecordedReason>,
    /// How the record ends.
    pub conclusion: Conclusion,
}

/// A call of a record file.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// Its id.
    pub id: String,
    /// The id of the tool call that it is an operation of, if it is one.
    pub of: Option<String>,
    /// Its tool, as it was called.
    pub tool: String,
    /// Its arguments as they were last, if they were recorded and could be read.
    pub arguments: Option<Map<String, Json>>,
    /// Why its arguments can't be read, where they can't.
    pub invalid: Option<String>,
    /// Its response, if it was recorded.
    pub response: Option<Json>,
}

/// A fault of a record file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFault {
    /// When.
    pub at: Instant,
    /// Its kind, as [`crate::policy::FaultKind::word`] has it.
    pub kind: String,
    /// What happened, in one sentence.
    pub message: String,
}

/// A policy's reason of a record file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedReason {
    /// When it was given.
    pub at: Instant,
    /// For which call.
    pub call: CallId,
    /// In the policy's words.
    pub reason: String,
}

/// How a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// With the batch.
    Over,
    /// Before: the program was killed, or could not write.
    CutOff {
        /// Whether its last line is torn; it is left out.
        torn: bool,
    },
}

/// Why a record can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is something else.
    #[error("`{}` is no record: {why}; `jp-policy run --record FILE` writes one", .path.display())]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        why: String,
    },
    /// It is of another version.
    #[error("record `{}` has version {version}, and only version {VERSION} can be read", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// What it says.
        version: String,
    },
    /// A line can't be read.
    #[error("record `{}`, line {line}: {problem}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl RecordFile {
    /// Whether a file's text looks like a record rather than a scenario: it is JSON.
    pub fn is_record(text: &[u8]) -> bool {
        text.trim_ascii_start().first() == Some(&b'{')
    }

    /// Reads the text of a record; `path` is for messages.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, ReadError> {
        let mut lines = text.split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let mut reader = Reader::new(header(path, first)?);
        let mut conclusion = Conclusion::CutOff { torn: false };
        for (line, text) in (2..).zip(lines) {
            let problem = |problem| ReadError::Line { path: path.to_owned(), line, problem };
            if text.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<Stamped>(text) {
                Ok(stamped) => {
                    let over = stamped.line == Line::Over;
                    if conclusion == Conclusion::Over {
                        return Err(problem("the batch was over before it".to_owned()));
                    }
                    reader.take(stamped).map_err(problem)?;
                    if over {
                        conclusion = Conclusion::Over;
                    }
                }
                Err(_) if !text.ends_with(b"\n") => {
                    conclusion = Conclusion::CutOff { torn: true };
                }
                Err(error) => return Err(problem(why(&error))),
            }
        }
        reader.file.conclusion = conclusion;
        Ok(reader.file)
    }

    /// The calls' arguments in written order, as JSON text; `{}` where they were not recorded.
    pub fn arguments(&self) -> Vec<String> {
        let arguments = self.calls.iter().map(|call| call.arguments.clone().unwrap_or_default());
        arguments.map(|arguments| Json::Object(arguments).to_string()).collect()
    }
}

fn header(path: &Path, line: &[u8]) -> Result<Header, ReadError> {
    let not = |why: String| ReadError::NotARecord { path: path.to_owned(), why };
    if line.trim_ascii().is_empty() {
        return Err(not("it has no first line".to_owned()));
    }
    let json: Json = serde_json::from_slice(line).map_err(|error| {
        not(if line.ends_with(b"\n") {
            format!("its first line is not JSON: {}", why(&error))
        } else {
            "its first line is torn".to_owned()
        })
    })?;
    if json["format"] != FORMAT {
        return Err(not(format!("its first line does not have \"format\": \"{FORMAT}\"")));
    }
    if json["version"] != VERSION {
        let version = crate::text::clean_to(&json["version"].to_string(), 40);
        return Err(ReadError::Version { path: path.to_owned(), version });
    }
    let problem = |problem| ReadError::Line { path: path.to_owned(), line: 1, problem };
    let header: Header = serde_json::from_value(json).map_err(|error| problem(why(&error)))?;
    let unknown = |key: KeyIndex| key as usize >= header.keys.len();
    match header.tools.iter().find(|tool| tool.key.is_some_and(unknown)) {
        Some(tool) => Err(problem(format!(
            "tool {:?} has key {}, which is not among the keys",
            tool.name,
            tool.key.unwrap_or_default()
        ))),
        None => Ok(header),
    }
}

/// Without the place: each line is a document of its own, and its number is said already.
fn why(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    crate::text::clean_to(text, 300)
}

struct Reader {
    file: RecordFile,
    steps: Steps,
    at: Instant,
}

impl Reader {
    fn new(header: Header) -> Self {
        let keys = header.keys.iter().map(|key| key.name.clone()).collect();
        Self {
            file: RecordFile {
                record: Record::of_keys(keys),
                header,
                calls: Vec::new(),
                events: Vec::new(),
                faults: Vec::new(),
                reasons: Vec::new(),
                conclusion: Conclusion::Over,
            },
            steps: Steps::default(),
            at: 0,
        }
    }

    fn take(&mut self, Stamped { at, line }: Stamped) -> Result<(), String> {
        if at < self.at {
            return Err(format!("it is of {at} ns, and the line before it of {} ns", self.at));
        }
        self.at = at;
        let mut description = None;
        let kind = match line {
            Line::Submitted { call, id, tool, parent, of, arguments, invalid } => {
                let known = RecordedCall { id, of, tool, arguments, invalid, response: None };
                description = Some(self.submit(call, parent, known)?);
                EventKind::Submitted(call)
            }
            Line::Parked { call, arguments } => {
                let known = self.call(call)?;
                if arguments.is_some() {
                    known.arguments = arguments;
                }
                EventKind::Parked(call)
            }
            Line::Decided { shown, released, wake_at } => {
                for call in &released {
                    self.call(*call)?;
                }
                EventKind::Decided(Box::new(Decided { shown, released, wake_at }))
            }
            Line::Released { call, execution } => {
                self.call(call)?;
                EventKind::Released(call, ExecutionId::numbered(execution))
            }
            Line::Asked { call } => {
                self.call(call)?;
                EventKind::Asked(call)
            }
            Line::Answered { call } => {
                self.call(call)?;
                EventKind::Answered(call)
            }
            Line::Stop { execution } => EventKind::Stop(ExecutionId::numbered(execution)),
            Line::Ended { call, execution, how, gated } => {
                let execution = ExecutionId::numbered(execution);
                if let Some(call) = call {
                    self.call(call)?;
                }
                let end = if gated { End::Gated } else { how.into() };
                EventKind::Ended(call, execution, end)
            }
            Line::Settled { call, how, response } => {
                self.call(call)?.response = response;
                EventKind::Settled(call, how.into())
            }
            Line::Restarted { call } => {
                self.call(call)?;
                EventKind::Restarted(call)
            }
            Line::Cancelled => EventKind::Cancelled,
            Line::Fault { kind, message, .. } => {
                self.file.faults.push(RecordedFault { at, kind, message });
                return Ok(());
            }
            Line::Reason { call, reason } => {
                self.call(call)?;
                self.file.reasons.push(RecordedReason { at, call, reason });
                return Ok(());
            }
            Line::Over => return Ok(()),
        };
        self.steps.take(&kind)?;
        let event = Event { at, kind };
        // Who reads a record finds a call under what it was called at first.
        self.file.record.observe(&event, |_| description);
        self.file.events.push(event);
        Ok(())
    }

    fn submit(
        &mut self,
        call: CallId,
        parent: u32,
        known: RecordedCall,
    ) -> Result<CallDescription, String> {
        let next = self.file.calls.len();
        if call as usize != next {
            return Err(format!("call {call} is submitted where call {next} is the next"));
        }
        let tools = &self.file.header.tools;
        let place = tools.iter().position(|tool| tool.name == known.tool);
        let tool = place.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX);
        let key = place.and_then(|place| tools[place].key);
        let request = Request {
            id: known.id.as_str().into(),
            name: known.tool.as_str().into(),
            arguments: Ok(known.arguments.clone().unwrap_or_default().into()),
        };
        let label = request.title().into();
        self.file.calls.push(known);
        Ok(CallDescription { label, tool, key, parent })
    }

    fn call(&mut self, call: CallId) -> Result<&mut RecordedCall, String> {
        let count = self.file.calls.len();
        self.file
            .calls
            .get_mut(call as usize)
            .ok_or_else(|| format!("call {call} is not among the {count} that were submitted"))
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
