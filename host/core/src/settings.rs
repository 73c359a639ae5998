//! Whether settings hold together. The type is the contract's, so it can say what no configuration means.

use std::collections::HashSet;

use jp_policy_guest::{Problem, Settings};

/// Finds what is wrong with settings: a tool whose key they do not have, two keys of one name, a key that limits nothing. All
/// problems at once. The order of keys and tools is free.
///
/// ```
/// use jp_policy_core::settings::check;
/// use jp_policy_guest::{Key, Settings, Tool};
///
/// let key = Key { name: "git".to_owned(), limit: 1, fields: vec![] };
/// let tool = |key| Tool { name: "git_add".to_owned(), key: Some(key) };
/// let settings = |key| Settings { tools: vec![tool(key)], keys: vec![], options: vec![] };
/// let problems = check(&settings(3)).unwrap_err();
/// assert_eq!(problems[0].message, "tool \"git_add\" has the key with index 3, and there are 0 keys");
/// assert!(check(&Settings { keys: vec![key], ..settings(0) }).is_ok());
/// ```
pub fn check(settings: &Settings) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for tool in &settings.tools {
        if let Some(key) = tool.key.filter(|key| settings.key(*key).is_none()) {
            let message = format!(
                "tool {:?} has the key with index {key}, and there are {} keys",
                tool.name,
                settings.keys.len()
            );
            problems.push(Problem::new(None, None, message));
        }
    }
    let mut names = HashSet::new();
    for (index, key) in (0..).zip(&settings.keys) {
        let mut problem = |message| problems.push(Problem::new(Some(index), None, message));
        if !names.insert(key.name.as_str()) {
            problem(format!("there are two keys {:?}", key.name));
        }
        if key.limit == 0 {
            problem(format!("key {:?} has limit 0; what has no limit has no key", key.name));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
