//! From sources to one checked configuration.

use std::{collections::BTreeMap, path::PathBuf};

use jp_policy_guest::{Field, Key, KeyIndex, Settings, Tool as GuestTool, ToolIndex};

use super::{
    check::check,
    concurrency::Concurrency,
    diagnostic::{ConfigError, Diagnostic, Severity},
    fields,
    layers::{Layer, Layers},
    mcp::{McpServer, read_mcp},
    node::{Entry, Node, Value},
    reader::{Reader, wrong_kind},
    release::{Release, read_plugins, read_release},
    source::Source,
    suggest::nearest,
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
    /// Reads files, and folders of files, with what they extend, and merges them in this order: later ones win.
    pub fn load(paths: &[PathBuf]) -> Result<Self, ConfigError> {
        let mut layers = Layers::default();
        for path in paths {
            layers.path(path);
        }
        layers.build()
    }

    /// Merges sources in this order: later ones win.
    ///
    /// ```
    /// use jp_policy_config::{Config, Source};
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
    /// # Ok::<(), crate::ConfigError>(())
    /// ```
    pub fn from_sources(sources: &[Source]) -> Result<Self, ConfigError> {
        let mut layers = Layers::default();
        for source in sources {
            layers.source(Layer::Config, source);
        }
        layers.build()
    }

    /// Reads and checks a merged tree, after these problems.
    pub(super) fn of_tree(
        root: Option<Node>,
        mut problems: Vec<Diagnostic>,
    ) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some(root) = root {
            config.read(root, &mut problems);
            check(&config.tools, &config.mcp, &mut problems);
        }
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Err(ConfigError(problems));
        }
        config.warnings = problems;
        Ok(config)
    }

    fn read(&mut self, root: Node, problems: &mut Vec<Diagnostic>) {
        // A document may be a whole jp configuration: most of its sections are none of our business.
        let Some(mut document) = Reader::new("the configuration", root, problems) else {
            return;
        };
        let conversation = document.take("conversation");
        let plugins = document.take("plugins");
        let providers = document.take("providers");
        // `$schema` is for editors.
        document.ignore(&["$schema"]);
        document.ignore(fields::DOCUMENT);
        for (name, entry) in document.rest() {
            let problem = Diagnostic::warning(format!("unknown section `{}`", name.escape_debug()))
                .at(&entry.name, "it has no effect");
            problems.push(match nearest(&name, fields::DOCUMENT.iter().copied()) {
                Some(known) => problem.help(format!("did you mean `{known}`?")),
                None => problem,
            });
        }
        let [tools, release] = section(
            "conversation",
            conversation,
            fields::CONVERSATION,
            ["tools", "release"],
            problems,
        );
        let [plugins] = section("plugins", plugins, fields::PLUGINS, ["wasm"], problems);
        let [mcp] = section("providers", providers, fields::PROVIDERS, ["mcp"], problems);
        self.mcp = mcp.map(|node| read_mcp(node, problems)).unwrap_or_default();
        let plugins = plugins.map(|node| read_plugins(node, problems)).unwrap_or_default();
        if let Some(node) = release {
            self.release = read_release(node, &plugins, problems);
        }
        let Some(tools) = tools else {
            return;
        };
        let Value::Table(mut tools) = tools.value else {
            let expected = "a table of tools";
            problems.push(wrong_kind("`conversation.tools`", expected, &tools.value, &tools.place));
            return;
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
                self.tools.insert(name, tool);
            }
        }
    }

    /// What has to hold between tools: that those of a key agree, that `stop` has something to stop; and what looks mistaken.
    ///
    /// A configuration that was loaded has been checked. One whose tools were changed since may be checked again.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        check(&self.tools, &self.mcp, &mut problems);
        problems
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

/// Takes these fields out of a section, and warns of those that nobody knows.
fn section<const N: usize>(
    name: &str,
    entry: Option<Entry>,
    known: &[&'static str],
    taken: [&'static str; N],
    problems: &mut Vec<Diagnostic>,
) -> [Option<Node>; N] {
    let reader = entry.and_then(|entry| Reader::new(format!("`{name}`"), entry.node, problems));
    let Some(mut reader) = reader else {
        return [const { None }; N];
    };
    let fields = taken.map(|field| reader.take(field).map(|entry| entry.node));
    reader.ignore(known);
    reader.finish();
    fields
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
