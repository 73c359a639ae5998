//! Which names have a meaning where: for keys in which names are joined, and for suggestions.

/// Of a document. jp's other sections have a meaning, but not here.
pub(super) const DOCUMENT: &[&str] = &[
    "assistant",
    "config_load_paths",
    "conversation",
    "editor",
    "extends",
    "inherit",
    "interrupt",
    "loader",
    "plugins",
    "providers",
    "style",
    "template",
    "user",
];

/// Of `conversation`; all but the last two are jp's alone.
pub(super) const CONVERSATION: &[&str] = &[
    "attachments",
    "compaction",
    "default_id",
    "inquiry",
    "labels",
    "start_local",
    "title",
    "tools",
    "release",
];

/// Of `plugins`; all but the last are jp's alone.
pub(super) const PLUGINS: &[&str] = &["auto_install", "command", "shutdown_timeout_secs", "wasm"];

/// Of `providers`; the first is jp's alone.
pub(super) const PROVIDERS: &[&str] = &["llm", "mcp"];

/// Of an MCP server.
pub(super) const SERVER: &[&str] = &[
    "args",
    "arguments",
    "checksum",
    "command",
    "cwd",
    "env",
    "headers",
    "optional",
    "startup_timeout_secs",
    "type",
    "url",
    "variables",
];

/// Of a tool.
pub(super) const TOOL: &[&str] = &[
    "access",
    "cancellation_response",
    "command",
    "concurrency",
    "description",
    "enable",
    "examples",
    "fan_out",
    "format",
    "options",
    "parameters",
    "questions",
    "result",
    "run",
    "source",
    "style",
    "summary",
];

/// Of `conversation.release`.
pub(super) const RELEASE: &[&str] = &["guard", "on_fault", "policy"];
/// Of a plugin.
pub(super) const PLUGIN: &[&str] = &["checksum", "limits", "options", "path", "run"];

/// What can stand under a path of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Children {
    /// These names.
    Named(&'static [&'static str]),
    /// A name out of these, or any other.
    Open(&'static [&'static str]),
    /// The names of tools.
    Tools,
    /// The names of plugins.
    Plugins,
    /// The names of MCP servers.
    Servers,
    /// Names that this project does not know.
    Unknown,
}

/// What can stand under `path`.
pub(super) fn children<S: AsRef<str>>(path: &[S]) -> Children {
    let path: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
    match path.as_slice() {
        [] => Children::Named(DOCUMENT),
        ["conversation"] => Children::Named(CONVERSATION),
        ["conversation", "tools"] => Children::Tools,
        ["conversation", "tools", _] => Children::Named(TOOL),
        ["conversation", "tools", _, "concurrency"] => Children::Open(&["key", "limit"]),
        ["conversation", "tools", _, "fan_out"] => Children::Open(&["enabled", "on_error"]),
        ["conversation", "tools", _, "command"] => Children::Open(&["program", "args", "shell"]),
        ["conversation", "tools", _, "options"] | ["plugins", "wasm", _, "options" | "limits"] => {
            Children::Open(&[])
        }
        ["conversation", "release"] => Children::Named(RELEASE),
        ["plugins"] => Children::Named(PLUGINS),
        ["plugins", "wasm"] => Children::Plugins,
        ["plugins", "wasm", _] => Children::Named(PLUGIN),
        ["providers"] => Children::Named(PROVIDERS),
        ["providers", "mcp"] => Children::Servers,
        ["providers", "mcp", _] => Children::Named(SERVER),
        ["providers", "mcp", _, "checksum"] => Children::Named(&["algorithm", "value"]),
        ["providers", "mcp", _, "env" | "headers"] => Children::Open(&[]),
        _ => Children::Unknown,
    }
}

/// Whether a value that is given without quotes at `path` is a number or a boolean where it looks like one.
pub(super) fn is_typed<S: AsRef<str>>(path: &[S]) -> bool {
    let path: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
    match path.as_slice() {
        ["conversation", "tools", _, field] => {
            matches!(*field, "concurrency" | "fan_out" | "enable")
        }
        ["conversation", "tools", _, "concurrency", field] => *field != "key",
        ["inherit"]
        | ["providers", "mcp", _, "optional" | "startup_timeout_secs"]
        | ["conversation", "tools", _, "fan_out" | "command" | "options", ..]
        | ["plugins", "wasm", _, "options" | "limits", ..] => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
