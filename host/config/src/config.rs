//! The checked configuration.

use std::collections::BTreeMap;

use jp_policy_guest::{Field, Key, KeyIndex, Settings, Tool as GuestTool, ToolIndex};

use super::{
    check::check, concurrency::Concurrency, diagnostic::Diagnostic, mcp::McpServer,
    release::Release, tool::Tool,
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
    /// What has to hold between tools: that those of a key agree, that `stop` has something to stop; and what looks mistaken.
    ///
    /// A configuration that was loaded has been checked. One whose tools were changed since may be checked again.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        check(&self.tools, &self.mcp, &mut problems);
        problems
    }

    /// What the scheduler and the policy get: all tools and all keys that have a limit, each sorted by name, so that an index is the
    /// same in every list.
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

    /// A tool's index in [`Settings::tools`]; none if there is no such tool.
    pub fn tool_index(&self, name: &str) -> Option<ToolIndex> {
        let place = self.tools.keys().position(|known| known == name)?;
        ToolIndex::try_from(place).ok()
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
