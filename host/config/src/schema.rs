//! The form of a configuration file as a JSON Schema, for editors that complete and check what is written.
//!
//! It describes one layer: what is left out may be said by another, so that a table without `key` is fine here and only wrong if
//! no layer names one. Sections that are jp's alone are let through.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use serde_json::Value as Json;

/// The JSON Schema of a configuration file.
pub fn schema() -> Json {
    schema_for!(Document).to_value()
}

/// Configuration of jp-policy: a file of jp, or a part of one.
#[derive(JsonSchema)]
#[schemars(title = "jp-policy configuration", deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Document {
    /// A schema for editors.
    #[schemars(rename = "$schema")]
    schema: Option<String>,
    conversation: Option<Conversation>,
    plugins: Option<Plugins>,
    /// Files that this file brings along, relative to it; each may be a pattern like `mcp/tools/**/*.toml`.
    extends: Option<Vec<Extends>>,
    /// Whether files of later layers may add to this one; false closes them out.
    inherit: Option<bool>,
    config_load_paths: Option<Json>,
    providers: Option<Providers>,
    assistant: Option<Json>,
    editor: Option<Json>,
    interrupt: Option<Json>,
    loader: Option<Json>,
    style: Option<Json>,
    template: Option<Json>,
    user: Option<Json>,
}

