//! What is in a project's folder: which folders may hold source, and which files are written by a build.

/// The folder of a policy's scenarios.
pub(crate) const SCENARIOS: &str = "scenarios";

/// The file of a batch that refutes the policy.
pub(crate) const REFUTED: &str = "refuted.toml";

/// The generated types of the contract. Tools that need them when they build generate their own.
pub(crate) const BINDINGS: &str = "bindings";

/// Where tools install and leave things, beside folders whose name begins with a dot.
const INSTALLED: [&str; 4] = ["__pycache__", "node_modules", "target", "venv"];

/// Whether a folder of this name, within a project, may hold source.
pub(crate) fn may_hold_source(folder: &str) -> bool {
    !folder.starts_with('.') && !INSTALLED.contains(&folder)
}

/// The component's file.
pub(crate) fn component_file(policy: &str) -> String {
    format!("{policy}.wasm")
}

/// The file of the component's build record.
pub(crate) fn record_file(policy: &str) -> String {
    format!("{policy}.built.toml")
}

/// All files that a build and its trial write.
pub(crate) fn output_files(policy: &str) -> [String; 3] {
    [component_file(policy), record_file(policy), REFUTED.to_owned()]
}
