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
    spec::{FieldType, Fields, JsonScalar, Later, Loose, Shape, Table as _, Word, Words, table},
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

table! {
    /// A tool.
    pub(super) struct ToolTable "Tool" {
        /// Where its executions come from: `local`, `local.<name>`, `mcp.<server>`, `mcp.<server>.<tool>`, `builtin` or
        /// `builtin.<name>`.
        #[pattern = r"^(local(\..*)?|builtin(\..*)?|mcp\..+)$"]
        source: String,
        /// What runs it, for a local tool.
        command: Later<Command>,
        /// How its calls are approved.
        run: Word<RunMode>,
        /// How its results are reviewed before they become the response.
        result: Word<ResultMode>,
        /// The response of a call that was cancelled.
        cancellation_response: String,
        /// How many of its executions may run at once, and with whom it shares that limit.
        concurrency: Later<Concurrency>,
        /// Whether one call may carry several sets of arguments.
        fan_out: Later<FanOut>,
        /// Its questions by id; one with an `answer` is not asked.
        questions: Later<Questions>,
        summary: String,
        description: String,
        parameters: Later<Json>,
        options: Later<Options>,
        "enable": JsonScalar,
        "examples": Json,
        "format": Json,
        "style": Json,
        "access": Json,
    }
}

table! {
    /// What holds for every tool that says nothing else.
    pub(super) struct DefaultsTable "Defaults" {
        /// How calls are approved.
        run: Word<RunMode>,
        /// How results are reviewed before they become the response.
        result: Word<ResultMode>,
        /// The response of a call that was cancelled.
        cancellation_response: String,
        "enable": Json,
        "format": Json,
        "style": Json,
        "access": Json,
        "questions": Json,
        "options": Json,
    }
}

table! {
    pub(super) struct CommandTable "CommandParts" {
        /// The program, or, with `shell`, a line of shell.
        program: String,
        /// Its arguments.
        args: Later<Vec<String>>,
        /// Whether a shell runs it.
        shell: bool,
    }
}

impl FieldType for Command {
    const SHAPE: Shape = Loose::<CommandTable>::SHAPE;
}

#[cfg(feature = "schema")]
super::spec::any_of! {
    Command, "Command",
    "What runs a local tool.",
    [
        String: "A line that is split into words as a shell would; each word is a template.",
        CommandTable: "Program and arguments, each a template.",
    ]
}

/// The questions of a tool, by id.
pub(super) struct Questions;

impl FieldType for Questions {}

/// What a tool gives to the template of its command.
pub(super) struct Options;

impl FieldType for Options {
    const SHAPE: Shape = Shape::open(Fields::NONE, &Shape::SCALAR).of_scalars();
}

#[cfg(feature = "schema")]
super::spec::same_in_schema! {
    Questions => BTreeMap<String, Json>,
    Options => Json,
}

impl Words for RunMode {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "Run";
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("ask", Self::Ask, "A person is asked."),
        ("unattended", Self::Unattended, "Nobody is."),
        ("edit", Self::Edit, "A person may edit the arguments."),
        ("skip", Self::Skip, "It is not run."),
    ];
}

impl Words for ResultMode {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "Result";
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("unattended", Self::Unattended, "It is delivered."),
        ("ask", Self::Ask, "A person is asked whether it is."),
        ("edit", Self::Edit, "A person may edit it."),
        ("skip", Self::Skip, "It is not delivered."),
    ];
}

/// Said of a call that was cancelled, where the configuration has no words of its own.
const CANCELLED: &str = "The tool call was cancelled.";

impl ToolDefaults {
    /// Reads the table `'*'`.
    pub fn read(node: Node, problems: &mut Vec<Diagnostic>) -> Self {
        let Some(mut reader) = Reader::new("`conversation.tools.'*'`", node, problems) else {
            return Self::default();
        };
        let table = DefaultsTable::take(&mut reader);
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
        reader.finish();
        Self {
            run: table.run.map(|run| run.value),
            result: table.result.map(|result| result.value),
            cancellation_response: table.cancellation_response.map(|text| text.value),
        }
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
        let table = ToolTable::take(&mut reader);

        let (what, problems) = (&reader.what, &mut *reader.problems);
        let before = problems.len();
        let source = match table.source {
            Some(text) => read_source(what, &text, problems),
            None => Some(ToolSource::Local(None)),
        };
        let command = table.command.and_then(|entry| read_command(what, entry.node, problems));
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
            run: table.run.map(|run| run.value).or(defaults.run).unwrap_or_default(),
            result: table.result.map(|result| result.value).or(defaults.result).unwrap_or_default(),
            cancellation_response: table
                .cancellation_response
                .map(|text| text.value)
                .or_else(|| defaults.cancellation_response.clone())
                .unwrap_or_else(|| CANCELLED.to_owned()),
            unbounded_on_purpose: table.concurrency.is_some(),
            concurrency: table
                .concurrency
                .and_then(|entry| Concurrency::read(name, entry.node, problems)),
            fan_out: table.fan_out.and_then(|entry| FanOut::read(name, entry.node, problems)),
            answers: table
                .questions
                .map(|entry| read_answers(what, entry.node, problems))
                .unwrap_or_default(),
            options: table.options.map_or(Json::Object(serde_json::Map::default()), |entry| {
                entry.node.value.into_json()
            }),
            parameters: table.parameters.map_or(Json::Null, |entry| entry.node.value.into_json()),
            summary: table.summary.or(table.description).map(|text| text.value),
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
            let CommandTable { program, args, shell } = CommandTable::take(&mut reader);
            let shell = shell.is_some_and(|shell| shell.value);
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
