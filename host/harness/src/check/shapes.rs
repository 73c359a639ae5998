//! The kinds of batches that are searched: which key each call has, and the keys' limits.

use std::fmt::Write as _;

use jp_policy_config::{
    Config, ConfigError, Source,
    node::Entry,
    toml_literal::{key as bare, quoted, value},
};

use super::plan::Plan;

/// A kind of batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BatchShape {
    /// The key of each call in written order.
    pub(super) calls: Vec<Option<usize>>,
    /// The limit of each key.
    pub(super) limits: Vec<u32>,
}

/// What calls are named: A, B, ... Z, A1, B1, ...
pub(super) fn label(call: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(call % 26).unwrap_or(0));
    match call / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// What the tools, and their keys, are named: a, b, ...
pub(super) fn tool(key: Option<usize>) -> String {
    key.map_or_else(|| "free".to_owned(), |key| label(key).to_lowercase())
}

/// All kinds up to the plan's bound, smallest first. Of two that differ in nothing but the names of their keys, one.
pub(super) fn shapes(plan: &Plan) -> Vec<BatchShape> {
    let mut shapes = Vec::new();
    for calls in 1..=plan.calls {
        let mut words = Vec::new();
        spell(plan.keys, calls, &mut Vec::new(), &mut words);
        for calls in words {
            let keys = calls.iter().flatten().max().map_or(0, |last| last + 1);
            let mut limits = vec![Vec::new()];
            for _ in 0..keys {
                limits = limits
                    .iter()
                    .flat_map(|limits| {
                        plan.limits.iter().map(|limit| [&limits[..], &[*limit]].concat())
                    })
                    .collect();
            }
            shapes.extend(
                limits.into_iter().map(|limits| BatchShape { calls: calls.clone(), limits }),
            );
        }
    }
    shapes
}

/// Words over the keys in which a key comes up only after those before it have.
fn spell(
    keys: usize,
    calls: usize,
    word: &mut Vec<Option<usize>>,
    words: &mut Vec<Vec<Option<usize>>>,
) {
    if word.len() == calls {
        words.push(word.clone());
        return;
    }
    let used = word.iter().flatten().max().map_or(0, |last| last + 1);
    for key in (0..keys.min(used + 1)).map(Some).chain([None]) {
        word.push(key);
        spell(keys, calls, word, words);
        word.pop();
    }
}

/// The configuration of a batch with these keys.
pub(super) fn config(plan: &Plan, name: &str, limits: &[u32]) -> Result<Config, ConfigError> {
    let mut text = String::new();
    let (fields, options) = plan.parameters.tables();
    let entry =
        |(name, entry): (&String, &Entry)| format!("{} = {}", bare(name), value(&entry.node.value));
    let fields: Vec<String> = fields.iter().map(entry).collect();
    for (key, limit) in limits.iter().enumerate() {
        let tool = tool(Some(key));
        let own = vec![format!("key = {}", quoted(&tool)), format!("limit = {limit}")];
        let _ = writeln!(
            text,
            "[conversation.tools.{tool}]\nconcurrency = {{ {} }}",
            [own, fields.clone()].concat().join(", ")
        );
    }
    text += "[conversation.tools.free]\n[conversation.release]\n";
    text += if plan.rules { "guard = \"order\"\n" } else { "guard = \"limit\"\n" };
    // Options stand with a component: those of a policy that is none are given to one of its name.
    let path = plan.path.clone().or_else(|| (!options.is_empty()).then(|| name.into()));
    if let Some(path) = path {
        let name = quoted(name);
        let path = std::path::absolute(&path).unwrap_or(path);
        let path = quoted(&path.display().to_string());
        let _ = write!(text, "policy = {name}\n[plugins.wasm.{name}]\npath = {path}\n");
        let options: Vec<String> = options.iter().map(entry).collect();
        let _ = writeln!(text, "options = {{ {} }}", options.join(", "));
    }
    Config::from_sources(&[Source::new("check.toml", text)])
}
