//! The options: which arguments are paths, which tools only read, and where relative paths start.

use std::collections::BTreeSet;

use jp_policy_guest::{Settings, ToolIndex, Value};

pub const NAMES: [&str; 3] = ["paths", "reads", "root"];

const PATHS: &str = "expected a list of names of arguments, as [\"path\", \"edits.path\"]";
const READS: &str = "expected a list of names of tools, as [\"fs_read_file\"]";
const ROOT: &str = "expected an absolute path, as \"/home/me/project\"";

/// What tools call their paths most often.
const USUAL: [&str; 2] = ["path", "paths"];

#[derive(Debug, Default)]
pub struct Options {
    /// Which arguments are paths: of each the names on the way to it.
    pub paths: Vec<Vec<String>>,
    /// Tools that only read.
    pub reads: BTreeSet<ToolIndex>,
    /// Where relative paths start.
    pub root: Option<String>,
}

impl Options {
    /// What the options say; `wrong` is told what is wrong with which of them.
    pub fn read(settings: &Settings, mut wrong: impl FnMut(&str, String)) -> Self {
        let find = |name| settings.options.iter().find(|it| it.name == name).map(|it| &it.value);
        let mut options = Self::default();
        match find("paths").map(list) {
            None => options.paths = USUAL.map(steps).into(),
            Some(Some(names)) if !names.is_empty() => {
                options.paths = names.iter().map(|name| steps(name)).collect();
            }
            Some(_) => wrong("paths", PATHS.to_owned()),
        }
        if options.paths.iter().flatten().any(String::is_empty) {
            wrong("paths", PATHS.to_owned());
        }
        match find("reads").map(list) {
            None => {}
            Some(None) => wrong("reads", READS.to_owned()),
            Some(Some(names)) => {
                for name in names {
                    let tool = (0..).zip(&settings.tools).find(|(_, tool)| tool.name == name);
                    match tool {
                        Some((tool, _)) => _ = options.reads.insert(tool),
                        None => wrong("reads", format!("there is no tool {name:?}")),
                    }
                }
            }
        }
        match find("root") {
            None => {}
            Some(Value::Text(root)) if root.starts_with('/') => options.root = Some(root.clone()),
            Some(_) => wrong("root", ROOT.to_owned()),
        }
        options
    }
}

fn steps(name: &str) -> Vec<String> {
    name.split('.').map(str::to_owned).collect()
}

fn list(value: &Value) -> Option<Vec<String>> {
    let Value::Json(json) = value else {
        return None;
    };
    serde_json::from_str(json).ok()
}
