//! A whole configuration file: its sections, and what is read of them.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{
    config::Config,
    diagnostic::Diagnostic,
    extends::Extends,
    mcp::{ServerTable, read_mcp},
    node::{Entry, Node, Value},
    reader::{Reader, wrong_kind},
    release::{PluginTable, ReleaseTable, read_plugins, read_release},
    spec::{ByName, Configured, FieldType, Later, Named, Shape, Table, table},
    suggest::nearest,
    tool::{Tool, ToolDefaults, ToolTable},
};
#[cfg(feature = "schema")]
use super::{spec::of_type, tool::DefaultsTable};

table! {
    /// Configuration of jp-policy: a file of jp, or a part of one.
    pub(super) struct Document "jp-policy configuration" {
        conversation: Later<ConversationTable>,
        plugins: Later<PluginsTable>,
        /// Files that this file brings along, relative to it; each may be a pattern like `mcp/tools/**/*.toml`.
        "extends": Vec<Extends>,
        /// Whether files of later layers may add to this one; false closes them out.
        "inherit": bool,
        "config_load_paths": Json,
        providers: Later<ProvidersTable>,
        "assistant": Json,
        "editor": Json,
        "interrupt": Json,
        "loader": Json,
        "style": Json,
        "template": Json,
        "user": Json,
    }
}

table! {
    pub(super) struct ConversationTable "Conversation" {
        /// The tools by name; under `*` what holds for all of them.
        tools: Later<Tools>,
        release: Later<ReleaseTable>,
        "attachments": Json,
        "compaction": Json,
        "default_id": Json,
        "inquiry": Json,
        "labels": Json,
        "start_local": Json,
        "title": Json,
    }
}

table! {
    struct PluginsTable "Plugins" {
        /// Plugins that are WebAssembly components, by name.
        wasm: Later<ByName<PluginTable>>,
        "auto_install": Json,
        "command": Json,
        "shutdown_timeout_secs": Json,
    }
}

table! {
    struct ProvidersTable "Providers" {
        /// MCP servers that tools come from, by name.
        mcp: Later<ByName<ServerTable>>,
        "llm": Json,
    }
}

/// `conversation.tools`: the defaults under `*`, and tools by name.
pub(super) struct Tools;

impl FieldType for Tools {
    const SHAPE: Shape = Shape::configured(Configured::Tools, &ToolTable::SHAPE);
}

impl Named for PluginTable {
    const KIND: Configured = Configured::Plugins;
}

impl Named for ServerTable {
    const KIND: Configured = Configured::Servers;
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Tools {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tools".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "properties": { "*": of_type::<DefaultsTable>(generator, true) },
            "additionalProperties": of_type::<ToolTable>(generator, true),
        })
    }
}

/// Reads a merged document. What is wrong with it goes to `problems`; the rest is returned.
pub(super) fn read_document(root: Node, problems: &mut Vec<Diagnostic>) -> Config {
    let mut config = Config::default();
    let Some(mut reader) = Reader::new("the configuration", root, problems) else {
        return config;
    };
    let document = Document::take(&mut reader);
    // It is for editors.
    reader.ignore(&["$schema"]);
    for (name, entry) in reader.rest() {
        let problem = Diagnostic::warning(format!("unknown section `{}`", name.escape_debug()))
            .at(&entry.name, "it has no effect");
        problems.push(match nearest(&name, Document::FIELDS.names()) {
            Some(known) => problem.help(format!("did you mean `{known}`?")),
            None => problem,
        });
    }
    let conversation: ConversationTable =
        read_section("conversation", document.conversation, problems);
    let plugins: PluginsTable = read_section("plugins", document.plugins, problems);
    let providers: ProvidersTable = read_section("providers", document.providers, problems);
    config.mcp = providers.mcp.map(|entry| read_mcp(entry.node, problems)).unwrap_or_default();
    let plugins = plugins.wasm.map(|entry| read_plugins(entry.node, problems)).unwrap_or_default();
    if let Some(entry) = conversation.release {
        config.release = read_release(entry.node, &plugins, problems);
    }
    if let Some(entry) = conversation.tools {
        config.tools = read_tools(entry.node, problems);
    }
    config
}

/// Reads a section of the document, and warns of fields that nobody knows. Most of what stands there is jp's alone.
fn read_section<T: Table>(name: &str, entry: Option<Entry>, problems: &mut Vec<Diagnostic>) -> T {
    let reader = entry.and_then(|entry| Reader::new(format!("`{name}`"), entry.node, problems));
    let Some(mut reader) = reader else {
        return T::default();
    };
    let section = T::take(&mut reader);
    reader.finish();
    section
}

fn read_tools(node: Node, problems: &mut Vec<Diagnostic>) -> BTreeMap<String, Tool> {
    let mut read = BTreeMap::new();
    let Value::Table(mut tools) = node.value else {
        let expected = "a table of tools";
        problems.push(wrong_kind("`conversation.tools`", expected, &node.value, &node.place));
        return read;
    };
    let defaults = match tools.shift_remove("*") {
        Some(entry) => ToolDefaults::read(entry.node, problems),
        None => ToolDefaults::default(),
    };
    for (name, entry) in tools {
        // Null is how jp says that a layer has nothing to say.
        if matches!(entry.node.value, Value::Null) {
            continue;
        }
        if let Some(tool) = Tool::read(&name, entry, &defaults, problems) {
            read.insert(name, tool);
        }
    }
    read
}
