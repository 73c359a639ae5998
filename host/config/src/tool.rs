//! One configured tool: what this project acts on of a table under `conversation.tools`.

use std::{collections::BTreeMap, path::PathBuf};

use jp_policy_core::terms::{ResultMode, RunMode};
use serde_json::Value as Json;

use super::{
    concurrency::Concurrency,
    diagnostic::Diagnostic,
    fan_out::FanOut,
    node::{Entry, Node, Value},
    reader::{Reader, wrong_kind},
    source::{Located, Place, Source},
};

/// A tool, with the defaults of `conversation.tools.'*'` filled in.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its key under `conversation.tools`.
    pub name: String,
    /// Where its executions come from.
    pub source: ToolSource,
    /// What runs it, for a local tool.
    pub command: Option<Command>,
    /// How its calls are approved.
    pub run: RunMode,
    /// How its results are reviewed.
    pub result: ResultMode,
    /// The response of a call that was cancelled.
    pub cancellation_response: String,
    /// How many of its executions may run at once; none: any number.
    pub concurrency: Option<Concurrency>,
    /// Whether that was written down, as `concurrency = 0`.
    pub unbounded_on_purpose: bool,
    /// Whether one call may carry several sets of arguments.
    pub fan_out: Option<FanOut>,
    /// Answers to its questions, by question id.
    pub answers: BTreeMap<String, Json>,
    /// `options`, for the command's template.
    pub options: Json,
    /// Its parameters, as jp writes them.
    pub parameters: Json,
    /// What it does, for whoever chooses it.
    pub summary: Option<String>,
    /// Where its name stands in the last layer that has it.
    pub place: Place,
    /// The first file that has it: what paths are relative to.
    pub origin: Source,
}

/// Where a tool's executions come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSource {
    /// `local` or `local.NAME`: a command on this machine, which is told that it is called NAME.
    Local(Option<String>),
    /// `mcp.SERVER` or `mcp.SERVER.TOOL`: a tool of an MCP server.
    Mcp {
        /// The server's name under `providers.mcp`.
        server: String,
        /// The tool's name there, if it is not this one's.
        tool: Option<String>,
    },
    /// `builtin` or `builtin.NAME`: a tool that jp itself brings.
    Builtin(Option<String>),
}

/// What runs a local tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// One line, to be split into words as a shell would; each word is a template.
    Line(String),
    /// Program and arguments, each a template.
    Parts {
        /// The program, or, with `shell`, a line of shell.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// Whether a shell runs it.
        shell: bool,
    },
}

/// What stands under `conversation.tools.'*'`.
#[derive(Debug, Clone, Default)]
pub struct ToolDefaults {
    run: Option<RunMode>,
    result: Option<ResultMode>,
    cancellation_response: Option<String>,
}

const RUN_MODES: &[(&str, RunMode)] = &[
    ("ask", RunMode::Ask),
    ("unattended", RunMode::Unattended),
    ("edit", RunMode::Edit),
    ("skip", RunMode::Skip),
];

const RESULT_MODES: &[(&str, ResultMode)] = &[
    ("unattended", ResultMode::Unattended),
    ("ask", ResultMode::Ask),
    ("edit", ResultMode::Edit),
    ("skip", ResultMode::Skip),
];

/// Said of a call that was cancelled, where the configuration has no words of its own.
const CANCELLED: &str = "The tool call was cancelled.";

impl ToolDefaults {
    /// Reads the table `'*'`.
    pub fn read(node: Node, problems: &mut Vec<Diagnostic>) -> Self {
        let Some(mut reader) = Reader::new("`conversation.tools.'*'`", node, problems) else {
            return Self::default();
        };
        let run = reader.word("run", RUN_MODES).map(|run| run.value);
        let result = reader.word("result", RESULT_MODES).map(|result| result.value);
        let cancellation_response = reader.string("cancellation_response").map(|text| text.value);
        for (field, help) in [
            ("concurrency", "set it for each tool; tools that share a limit name the same key"),
            ("fan_out", "set it for each tool"),
        ] {
            if let Some(entry) = reader.take(field) {
                reader.problems.push(
                    Diagnostic::error(format!("`{field}` can't be set for all tools"))
                        .at(&entry.name, "has no counterpart under `'*'`")
                        .help(help),
                );
            }
        }
        reader.ignore(&["enable", "format", "style", "access", "questions", "options"]);
        reader.finish();
        Self { run, result, cancellation_response }
    }
}

impl Tool {
    /// The MCP server that it is a tool of, and its name there; none: it comes from elsewhere.
    pub fn upstream(&self) -> Option<(&str, &str)> {
        match &self.source {
            ToolSource::Mcp { server, tool } => {
                Some((server, tool.as_deref().unwrap_or(&self.name)))
            }
            ToolSource::Local(_) | ToolSource::Builtin(_) => None,
        }
    }

    /// The folder of the file it stands in, absolute.
    pub fn folder(&self) -> PathBuf {
        let folder = self.origin.folder();
        std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
    }

