//! From sources to one checked configuration.

use std::{collections::BTreeMap, path::PathBuf};

use jp_policy_guest::{Field, Key, KeyIndex, Settings, Tool as GuestTool, ToolIndex};

use super::{
    check::check,
    concurrency::{self, Concurrency},
    diagnostic::{ConfigError, Diagnostic, Severity, nearest},
    mcp::{McpServer, read_mcp},
    node::{self, Entry, Node, Value},
    release::{Release, read_plugins, read_release},
    source::Source,
    tool::{Tool, ToolDefaults},
};

/// A configuration that holds: everything in it was checked.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// All configured tools by name, switched on or off.
    pub tools: BTreeMap<String, Tool>,
    /// The MCP servers that tools may come from, by name.
    pub mcp: BTreeMap<String, McpServer>,
    /// How releases are decided.
    pub release: Release,
    /// What is probably not what was meant.
    pub warnings: Vec<Diagnostic>,
}

impl Config {
    /// Reads files, and folders of files, and merges them in this order: later ones win.
    pub fn load(paths: &[PathBuf]) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let mut sources = Vec::new();
        for path in paths {
            sources.extend(Source::read(path, &mut problems));
        }
        Self::build(&sources, problems)
    }

    /// Merges sources in this order: later ones win.
    ///
    /// ```
    /// use jp_policy::config::{Config, Source};
    ///
    /// let text = r#"
    /// [conversation.tools.git_add]
    /// command = "git add {{tool.arguments.path}}"
    /// concurrency = { key = "git" }
    /// "#;
    /// let config = Config::from_sources(&[Source::new("tools.toml", text)])?;
    /// let settings = config.settings();
    /// assert_eq!(settings.keys[0].name, "git");
    /// assert_eq!(settings.keys[0].limit, 1);
    /// # Ok::<(), jp_policy::config::ConfigError>(())
    /// ```
    pub fn from_sources(sources: &[Source]) -> Result<Self, ConfigError> {
        Self::build(sources, Vec::new())
    }

    fn build(sources: &[Source], mut problems: Vec<Diagnostic>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some(root) = merge(sources, &mut problems) {
            config.read(root, &mut problems);
            check(&config.tools, &mut problems);
        }
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Err(ConfigError(problems));
        }
        config.warnings = problems;
        Ok(config)
    }

    fn read(&mut self, root: Node, problems: &mut Vec<Diagnostic>) {
        let Value::Table(mut root) = root.value else {
            return;
        };
        // A document may be a whole jp configuration: most of its sections are none of our business.
        let mut section = |path: &[&str]| take(&mut root, path);
        let tools = section(&["conversation", "tools"]);
        let release = section(&["conversation", "release"]);
        let plugins = section(&["plugins", "wasm"]);
        let mcp = section(&["providers", "mcp"]);
        for (name, entry) in &root {
            if let Some(known) = nearest(name, ["conversation", "plugins", "providers"])
                && known != name
            {
                problems.push(
                    Diagnostic::warning(format!("unknown section `{}`", name.escape_debug()))
                        .at(&entry.name, "it has no effect")
                        .help(format!("did you mean `{known}`?")),
                );
            }
        }
        self.mcp = mcp.map(|node| read_mcp(node, problems)).unwrap_or_default();
        let plugins = plugins.map(|node| read_plugins(node, problems)).unwrap_or_default();
        if let Some(node) = release {
            self.release = read_release(node, &plugins, problems);
        }
        let Some(tools) = tools else {
            return;
        };
        let Value::Table(mut tools) = tools.value else {
            problems.push(
                Diagnostic::error("`conversation.tools` is no table")
                    .at(&tools.place, "expected a table"),
            );
            return;
        };
        let defaults = match tools.shift_remove("*") {
            Some(entry) => ToolDefaults::read(entry.node, problems),
            None => ToolDefaults::default(),
        };
        for (name, entry) in tools {
            if let Some(tool) = Tool::read(&name, entry.node, &defaults, problems) {
                self.tools.insert(name, tool);
            }
        }
    }

    /// What the scheduler and the policy get: all tools and all keys that have a limit, sorted by name.
    pub fn settings(&self) -> Settings {
        let mut keys: BTreeMap<&str, Key> = BTreeMap::new();
        for concurrency in self.tools.values().filter_map(|tool| tool.concurrency.as_ref()) {
            if let Some((key, limit)) = concurrency.bound() {
                let fields = concurrency.fields.iter().filter_map(|(name, entry)| {
                    Some(Field { name: name.clone(), value: entry.node.value.to_guest()? })
                });
                keys.entry(key).or_insert_with(|| Key {
                    name: key.to_owned(),
                    limit,
                    fields: fields.collect(),
                });
            }
        }
        let index: BTreeMap<&str, KeyIndex> = keys.keys().copied().zip(0..).collect();
        let tools = self.tools.values().map(|tool| GuestTool {
            name: tool.name.clone(),
            key: tool
                .concurrency
                .as_ref()
                .and_then(Concurrency::bound)
                .and_then(|(key, _)| index.get(key).copied()),
        });
        Settings {
            tools: tools.collect(),
            options: self
                .release
                .policy
                .as_ref()
                .map(|plugin| plugin.options.clone())
                .unwrap_or_default(),
            keys: keys.into_values().collect(),
        }
    }

    /// A tool's place in [`Settings::tools`].
    pub fn tool_index(&self, name: &str) -> Option<ToolIndex> {
        let place = self.tools.keys().position(|known| known == name)?;
        ToolIndex::try_from(place).ok()
    }
}

fn merge(sources: &[Source], problems: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut merged: Option<Node> = None;
    for source in sources {
        let document = node::parse_toml(source, problems);
        match &mut merged {
            None => merged = Some(document),
            Some(base) => node::merge(base, document, &mut Vec::new(), &|path, base, later| {
                if let [conversation, tools, tool, field] = path
                    && conversation == "conversation"
                    && tools == "tools"
                    && field == "concurrency"
                {
                    concurrency::widen(tool, base, later);
                }
            }),
        }
    }
    merged
}

/// Takes the node at a path of names out of a table.
fn take(table: &mut node::Table, path: &[&str]) -> Option<Node> {
    match path {
        [] => None,
        [last] => table.shift_remove(*last).map(|entry: Entry| entry.node),
        [first, rest @ ..] => match &mut table.get_mut(*first)?.node.value {
            Value::Table(inner) => take(inner, rest),
            _ => None,
        },
    }
}
