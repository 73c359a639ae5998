//! A recorded batch as a scenario file: what is needed to live through it again.

use std::fmt::Write as _;

use crate::{
    batch::{End, Instant},
    config::Config,
    policy::Fault,
    record::{CallRecord, Record},
    scheduler::Settlement,
};

/// The scenario of a batch in which the policy failed: the same configuration, calls, durations and decisions of people, and the
/// fault as what is expected. Needs the policy that failed: its path is named, its bytes are not in it.
///
/// `arguments` are the calls' arguments in written order, as JSON text.
pub fn fault_scenario(
    record: &Record,
    config: &Config,
    fault: &Fault,
    arguments: &[String],
) -> String {
    let mut out = String::new();
    let digest = fault.policy.digest.as_deref().unwrap_or("no digest");
    let _ = writeln!(out, "# Written at a fault: {fault}");
    let _ = writeln!(out, "# Policy \"{}\", {digest}", fault.policy);
    let _ = writeln!(
        out,
        "title = {}\n",
        quoted(&format!("fault of policy {}: {}", fault.policy, fault.kind.word()))
    );
    for tool in config.tools.values() {
        let _ = writeln!(out, "[conversation.tools.{}]", quoted(&tool.name));
        match &tool.concurrency {
            Some(concurrency) => {
                let fields = concurrency.fields.iter().map(|(name, entry)| {
                    format!(", {} = {}", quoted(name), toml_value(&entry.node.value.to_json()))
                });
                let _ = writeln!(
                    out,
                    "concurrency = {{ key = {}, limit = {}{} }}\n",
                    quoted(&concurrency.key),
                    concurrency.limit,
                    fields.collect::<String>()
                );
            }
            None => out.push_str("concurrency = 0\n\n"),
        }
    }
    release(&mut out, config);
    for (place, call) in record.calls.iter().enumerate() {
        write_call(&mut out, config, call, place, arguments.get(place).map(String::as_str));
    }
    let cancelled = record.calls.iter().filter_map(|call| match call.settled {
        Some((at, Settlement::Cancelled)) => Some(at),
        _ => None,
    });
    if let Some(at) = cancelled.min() {
        let _ = writeln!(out, "[[event]]\nat = {}\ncancel = true\n", time(at));
    }
    let _ = writeln!(out, "[expect]\nfaults = [\"{}\"]", fault.kind.word());
    out
}

fn release(out: &mut String, config: &Config) {
    use crate::config::{Guard, OnFault};

    let guard = match config.release.guard {
        Guard::Off => "off",
        Guard::Limit => "limit",
        Guard::Order => "order",
    };
    let on_fault = match config.release.on_fault {
        OnFault::Default => "default",
        OnFault::Settle => "settle",
    };
    let _ = writeln!(out, "[conversation.release]\nguard = \"{guard}\"\non_fault = \"{on_fault}\"");
    if let Some(plugin) = &config.release.policy {
        let name = quoted(&plugin.name);
        let path = std::path::absolute(&plugin.path).unwrap_or_else(|_| plugin.path.clone());
        let _ = writeln!(
            out,
            "policy = {name}\n\n[plugins.wasm.{name}]\npath = {}",
            quoted(&path.display().to_string())
        );
        if let crate::config::node::Value::Table(table) = &plugin.table.value {
            for field in ["options", "limits"] {
                if let Some(entry) = table.get(field) {
                    let _ = writeln!(out, "{field} = {}", toml_value(&entry.node.value.to_json()));
                }
            }
        }
    }
    out.push('\n');
}

fn write_call(
    out: &mut String,
    config: &Config,
    call: &CallRecord,
    place: usize,
    arguments: Option<&str>,
) {
    let tool = config.tools.keys().nth(call.tool as usize).map_or("?", String::as_str);
    // A label says what a call was; its place keeps calls apart.
    let _ = writeln!(out, "[[call]]\nname = {}", quoted(&format!("{} {}", place + 1, call.label)));
    let _ = writeln!(out, "tool = {}", quoted(tool));
    if let Some(arguments) = arguments.and_then(|text| serde_json::from_str(text).ok()) {
        let _ = writeln!(out, "arguments = {}", toml_value(&arguments));
    }
    if call.submitted > 0 {
        let _ = writeln!(out, "arrives = {}", time(call.submitted));
    }
    match (call.parked.first(), call.settled) {
        (Some(parked), _) => {
            let _ = writeln!(out, "approved = {}", time(parked.from));
        }
        (None, Some((at, Settlement::NotRun))) => {
            let _ = writeln!(out, "rejected = {}", time(at));
        }
        (None, _) => out.push_str("undecided = true\n"),
    }
    if let Some(run) = call.runs.last() {
        let mut does = String::new();
        let mut from = run.span.from;
        for ask in &run.asks {
            let _ = write!(does, "{}ns ask ", ask.from - from);
            from = ask.to.unwrap_or(ask.from);
        }
        let _ = write!(does, "{}ns", run.span.to.unwrap_or(from).saturating_sub(from));
        if run.end == Some(End::Failed) {
            does.push_str(" fail");
        }
        let _ = writeln!(out, "does = \"{does}\"");
        let answered: Vec<String> = run.asks.iter().filter_map(|ask| ask.to.map(time)).collect();
        if !answered.is_empty() {
            let _ = writeln!(out, "answered = [{}]", answered.join(", "));
        }
    }
    out.push('\n');
}

fn time(at: Instant) -> String {
    format!("\"{at}ns\"")
}

pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// JSON as a TOML value; nothing, which TOML does not have, becomes an empty text.
pub(super) fn toml_value(json: &serde_json::Value) -> String {
    use serde_json::Value as Json;

    match json {
        Json::Null => "\"\"".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", "))
        }
        Json::Object(object) => {
            let entries = object
                .iter()
                .map(|(name, value)| format!("{} = {}", quoted(name), toml_value(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}
