//! `providers.mcp`: the MCP servers that tools come from, as jp configures them.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use super::{
    diagnostic::Diagnostic,
    node::{Entry, Node, Value},
    reader::{Reader, wrong_kind},
    source::{Located, Place},
    spec::{FieldType, Fields, JsonScalar, Later, Shape, Table, Word, Words, table},
};

/// An MCP server of `providers.mcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name there.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// How long it may take until it is ready, from its start; none: for ever.
    pub startup_timeout: Option<Duration>,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A process on this machine, by its standard input and output.
    Stdio(McpCommand),
    /// Streamable HTTP.
    Http(McpEndpoint),
}

/// The process of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpCommand {
    /// The program: a name to be found in `PATH`, or a path, relative to the workspace.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What it has in its environment beside what it inherits.
    pub env: BTreeMap<String, String>,
    /// Variables that it needs of the environment it inherits.
    pub variables: Vec<String>,
    /// The folder that it runs in, relative to the workspace; none: the workspace.
    pub folder: Option<PathBuf>,
    /// What the program's file must be.
    pub checksum: Option<McpChecksum>,
}

/// The digest that the file of an MCP server's program must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpChecksum {
    /// How it is computed.
    pub algorithm: ChecksumAlgorithm,
    /// The digest, in lower-case hex.
    pub value: String,
}

/// How a digest is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChecksumAlgorithm {
    /// SHA-256.
    #[default]
    Sha256,
    /// SHA-1, which is no protection against anybody who means harm.
    Sha1,
}

impl ChecksumAlgorithm {
    /// Its name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha1 => "sha1",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, ..)| *known == name).map(|(_, algorithm, _)| *algorithm)
    }

    fn digits(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha1 => 40,
        }
    }
}

/// Where an MCP server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpEndpoint {
    /// Its address, `http://...` or `https://...`.
    pub url: String,
    /// What every request has as headers, by name.
    pub headers: BTreeMap<String, String>,
}

/// An MCP server as it is configured: its kind, what servers of either kind have, and what any server has.
pub(super) struct ServerTable;

table! {
    struct KindTable "KindTable" {
        r#type: Word<Kind>,
    }
}

table! {
    struct StdioTable "StdioTable" {
        /// The program: a name to be found in `PATH`, or a path, relative to the workspace.
        command: String,
        /// The program's arguments.
        args: Later<Vec<String>>,
        /// The same as `args`.
        arguments: Later<Vec<String>>,
        /// What the program has in its environment beside what it inherits.
        env: Later<BTreeMap<String, String>>,
        /// Variables that it needs of the environment it inherits.
        variables: Later<Vec<String>>,
        /// The folder that it runs in, relative to the workspace.
        cwd: Later<String>,
        /// The digest that the program's file must have.
        checksum: Later<McpChecksum>,
    }
}

table! {
    struct HttpTable "HttpTable" {
        /// Where the server listens.
        #[pattern = r"^https?://[^/\s][^\s]*$"]
        url: String,
        /// What every request has as headers.
        headers: Later<BTreeMap<String, String>>,
    }
}

table! {
    struct CommonTable "CommonTable" {
        /// How long it may take until it is ready, in seconds; 0: as long as it likes.
        startup_timeout_secs: Later<u32>,
        // Servers that are not needed are not started, so it makes no difference here.
        "optional": JsonScalar,
    }
}

impl ServerTable {
    const FIELDS: Fields = Fields(&[
        KindTable::FIELDS.0[0],
        StdioTable::FIELDS.0[0],
        HttpTable::FIELDS.0[0],
        CommonTable::FIELDS.0[0],
    ]);
}

impl FieldType for ServerTable {
    const SHAPE: Shape = Shape::named(Self::FIELDS);
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ServerTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "McpServer".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let about = "An MCP server: a process with `command`, or one that listens at a `url`.";
        super::spec::schema::table_schema(Self::FIELDS, &[about], generator)
    }
}

table! {
    struct ChecksumTable "McpChecksumTable" {
        algorithm: Word<ChecksumAlgorithm>,
        /// In hex.
        value: Later<String>,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Stdio,
    Http,
}

impl Words for Kind {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "McpKind";
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("stdio", Self::Stdio, "A process, by its standard input and output."),
        ("http", Self::Http, "Streamable HTTP."),
        ("streamable-http", Self::Http, "The same as `http`."),
        ("streamable_http", Self::Http, "The same as `http`."),
    ];
}

impl Words for ChecksumAlgorithm {
    #[cfg(feature = "schema")]
    const NAME: &'static str = "Algorithm";
    const WORDS: &'static [(&'static str, Self, &'static str)] =
        &[(Self::Sha256.name(), Self::Sha256, ""), (Self::Sha1.name(), Self::Sha1, "")];
}

impl FieldType for McpChecksum {
    const SHAPE: Shape = Shape::named(ChecksumTable::FIELDS);
}

