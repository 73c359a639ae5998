//! A scenario as the text of a scenario file; reading it gives the scenario back.

use std::{collections::HashMap, fmt::Write as _};

use jp_policy_config::{
    Concurrency, Config, ConfigError, FanOut, Plugin, PluginRun,
    node::Value,
    toml_literal::{array, inline_table, json, key, quoted, value},
};
use jp_policy_core::{
    batch::Instant,
    policy::{Guard, OnFault},
    terms::OnError,
};

use super::scenario::{Behaviour, CallSpec, Ending, Expect, PersonEvent, Scenario, ScenarioEvent};

impl Scenario {
    /// The text of a file that reads as this scenario. Of the configuration it has what decides about releases: the tools with
    /// their concurrency and fan-out, the release policy and its plugin, whose path becomes absolute. A scenario whose
    /// configuration does not hold can't be written.
    ///
    /// ```
    /// use jp_policy_config::Source;
    /// use jp_policy_harness::Scenario;
    ///
    /// let text = "[conversation.tools.edit]\nconcurrency = 1\n\n[[call]]\nname = \"A\"\ntool = \"edit\"\n";
    /// let scenario = Scenario::parse(&Source::new("a.toml", text))?;
    /// let again = Scenario::parse(&Source::new("b.toml", scenario.to_toml()?))?;
    /// assert_eq!(scenario.calls, again.calls);
    /// # Ok::<(), jp_policy_config::ConfigError>(())
    /// ```
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        let config = self.config.as_ref().map_err(Clone::clone)?;
        let mut out = String::new();
        if !self.title.is_empty() {
            let _ = writeln!(out, "title = {}", quoted(&self.title));
        }
        if let Some(at) = self.complete {
            let _ = writeln!(out, "complete = {}", time(at));
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out += &config_toml(config);
        for earlier in &self.earlier {
            let (key, gone) = (quoted(&earlier.key), time(earlier.gone));
            let _ = writeln!(out, "[[earlier]]\nkey = {key}\ngone = {gone}\n");
        }
        let mut first_of: HashMap<u32, &str> = HashMap::new();
        for call in &self.calls {
            first_of.entry(call.parent).or_insert(&call.label);
        }
        for calls in self.calls.chunk_by(|a, b| is_one_call(config, a, b)) {
            write_call(&mut out, first_of[&calls[0].parent], calls);
        }
        for event in &self.events {
            let (at, what) = match event {
                ScenarioEvent::Cancel(at) => (at, "cancel = true".to_owned()),
                ScenarioEvent::Restart(at) => (at, "restart = true".to_owned()),
                ScenarioEvent::EndAgain(at, call) => (at, format!("end_again = {}", quoted(call))),
            };
            let _ = writeln!(out, "[[event]]\nat = {}\n{what}\n", time(*at));
        }
        write_expect(&mut out, &self.expect);
        out.truncate(out.trim_end().len());
        out.push('\n');
        Ok(out)
    }
}

/// What of a configuration decides about releases, as TOML.
pub(super) fn config_toml(config: &Config) -> String {
    let mut out = String::new();
    for tool in config.tools.values() {
        let _ = writeln!(out, "[conversation.tools.{}]", key(&tool.name));
        match &tool.concurrency {
            Some(concurrency) => {
                let _ = writeln!(out, "concurrency = {}", concurrency_toml(concurrency));
            }
            None if tool.unbounded_on_purpose => out.push_str("concurrency = 0\n"),
            None => {}
        }
        if let Some(fan_out) = &tool.fan_out {
            let _ = writeln!(out, "fan_out = {}", fan_out_toml(fan_out));
        }
        out.push('\n');
    }
    let release = &config.release;
    let guard = Some(release.guard).filter(|guard| *guard != Guard::default()).map(Guard::word);
    let on_fault = Some(release.on_fault).filter(|on_fault| *on_fault != OnFault::default());
    let on_fault = on_fault.map(OnFault::word);
    let policy = release.policy.as_ref().map(|plugin| plugin.name.as_str());
    let fields = [("policy", policy), ("guard", guard), ("on_fault", on_fault)];
    if fields.iter().any(|(_, value)| value.is_some()) {
        out.push_str("[conversation.release]\n");
        for (field, value) in fields {
            if let Some(value) = value {
                let _ = writeln!(out, "{field} = {}", quoted(value));
            }
        }
        out.push('\n');
    }
    if let Some(plugin) = &release.policy {
        write_plugin(&mut out, plugin);
    }
    out
}

fn concurrency_toml(concurrency: &Concurrency) -> String {
    let own = [("key", quoted(&concurrency.key)), ("limit", concurrency.limit.to_string())];
    let further = concurrency.fields.iter();
    let further = further.map(|(name, entry)| (name.as_str(), value(&entry.node.value)));
    inline_table(own.into_iter().chain(further))
}

fn fan_out_toml(fan_out: &FanOut) -> String {
    match fan_out.on_error {
        OnError::Continue => fan_out.enabled.to_string(),
        OnError::Stop => {
            format!("{{ enabled = {}, on_error = \"stop\" }}", fan_out.enabled)
        }
    }
}

