//! Holds the JSON Schema of a configuration file against the loader, with a validator that nobody here wrote.
//!
//! It is no member of the workspace: the validator would change with which features half of the host's dependencies are built.
#![cfg(test)]

use jp_policy_config::{Config, ConfigError, Source, schema};
use serde_json::Value as Json;

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&schema()).expect("the schema is one")
}

/// Whether the schema takes a document, and whether the loader has anything to say about it.
fn both(validator: &jsonschema::Validator, document: &Json) -> (bool, bool) {
    let source = Source::new("t.json", document.to_string());
    let loaded = match Config::from_sources(&[source]) {
        Ok(config) => config.warnings.is_empty(),
        Err(ConfigError(_)) => false,
    };
    (validator.is_valid(document), loaded)
}

/// A document with tool `t` that has these fields besides its command.
fn tool(fields: &str) -> Json {
    let mut tool: Json =
        serde_json::from_str(fields).unwrap_or_else(|error| panic!("{fields}: {error}"));
    let object = tool.as_object_mut().expect("a table");
    object.entry("command").or_insert("x".into());
    serde_json::json!({ "conversation": { "tools": { "t": tool } } })
}

#[test]
fn what_is_valid_is_taken_by_both() {
    let validator = validator();
    let tools = [
        "{}",
        r#"{"concurrency": 0}"#,
        r#"{"concurrency": 4294967295}"#,
        r#"{"concurrency": {"key": "git"}}"#,
        r#"{"concurrency": {"key": " ключ 🔑 ", "limit": 0, "delay": "2s", "deep": {"a": [1]}}}"#,
        r#"{"concurrency": null, "run": null}"#,
        r#"{"fan_out": true}"#,
        r#"{"fan_out": {"enabled": false, "on_error": "continue"}}"#,
        r#"{"concurrency": 1, "fan_out": {"on_error": "stop"}}"#,
        r#"{"command": {"program": "x", "args": ["a"], "shell": true}}"#,
        r#"{"source": "local.x", "run": "edit", "result": "skip", "cancellation_response": "no"}"#,
        r#"{"source": "builtin", "questions": {"q": {"answer": 3}}, "summary": "s", "parameters": {"p": {"type": "string"}}}"#,
        r#"{"enable": false, "style": {"x": 1}, "options": {"y": 2}, "examples": "e", "access": {}, "format": "ask"}"#,
    ];
    for fields in tools {
        assert_eq!(both(&validator, &tool(fields)), (true, true), "{fields}");
    }
    let documents = [
        "{}",
        r#"{"conversation": {"tools": {"*": {"run": "ask", "result": "edit", "style": {}}}}}"#,
        r#"{"conversation": {"release": {"on_fault": "settle", "guard": "order"}}}"#,
        r#"{"conversation": {"release": {"policy": "delay"}}, "plugins": {"wasm": {"delay": {"path": "d.wasm", "run": "ask"}}}}"#,
        r#"{"plugins": {"wasm": {"d": {"path": "d", "options": {"a": [1]}, "limits": {"fuel": 1, "memory": "64 MiB", "time": "250ms", "file": 3}}}}}"#,
        r#"{"plugins": {"wasm": {"d": {"path": "d", "checksum": "sha256:0000000000000000000000000000000000000000000000000000000000000000"}}}}"#,
        r#"{"extends": ["a.toml", {"path": "b/**", "strategy": "after"}], "inherit": false, "config_load_paths": ["x"]}"#,
        r#"{"providers": {"mcp": {"git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"A": "b"}, "variables": ["B"], "cwd": "x", "startup_timeout_secs": 5, "optional": true}}}, "conversation": {"tools": {"t": {"source": "mcp.git"}, "u": {"source": "mcp.git.status"}}}}"#,
        r#"{"providers": {"mcp": {"web": {"type": "streamable-http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer x"}}}}}"#,
        r#"{"providers": {"mcp": {"one": {"type": "stdio", "command": "c", "arguments": [], "checksum": {"algorithm": "sha1", "value": "0000000000000000000000000000000000000000"}}}}}"#,
        r#"{"assistant": {"name": "x"}, "providers": {"llm": {}}, "style": {}, "editor": {}, "user": {"name": "y"}, "$schema": "x"}"#,
    ];
    for text in documents {
        let document = serde_json::from_str(text).expect(text);
        assert_eq!(both(&validator, &document), (true, true), "{text}");
    }
}