    /// Reads a tool's table.
    pub fn read(
        name: &str,
        entry: Entry,
        defaults: &ToolDefaults,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let Entry { name: named, node } = entry;
        let place = node.place.clone();
        let mut reader = Reader::new(format!("tool `{}`", name.escape_debug()), node, problems)?;
        let source = reader.string("source");
        let command = reader.take("command");
        let run = reader.word("run", RUN_MODES);
        let result = reader.word("result", RESULT_MODES);
        let cancelled = reader.string("cancellation_response");
        let concurrency = reader.take("concurrency");
        let fan_out = reader.take("fan_out");
        let questions = reader.take("questions");
        let options = reader.take("options");
        let parameters = reader.take("parameters");
        let summary = reader.string("summary");
        let description = reader.string("description");
        reader.ignore(&["enable", "examples", "format", "style", "access"]);

        let (what, problems) = (&reader.what, &mut *reader.problems);
        let before = problems.len();
        let source = match source {
            Some(text) => read_source(what, &text, problems),
            None => Some(ToolSource::Local(None)),
        };
        let command = command.and_then(|entry| read_command(what, entry.node, problems));
        if matches!(source, Some(ToolSource::Local(_)))
            && command.is_none()
            && problems.len() == before
        {
            problems.push(
                Diagnostic::warning(format!("{what} is local and has no `command`"))
                    .at(&place, "its calls will fail")
                    .help("add `command = \"...\"`"),
            );
        }
        let tool = Self {
            name: name.to_owned(),
            place: named,
            source: source.unwrap_or(ToolSource::Local(None)),
            command,
            run: run.map(|run| run.value).or(defaults.run).unwrap_or_default(),
            result: result.map(|result| result.value).or(defaults.result).unwrap_or_default(),
            cancellation_response: cancelled
                .map(|text| text.value)
                .or_else(|| defaults.cancellation_response.clone())
                .unwrap_or_else(|| CANCELLED.to_owned()),
            unbounded_on_purpose: concurrency.is_some(),
            concurrency: concurrency
                .and_then(|entry| Concurrency::read(name, entry.node, problems)),
            fan_out: fan_out.and_then(|entry| FanOut::read(name, entry.node, problems)),
            answers: questions
                .map(|entry| read_answers(what, entry.node, problems))
                .unwrap_or_default(),
            options: options.map_or(Json::Object(serde_json::Map::default()), |entry| {
                entry.node.value.into_json()
            }),
            parameters: parameters.map_or(Json::Null, |entry| entry.node.value.into_json()),
            summary: summary.or(description).map(|text| text.value),
            origin: place.source.clone(),
        };
        reader.finish();
        Some(tool)
    }
}

fn read_source(
    what: &str,
    text: &Located<String>,
    problems: &mut Vec<Diagnostic>,
) -> Option<ToolSource> {
    let (kind, rest) = match text.value.split_once('.') {
        Some((kind, rest)) => (kind, Some(rest)),
        None => (text.value.as_str(), None),
    };
    match (kind, rest) {
        ("local", name) => Some(ToolSource::Local(name.map(str::to_owned))),
        ("builtin", name) => Some(ToolSource::Builtin(name.map(str::to_owned))),
        ("mcp", Some(rest)) if !rest.is_empty() => {
            let (server, tool) = match rest.split_once('.') {
                Some((server, tool)) => (server, Some(tool.to_owned())),
                None => (rest, None),
            };
            Some(ToolSource::Mcp { server: server.to_owned(), tool })
        }
        _ => {
            problems.push(
                Diagnostic::error(format!(
                    "{what}: `source` is {:?}, expected \"local\", \"mcp.<server>\", \"mcp.<server>.<tool>\" or \"builtin\"",
                    text.value
                ))
                .at(&text.place, "no such source"),
            );
            None
        }
    }
}

fn read_command(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Option<Command> {
    let what = format!("{what}: `command`");
    match node.value {
        Value::String(line) => Some(Command::Line(line)),
        Value::Table(_) => {
            let mut reader = Reader::new(what, node, problems)?;
            let program = reader.string("program");
            let shell = reader.boolean("shell").is_some_and(|shell| shell.value);
            let args = reader.take("args");
            let (what, problems) = (&reader.what, &mut *reader.problems);
            let args = args.map(|entry| read_args(what, entry.node, problems)).unwrap_or_default();
            reader.finish();
            Some(Command::Parts { program: program?.value, args, shell })
        }
        other => {
            problems.push(wrong_kind(
                &what,
                "a string or a table { program, args, shell }",
                &other,
                &node.place,
            ));
            None
        }
    }
}

fn read_args(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Vec<String> {
    let Value::Array(items) = node.value else {
        problems.push(wrong_kind(
            &format!("{what}.args"),
            "an array of strings",
            &node.value,
            &node.place,
        ));
        return Vec::new();
    };
    let mut args = Vec::new();
    for item in items {
        match item.value {
            Value::String(text) => args.push(text),
            other => {
                problems.push(wrong_kind(&format!("{what}.args"), "strings", &other, &item.place));
            }
        }
    }
    args
}

fn read_answers(what: &str, node: Node, problems: &mut Vec<Diagnostic>) -> BTreeMap<String, Json> {
    let Some(reader) = Reader::new(format!("{what}: `questions`"), node, problems) else {
        return BTreeMap::new();
    };
    let entries = reader.rest();
    entries
        .filter_map(|(id, entry)| match entry.node.value {
            Value::Table(mut question) => {
                Some((id, question.swap_remove("answer")?.node.value.into_json()))
            }
            _ => None,
        })
        .collect()
}