fn write_plugin(out: &mut String, plugin: &Plugin) {
    let path = std::path::absolute(&plugin.path).unwrap_or_else(|_| plugin.path.clone());
    let _ = writeln!(
        out,
        "[plugins.wasm.{}]\npath = {}",
        key(&plugin.name),
        quoted(&path.display().to_string())
    );
    if let Some(checksum) = &plugin.checksum {
        let _ = writeln!(out, "checksum = {}", quoted(&checksum.value));
    }
    match plugin.run {
        PluginRun::Unattended => {}
        PluginRun::Ask => out.push_str("run = \"ask\"\n"),
        PluginRun::Deny => out.push_str("run = \"deny\"\n"),
    }
    if let Value::Table(table) = &plugin.table.value {
        for field in ["options", "limits"] {
            if let Some(entry) = table.get(field) {
                let _ = writeln!(out, "{field} = {}", value(&entry.node.value));
            }
        }
    }
    out.push('\n');
}

/// Whether two calls can be written as operations of one: all but their labels and what they do is the same.
fn is_one_call(config: &Config, a: &CallSpec, b: &CallSpec) -> bool {
    let shared =
        |call: &CallSpec| CallSpec { label: String::new(), runs: Vec::new(), ..call.clone() };
    let fan_out = config.tools.get(&a.tool).and_then(|tool| tool.fan_out.as_ref());
    fan_out.is_some_and(|fan_out| fan_out.enabled) && shared(a) == shared(b)
}

/// Writes a call, or the operations of one. `first` is the label of the first call of the same parent.
fn write_call(out: &mut String, first: &str, calls: &[CallSpec]) {
    let call = &calls[0];
    out.push_str("[[call]]\n");
    if calls.len() == 1 {
        let _ = writeln!(out, "name = {}", quoted(&call.label));
    } else {
        // The name of the whole is for messages only: its operations are the calls.
        let _ = writeln!(out, "name = {}", quoted(&call.tool));
    }
    let _ = writeln!(out, "tool = {}", quoted(&call.tool));
    if first != call.label {
        let _ = writeln!(out, "parent = {}", quoted(first));
    }
    if call.arguments != "{}" {
        // What is not JSON was never read from a file.
        if let Ok(arguments) = serde_json::from_str(&call.arguments) {
            let _ = writeln!(out, "arguments = {}", json(&arguments));
        }
    }
    if call.arrives > 0 {
        let _ = writeln!(out, "arrives = {}", time(call.arrives));
    }
    match &call.decision {
        PersonEvent::Approved(at) if *at == [call.arrives] => {}
        PersonEvent::Approved(at) => {
            let _ = writeln!(out, "approved = {}", times(at));
        }
        PersonEvent::NotRun(at) => {
            let _ = writeln!(out, "rejected = {}", time(*at));
        }
        PersonEvent::Never => out.push_str("undecided = true\n"),
    }
    if calls.len() == 1 {
        let _ = writeln!(out, "does = {}", does(&call.runs));
    } else {
        let operations = calls.iter().map(|call| (call.label.as_str(), does(&call.runs)));
        let _ = writeln!(out, "operations = {}", inline_table(operations));
    }
    let lists = [
        ("answered", &call.answered),
        ("answered_after", &call.answered_after),
        ("gone", &call.gone),
    ];
    for (field, list) in lists {
        if !list.is_empty() {
            let _ = writeln!(out, "{field} = {}", times(list));
        }
    }
    if let Some(at) = call.reviewed {
        let _ = writeln!(out, "reviewed = {}", time(at));
    }
    out.push('\n');
}

/// What the runs of a call do: one text, or a list where they differ.
fn does(runs: &[Behaviour]) -> String {
    let does = |run: &Behaviour| {
        let mut words = Vec::new();
        for phase in &run.phases {
            words.push(span(phase.takes));
            if phase.asks {
                words.push("ask".to_owned());
            }
        }
        let ending = match run.ending {
            Ending::Succeeds => None,
            Ending::Fails => Some("fail"),
            Ending::Dismissed => Some("dismissed"),
        };
        words.extend(ending.map(str::to_owned));
        quoted(&words.join(" "))
    };
    match runs {
        [run] => does(run),
        runs => array(runs.iter().map(does)),
    }
}

fn write_expect(out: &mut String, expect: &Expect) {
    if *expect == Expect::default() {
        return;
    }
    out.push_str("[expect]\n");
    let texts = [
        ("starts", &expect.starts),
        ("ends", &expect.ends),
        ("parked", &expect.parked),
        ("responses", &expect.responses),
    ];
    for (field, text) in texts {
        if let Some(text) = text {
            let _ = writeln!(out, "{field} = {}", quoted(text));
        }
    }
    if let Some(at) = expect.settled {
        let _ = writeln!(out, "settled = {}", time(at));
    }
    if !expect.peaks.is_empty() {
        let peaks = expect.peaks.iter().map(|(key, peak)| (key.as_str(), peak.to_string()));
        let _ = writeln!(out, "peaks = {}", inline_table(peaks));
    }
    let lists =
        [("faults", &expect.faults), ("errors", &expect.errors), ("warnings", &expect.warnings)];
    for (field, list) in lists {
        if let Some(list) = list {
            let _ = writeln!(out, "{field} = {}", array(list.iter().map(|text| quoted(text))));
        }
    }
}

fn time(at: Instant) -> String {
    quoted(&span(at))
}

/// One time, or a list.
fn times(times: &[Instant]) -> String {
    match times {
        [at] => time(*at),
        times => array(times.iter().copied().map(time)),
    }
}

/// A duration in the largest unit that divides it.
fn span(nanos: Instant) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let fitting = units.into_iter().find(|(unit, _)| nanos.is_multiple_of(*unit));
    let (unit, name) = fitting.unwrap_or((1, "ns"));
    format!("{}{name}", nanos / unit)
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
