//! The options: what each tool weighs, and how long a call may be passed by.

use std::collections::BTreeMap;

use jp_policy_guest::{Instant, Settings, ToolIndex, Value, duration};

pub const NAMES: [&str; 2] = ["patience", "weights"];

const WEIGHTS: &str = "expected a table of whole numbers by tool, as { lint = 2, build = 30 }";

/// What a tool weighs that nothing is said of.
const WEIGHT: u64 = 1;

/// How long a call may be passed by if nothing is said: longer than most batches take.
const PATIENCE: Instant = 30_000_000_000;

#[derive(Debug)]
pub struct Options {
    pub patience: Instant,
    weights: BTreeMap<ToolIndex, u64>,
}

impl Options {
    /// What the options say; `wrong` is told what is wrong with which of them.
    pub fn read(settings: &Settings, mut wrong: impl FnMut(&str, String)) -> Self {
        let find = |name| settings.options.iter().find(|it| it.name == name).map(|it| &it.value);
        let mut options = Self { patience: PATIENCE, weights: BTreeMap::new() };
        match find("patience").map(|value| duration::read(value, "patience")) {
            None => {}
            Some(Ok(patience)) => options.patience = patience,
            Some(Err(why)) => wrong("patience", why),
        }
        match find("weights").map(table) {
            None => {}
            Some(None) => wrong("weights", WEIGHTS.to_owned()),
            Some(Some(table)) => {
                let tools: BTreeMap<_, _> =
                    settings.tools.iter().map(|tool| tool.name.as_str()).zip(0..).collect();
                for (name, weight) in table {
                    match tools.get(name.as_str()) {
                        Some(tool) => _ = options.weights.insert(*tool, weight),
                        None => wrong("weights", format!("there is no tool {name:?}")),
                    }
                }
            }
        }
        options
    }

    pub fn weight(&self, tool: ToolIndex) -> u64 {
        self.weights.get(&tool).copied().unwrap_or(WEIGHT)
    }
}

fn table(value: &Value) -> Option<BTreeMap<String, u64>> {
    let Value::Json(json) = value else {
        return None;
    };
    serde_json::from_str(json).ok()
}
