//! What has to hold between tools, once all layers are merged.

use std::collections::BTreeMap;

use jp_policy_core::terms::OnError;

use super::{
    concurrency::Concurrency, diagnostic::Diagnostic, keys::keys_of, mcp::McpServer, similar_names,
    suggest::nearest, tool::Tool,
};

/// Checks that tools which share a key agree, that `stop` has something to stop, and warns of what looks forgotten.
pub(super) fn check(
    tools: &BTreeMap<String, Tool>,
    servers: &BTreeMap<String, McpServer>,
    problems: &mut Vec<Diagnostic>,
) {
    let keys = keys_of(tools);
    for (key, members) in &keys {
        check_agreement(key, members, problems);
        warn_of_unset(key, members, tools, problems);
    }
    for tool in tools.values() {
        check_stop(tool, problems);
        check_server(tool, servers, problems);
    }
    similar_names::check(tools, &keys, problems);
}

/// A tool of an MCP server that no layer configures can't be called.
fn check_server(
    tool: &Tool,
    servers: &BTreeMap<String, McpServer>,
    problems: &mut Vec<Diagnostic>,
) {
    let Some((server, _)) = tool.upstream() else {
        return;
    };
    if servers.contains_key(server) {
        return;
    }
    let problem = Diagnostic::warning(format!(
        "tool `{}` comes from the MCP server `{}`, which is not under `providers.mcp`",
        tool.name.escape_debug(),
        server.escape_debug()
    ))
    .at(&tool.place, "its calls will fail");
    problems.push(match nearest(server, servers.keys().map(String::as_str)) {
        Some(known) => problem.help(format!("did you mean `mcp.{}`?", known.escape_debug())),
        None => problem.help(format!(
            "add `[providers.mcp.{}]` with its `command` or `url`",
            server.escape_debug()
        )),
    });
}

/// Every tool that names a key gives it the same limit, 0 included, and the same further fields.
fn check_agreement(key: &str, members: &[(&Tool, &Concurrency)], problems: &mut Vec<Diagnostic>) {
    let same = |a: &Concurrency, b: &Concurrency| {
        a.limit == b.limit
            && a.fields.len() == b.fields.len()
            && a.fields.iter().zip(&b.fields).all(|((a_name, a), (b_name, b))| {
                a_name == b_name && a.node.value.to_json() == b.node.value.to_json()
            })
    };
    let Some((_, first)) = members.first() else {
        return;
    };
    if members.iter().all(|(_, other)| same(first, other)) {
        return;
    }
    let what = if members.iter().any(|(_, other)| other.limit != first.limit) {
        "limit"
    } else {
        "fields"
    };
    let values: Vec<String> = members
        .iter()
        .map(|(tool, concurrency)| {
            format!("`{}` has {}", tool.name.escape_debug(), concurrency.text())
        })
        .collect();
    let mut problem = Diagnostic::error(format!(
        "the tools of key \"{}\" disagree about its {what}: {}",
        key.escape_debug(),
        values.join(", ")
    ));
    for (tool, concurrency) in members {
        // A later layer may have set the limit alone: it stands there, and not where the table began.
        let apart = concurrency.limit_place.as_ref().filter(|limit| {
            let table = &concurrency.place;
            !limit.source.is(&table.source)
                || limit.span.start < table.span.start
                || limit.span.end > table.span.end
        });
        let place = apart.filter(|_| what == "limit").unwrap_or(&concurrency.place);
        problem = problem
            .at(place, format!("tool `{}`: {}", tool.name.escape_debug(), concurrency.text()));
    }
    problems.push(problem.help(
        "give all of them the same value; to lift the limit of one tool alone, set `concurrency = 0` for it",
    ));
}

/// A tool that leaves its concurrency unset while another names it as key is probably thought to be bounded by it.
fn warn_of_unset(
    key: &str,
    members: &[(&Tool, &Concurrency)],
    tools: &BTreeMap<String, Tool>,
    problems: &mut Vec<Diagnostic>,
) {
    let Some((first, concurrency)) = members.first() else {
        return;
    };
    if tools.get(key).is_some_and(|tool| tool.concurrency.is_none() && !tool.unbounded_on_purpose) {
        problems.push(
            Diagnostic::warning(format!(
                "tool `{}` names the key \"{}\", but the tool of that name has no `concurrency`",
                first.name.escape_debug(),
                key.escape_debug()
            ))
            .at(&concurrency.place, "the two are not bounded together")
            .help(format!(
                "add `concurrency = {}` to tool `{}`",
                concurrency.text(),
                key.escape_debug()
            )),
        );
    }
}

fn check_stop(tool: &Tool, problems: &mut Vec<Diagnostic>) {
    let Some(fan_out) = &tool.fan_out else {
        return;
    };
    let bounded = tool.concurrency.as_ref().is_some_and(|concurrency| concurrency.limit > 0);
    if fan_out.on_error == OnError::Stop && !bounded {
        problems.push(
            Diagnostic::error(format!(
                "tool `{}`: `fan_out.on_error` is \"stop\", but without a limit all operations start at once and nothing is left to stop",
                tool.name.escape_debug()
            ))
            .at(&fan_out.place, "needs a limit of at least 1")
            .help("add `concurrency = 1`, or use on_error = \"continue\""),
        );
    }
}