#[test]
fn what_is_not_is_refused_by_both() {
    let validator = validator();
    let tools = [
        r#"{"concurrency": -1}"#,
        r#"{"concurrency": 4294967296}"#,
        r#"{"concurrency": 1.5}"#,
        r#"{"concurrency": "2"}"#,
        r#"{"concurrency": true}"#,
        r#"{"concurrency": [1]}"#,
        r#"{"concurrency": {"key": "k", "limit": -1}}"#,
        r#"{"concurrency": {"key": 7, "limit": 1}}"#,
        r#"{"concurrency": {"key": ""}}"#,
        r#"{"concurrency": {"key": " \u2003"}}"#,
        r#"{"concurrency": {"key": "a\nb"}}"#,
        r#"{"concurency": 1}"#,
        r#"{"fan_out": 1}"#,
        r#"{"fan_out": {"concurrency": 4}}"#,
        r#"{"fan_out": {"on_error": "halt"}}"#,
        r#"{"command": 1}"#,
        r#"{"command": {"program": "x", "args": "a"}}"#,
        r#"{"source": "mcp"}"#,
        r#"{"source": "remote"}"#,
        r#"{"run": "unatended"}"#,
        r#"{"result": true}"#,
        r#"{"summary": 1}"#,
    ];
    for fields in tools {
        assert_eq!(both(&validator, &tool(fields)), (false, false), "{fields}");
    }
    let documents = [
        "[]",
        r#"{"conversation": 1}"#,
        r#"{"conversation": {"tools": 1}}"#,
        r#"{"conversation": {"tool": {}}}"#,
        r#"{"conversation": {"tools": {"*": {"concurrency": 1}}}}"#,
        r#"{"conversation": {"tools": {"*": {"fan_out": true}}}}"#,
        r#"{"conversation": {"tools": {"t": 1}}}"#,
        r#"{"conversation": {"release": {"guard": "none"}}}"#,
        r#"{"plugins": {"wasm": {"d": {"path": "d", "checksum": "sha256:00"}}}}"#,
        r#"{"plugins": {"wasm": {"d": {"path": "d", "limits": {"fuel": "x"}}}}}"#,
        r#"{"plugins": {"wasm": {"d": {"path": "d", "limits": {"fule": 1}}}}}"#,
        r#"{"plugins": {"wams": {}}}"#,
        r#"{"convesation": {}}"#,
        r#"{"providers": {"mpc": {}}}"#,
        r#"{"providers": {"mcp": {"git": {"command": 1}}}}"#,
        r#"{"providers": {"mcp": {"git": {"comand": "x"}}}}"#,
        r#"{"providers": {"mcp": {"git": {"command": "x", "args": "y"}}}}"#,
        r#"{"providers": {"mcp": {"git": {"command": "x", "type": "sse"}}}}"#,
        r#"{"providers": {"mcp": {"git": {"command": "x", "startup_timeout_secs": -1}}}}"#,
        r#"{"providers": {"mcp": {"web": {"url": "ftp://x"}}}}"#,
        r#"{"providers": {"mcp": {"web": {"url": "https://x", "headers": {"A": 1}}}}}"#,
    ];
    for text in documents {
        let document = serde_json::from_str(text).expect(text);
        assert_eq!(both(&validator, &document), (false, false), "{text}");
    }
}

#[test]
fn what_another_layer_may_complete_is_taken_by_the_schema() {
    let validator = validator();
    let limit = tool(r#"{"concurrency": {"limit": 2}}"#);
    assert_eq!(both(&validator, &limit), (true, false));
    let pathless = serde_json::json!({ "plugins": { "wasm": { "d": { "options": { "a": 1 } } } } });
    assert_eq!(both(&validator, &pathless), (true, false));
}