#[cfg(feature = "schema")]
super::spec::any_of! {
    McpChecksum, "McpChecksum",
    "A digest, as `\"sha256:...\"` or as a table.",
    [String, ChecksumTable]
}

/// How long a server may take to be ready: jp's default.
const STARTUP: Duration = Duration::from_mins(1);

/// Reads `providers.mcp`.
pub(super) fn read_mcp(node: Node, problems: &mut Vec<Diagnostic>) -> BTreeMap<String, McpServer> {
    let Some(reader) = Reader::new("`providers.mcp`", node, problems) else {
        return BTreeMap::new();
    };
    let mut servers = BTreeMap::new();
    for (name, entry) in reader.rest() {
        if let Some(server) = read_server(&name, entry.node, problems) {
            servers.insert(name, server);
        }
    }
    servers
}

fn read_server(name: &str, node: Node, problems: &mut Vec<Diagnostic>) -> Option<McpServer> {
    let place = node.place.clone();
    let has_url = has(&node, "url");
    let mut reader = Reader::new(format!("MCP server `{}`", name.escape_debug()), node, problems)?;
    let before = reader.problems.len();
    let kind = match KindTable::take(&mut reader).r#type {
        Some(kind) => kind.value,
        None if reader.problems.len() > before => return None,
        None if has_url => Kind::Http,
        None => Kind::Stdio,
    };
    let common = CommonTable::take(&mut reader);
    let startup_timeout = match common.startup_timeout_secs {
        Some(entry) => read_timeout(&reader.what, &entry.node, reader.problems),
        None => Some(STARTUP),
    };
    let transport = match kind {
        Kind::Stdio => {
            refuse_fields(&mut reader, HttpTable::FIELDS, "type = \"http\"");
            read_command(&mut reader, &place).map(McpTransport::Stdio)
        }
        Kind::Http => {
            refuse_fields(&mut reader, StdioTable::FIELDS, "type = \"stdio\"");
            read_endpoint(&mut reader, &place).map(McpTransport::Http)
        }
    };
    reader.finish();
    Some(McpServer { name: name.to_owned(), transport: transport?, startup_timeout })
}

fn has(node: &Node, field: &str) -> bool {
    matches!(&node.value, Value::Table(fields) if fields.contains_key(field))
}

/// Refuses fields that a server of the other kind has.
fn refuse_fields(reader: &mut Reader<'_>, fields: Fields, kind: &str) {
    for field in fields.names() {
        if let Some(entry) = reader.take(field) {
            let problem = Diagnostic::error(format!("{}: `{field}` needs `{kind}`", reader.what))
                .at(&entry.name, "belongs to another kind of server");
            reader.problems.push(problem);
        }
    }
}

fn read_timeout(what: &str, node: &Node, problems: &mut Vec<Diagnostic>) -> Option<Duration> {
    let seconds = match &node.value {
        Value::Integer(text) => text.parse::<u32>().ok(),
        _ => None,
    };
    match seconds {
        Some(0) => None,
        Some(seconds) => Some(Duration::from_secs(seconds.into())),
        None => {
            let what = format!("{what}: `startup_timeout_secs`");
            let expected = "a whole number of seconds (0: no limit)";
            problems.push(wrong_kind(&what, expected, &node.value, &node.place));
            Some(STARTUP)
        }
    }
}

fn read_command(reader: &mut Reader<'_>, place: &Place) -> Option<McpCommand> {
    let before = reader.problems.len();
    let table = StdioTable::take(reader);
    let command = table.command;
    let missing = command.is_none() && reader.problems.len() == before;
    let args = read_strings(reader, [("args", table.args), ("arguments", table.arguments)]);
    let env = table.env.map(|entry| read_texts(reader, "env", entry)).unwrap_or_default();
    let variables = read_strings(reader, [("variables", table.variables)]);
    let folder = table.cwd.and_then(|entry| reader.as_string("cwd", entry));
    let folder = folder.map(|folder| PathBuf::from(folder.value));
    let checksum = table.checksum.and_then(|entry| read_checksum(reader, entry));
    if missing {
        let problem = Diagnostic::error(format!("{} has no `command`", reader.what))
            .at(place, "add `command = \"...\"`, or `type = \"http\"` with a `url`");
        reader.problems.push(problem);
    }
    let command = command?;
    if command.value.is_empty() || command.value.contains('\0') {
        let problem = Diagnostic::error(format!(
            "{}: `command` is {:?}, expected a program",
            reader.what, command.value
        ))
        .at(&command.place, "no program");
        reader.problems.push(problem);
        return None;
    }
    Some(McpCommand { program: command.value, args, env, variables, folder, checksum })
}