/// A file that is brought along.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the variants are there for their names and types")]
enum Extends {
    /// Laid under this file.
    Path(String),
    /// Laid under or over this file.
    Entry(ExtendsEntry),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct ExtendsEntry {
    /// A path, or a pattern.
    path: String,
    /// Whether this file lies over it (`before`, the default) or it over this file (`after`).
    strategy: Option<Strategy>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum Strategy {
    Before,
    After,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Conversation {
    /// The tools by name; under `*` what holds for all of them.
    tools: Option<Tools>,
    release: Option<Release>,
    attachments: Option<Json>,
    compaction: Option<Json>,
    default_id: Option<Json>,
    inquiry: Option<Json>,
    labels: Option<Json>,
    start_local: Option<Json>,
    title: Option<Json>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Tools {
    #[schemars(rename = "*")]
    defaults: Option<Defaults>,
    #[schemars(flatten)]
    tools: BTreeMap<String, Option<Tool>>,
}

/// What holds for every tool that says nothing else.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Defaults {
    /// How calls are approved.
    run: Option<Run>,
    /// How results are reviewed before they become the response.
    result: Option<Result>,
    /// The response of a call that was cancelled.
    cancellation_response: Option<String>,
    enable: Option<Json>,
    format: Option<Json>,
    style: Option<Json>,
    access: Option<Json>,
    questions: Option<Json>,
    options: Option<Json>,
}

/// A tool.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Tool {
    /// Where its executions come from: `local`, `local.<name>`, `mcp.<server>`, `mcp.<server>.<tool>`, `builtin` or
    /// `builtin.<name>`.
    #[schemars(regex(pattern = r"^(local(\..*)?|builtin(\..*)?|mcp\..+)$"))]
    source: Option<String>,
    /// What runs it, for a local tool.
    command: Option<Command>,
    /// How its calls are approved.
    run: Option<Run>,
    /// How its results are reviewed before they become the response.
    result: Option<Result>,
    /// The response of a call that was cancelled.
    cancellation_response: Option<String>,
    /// How many of its executions may run at once, and with whom it shares that limit.
    concurrency: Option<Concurrency>,
    /// Whether one call may carry several sets of arguments.
    fan_out: Option<FanOut>,
    /// Its questions by id; one with an `answer` is not asked.
    questions: Option<BTreeMap<String, Json>>,
    summary: Option<String>,
    description: Option<String>,
    parameters: Option<Json>,
    options: Option<Json>,
    enable: Option<Json>,
    examples: Option<Json>,
    format: Option<Json>,
    style: Option<Json>,
    access: Option<Json>,
}

/// What runs a local tool.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the variants are there for their names and types")]
enum Command {
    /// A line that is split into words as a shell would; each word is a template.
    Line(String),
    /// Program and arguments, each a template.
    Parts(CommandParts),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct CommandParts {
    /// The program, or, with `shell`, a line of shell.
    program: Option<String>,
    /// Its arguments.
    args: Option<Vec<String>>,
    /// Whether a shell runs it.
    shell: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum Run {
    /// A person is asked.
    Ask,
    /// Nobody is.
    Unattended,
    /// A person may edit the arguments.
    Edit,
    /// It is not run.
    Skip,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum Result {
    /// It is delivered.
    Unattended,
    /// A person is asked whether it is.
    Ask,
    /// A person may edit it.
    Edit,
    /// It is not delivered.
    Skip,
}

/// A limit for this tool alone, or a key that tools share.
struct Concurrency;

impl JsonSchema for Concurrency {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Concurrency".into()
    }

    // By hand: beyond key and limit a table has whatever the policy takes, and numbers have their bounds.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let limit = json_schema!({
            "type": "integer",
            "minimum": 0,
            "maximum": u32::MAX,
            "description": "How many executions may run at once; 0 lifts the limit.",
        });
        json_schema!({
            "description": "A limit for this tool alone, or a key that tools share, with its limit and fields for the policy.",
            "anyOf": [
                limit,
                {
                    "type": "object",
                    "properties": {
                        "key": {
                            "type": "string",
                            "description": "The concurrency key: tools that name it share its limit.",
                            // Something that is no white space, and no control character.
                            "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$",
                        },
                        "limit": limit,
                    },
                },
            ],
        })
    }
}

/// Whether one call may carry several sets of arguments, and what a failure among them means.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the variants are there for their names and types")]
enum FanOut {
    /// Whether it may.
    Enabled(bool),
    /// With what a failure means.
    Table(FanOutTable),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct FanOutTable {
    /// Whether it may.
    enabled: Option<bool>,
    /// What becomes of the operations that have not started when one has failed; `stop` needs a limit.
    on_error: Option<OnError>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum OnError {
    /// They run.
    Continue,
    /// They end at once, not run.
    Stop,
}

/// How releases are decided.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Release {
    /// The plugin that decides, by its name under `plugins.wasm`; none: the embedded default.
    policy: Option<String>,
    /// What follows a fault of the policy.
    on_fault: Option<OnFault>,
    /// What the host checks of a decision.
    guard: Option<Guard>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum OnFault {
    /// The default rules take the rest of the batch over.
    Default,
    /// Parked calls are settled with an error that names the policy.
    Settle,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum Guard {
    /// That no key has more executions in flight than its limit.
    Limit,
    /// And that no earlier waiting call of the key is left behind.
    Order,
    /// Nothing.
    Off,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Providers {
    /// MCP servers that tools come from, by name.
    mcp: Option<BTreeMap<String, McpServer>>,
    llm: Option<Json>,
}

/// An MCP server: a process with `command`, or one that listens at a `url`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct McpServer {
    r#type: Option<McpKind>,
    /// The program: a name to be found in `PATH`, or a path, relative to the workspace.
    command: Option<String>,
    /// The program's arguments.
    args: Option<Vec<String>>,
    /// The same as `args`.
    arguments: Option<Vec<String>>,
    /// What the program has in its environment beside what it inherits.
    env: Option<BTreeMap<String, String>>,
    /// Variables that it needs of the environment it inherits.
    variables: Option<Vec<String>>,
    /// The folder that it runs in, relative to the workspace.
    cwd: Option<String>,
    /// The digest that the program's file must have.
    checksum: Option<McpChecksum>,
    /// Where the server listens.
    #[schemars(regex(pattern = r"^https?://[^/\s][^\s]*$"))]
    url: Option<String>,
    /// What every request has as headers.
    headers: Option<BTreeMap<String, String>>,
    /// How long it may take until it is ready, in seconds; 0: as long as it likes.
    startup_timeout_secs: Option<u32>,
    optional: Option<Json>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum McpKind {
    /// A process, by its standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The same as `http`.
    StreamableHttp,
    /// The same as `http`.
    #[schemars(rename = "streamable_http")]
    StreamableHttpSnake,
}

/// A digest, as `"sha256:..."` or as a table.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the variants are there for their names and types")]
enum McpChecksum {
    Text(String),
    Table(McpChecksumTable),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct McpChecksumTable {
    algorithm: Option<Algorithm>,
    /// In hex.
    value: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum Algorithm {
    Sha256,
    Sha1,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Plugins {
    /// Plugins that are WebAssembly components, by name.
    wasm: Option<BTreeMap<String, Plugin>>,
    auto_install: Option<Json>,
    command: Option<Json>,
    shutdown_timeout_secs: Option<Json>,
}

/// A WebAssembly component.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct Plugin {
    /// The component, relative to this file.
    path: Option<String>,
    /// The digest that the file must have.
    #[schemars(regex(pattern = "^sha256:[0-9a-fA-F]{64}$"))]
    checksum: Option<String>,
    /// Whether it may run.
    run: Option<PluginRun>,
    /// For the policy.
    options: Option<BTreeMap<String, Json>>,
    limits: Option<PluginLimits>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the variants are there for their names")]
enum PluginRun {
    /// A person is asked.
    Ask,
    /// It may.
    Unattended,
    /// It may not.
    Deny,
}

/// What a plugin may cost; what is not given keeps its default.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are there for their names and types")]
struct PluginLimits {
    /// Instructions for one question.
    fuel: Option<u64>,
    /// Instructions to start and to be configured, each.
    start_fuel: Option<u64>,
    /// Wall-clock time for one question, like "250ms".
    time: Option<String>,
    /// Bytes of memory, like "64 MiB".
    memory: Option<Size>,
    /// Elements of all tables.
    table: Option<u64>,
    /// Core instances, memories and tables, each.
    instances: Option<u64>,
    /// Bytes of one answer.
    answer: Option<Size>,
    /// Bytes of the file.
    file: Option<Size>,
    /// Lines of log for one question.
    log_lines: Option<u32>,
}

/// A number of bytes.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the variants are there for their names and types")]
enum Size {
    /// In bytes.
    Bytes(u64),
    /// With a unit, like "64 MiB".
    Text(String),
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