fn read_endpoint(reader: &mut Reader<'_>, place: &Place) -> Option<McpEndpoint> {
    let before = reader.problems.len();
    let HttpTable { url, headers } = HttpTable::take(reader);
    let missing = url.is_none() && reader.problems.len() == before;
    let headers = headers.map(|entry| read_texts(reader, "headers", entry)).unwrap_or_default();
    for name in headers.keys().filter(|name| !is_token(name)) {
        let problem = Diagnostic::error(format!(
            "{}: `headers` has {name:?}, which is no name of a header",
            reader.what
        ))
        .at(place, "letters, digits and `-` only");
        reader.problems.push(problem);
    }
    match url {
        Some(url) if is_address(&url.value) => Some(McpEndpoint { url: url.value, headers }),
        Some(url) => {
            let problem = Diagnostic::error(format!(
                "{}: `url` is {:?}, expected \"http://...\" or \"https://...\"",
                reader.what, url.value
            ))
            .at(&url.place, "no address of a server");
            reader.problems.push(problem);
            None
        }
        None => {
            if missing {
                let problem = Diagnostic::error(format!("{} has no `url`", reader.what))
                    .at(place, "add `url = \"https://...\"`");
                reader.problems.push(problem);
            }
            None
        }
    }
}

fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && !url.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// `"sha256:..."`, or jp's `{ algorithm, value }`.
fn read_checksum(reader: &mut Reader<'_>, entry: Entry) -> Option<McpChecksum> {
    let what = format!("{}: `checksum`", reader.what);
    let (algorithm, value) = match entry.node.value {
        Value::String(text) => match text.split_once(':') {
            Some((word, digest)) if let Some(algorithm) = ChecksumAlgorithm::of_name(word) => {
                (algorithm, Located { value: digest.to_owned(), place: entry.node.place })
            }
            _ => (ChecksumAlgorithm::default(), Located { value: text, place: entry.node.place }),
        },
        Value::Table(_) => {
            let place = entry.node.place.clone();
            let mut table = Reader::new(what.as_str(), entry.node, reader.problems)?;
            let ChecksumTable { algorithm, value } = ChecksumTable::take(&mut table);
            let value = match value {
                Some(entry) => table.as_string("value", entry),
                None => {
                    let problem = Diagnostic::error(format!("{what} has no `value`"))
                        .at(&place, "add `value = \"...\"`, the digest in hex");
                    table.problems.push(problem);
                    None
                }
            };
            table.finish();
            (algorithm.map(|word| word.value).unwrap_or_default(), value?)
        }
        other => {
            let expected = "a table { algorithm, value } or \"sha256:...\"";
            reader.problems.push(wrong_kind(&what, expected, &other, &entry.node.place));
            return None;
        }
    };
    let digest = value.value.to_ascii_lowercase();
    if digest.len() == algorithm.digits() && digest.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Some(McpChecksum { algorithm, value: digest });
    }
    let problem = Diagnostic::error(format!(
        "{what} is {:?}, expected {} hex digits ({})",
        value.value,
        algorithm.digits(),
        algorithm.name()
    ))
    .at(&value.place, "not a digest");
    reader.problems.push(problem);
    None
}

/// An array of strings that goes by one of these names.
fn read_strings<const N: usize>(
    reader: &mut Reader<'_>,
    entries: [(&'static str, Option<Entry>); N],
) -> Vec<String> {
    let mut found = Vec::new();
    let mut first: Option<&str> = None;
    for (name, entry) in entries {
        let Some(entry) = entry else {
            continue;
        };
        let what = format!("{}: `{name}`", reader.what);
        if let Some(first) = first.replace(name) {
            let problem = Diagnostic::error(format!("{what} is the same as `{first}`"))
                .at(&entry.name, "write one of the two");
            reader.problems.push(problem);
            continue;
        }
        let Value::Array(items) = entry.node.value else {
            let expected = "an array of strings";
            let problem = wrong_kind(&what, expected, &entry.node.value, &entry.node.place);
            reader.problems.push(problem);
            continue;
        };
        for item in items {
            match item.value {
                Value::String(text) if !text.contains('\0') => found.push(text),
                other => {
                    reader.problems.push(wrong_kind(&what, "strings", &other, &item.place));
                }
            }
        }
    }
    found
}

/// A table of strings.
fn read_texts(
    reader: &mut Reader<'_>,
    name: &'static str,
    entry: Entry,
) -> BTreeMap<String, String> {
    let what = format!("{}: `{name}`", reader.what);
    let Some(table) = Reader::new(what.as_str(), entry.node, reader.problems) else {
        return BTreeMap::new();
    };
    let mut texts = BTreeMap::new();
    for (name, entry) in table.rest() {
        match entry.node.value {
            Value::String(text) if !text.contains(char::is_control) => {
                texts.insert(name, text);
            }
            other => {
                let what = format!("{what}: `{}`", name.escape_debug());
                let expected = "a string without control characters";
                reader.problems.push(wrong_kind(&what, expected, &other, &entry.node.place));
            }
        }
    }
    texts
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
