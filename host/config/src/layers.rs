//! Collects sources of configuration in their order, to be merged into one.

use std::path::Path;

use super::{
    assignment::{self, Assignment, PREFIX},
    config_dirs::{ConfigDirs, FileStatus, StandardFile},
    diagnostic::Diagnostic,
    extends::read_with_extends,
    format,
    key_path::KnownNames,
    layer::Layer,
    merge::{Part, find, lay},
    node::{Entry, Node, Value},
    source::{Place, Source},
    suggest::nearest,
};

/// Layers as they were read, not yet merged.
///
/// They are laid one over the other in the order in which they are added; what is wrong is kept until
/// [`build`](Layers::build) says all of it.
///
/// ```
/// use jp_policy_config::{Layer, Layers, Source};
///
/// let mut layers = Layers::default();
/// layers.source(Layer::Workspace, &Source::new("tools.toml", "[conversation.tools.a]\ncommand = 'a'\nconcurrency = 4"));
/// layers.cfg("conversation.tools.a.concurrency.key=shared");
/// let config = layers.build()?;
/// let concurrency = config.tools["a"].concurrency.as_ref().unwrap();
/// assert_eq!((concurrency.key.as_str(), concurrency.limit), ("shared", 4));
/// # Ok::<(), jp_policy_config::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Layers {
    pub(super) parts: Vec<Part>,
    searched: Vec<StandardFile>,
    problems: Vec<Diagnostic>,
}

impl Layers {
    /// Adds the files that jp reads without being asked to, in the order of their layers, with what they extend. None is read
    /// after one that says `inherit = false`.
    pub fn standard_files(&mut self, dirs: &ConfigDirs) -> &mut Self {
        let mut closed = false;
        for mut file in dirs.files() {
            if file.status == FileStatus::Read && closed {
                file.status = FileStatus::Closed;
            }
            if file.status == FileStatus::Read {
                match Source::file(&file.path) {
                    Ok(source) => closed = self.document(file.layer, &source, closed),
                    Err(problem) => self.problems.push(problem),
                }
            }
            self.searched.push(file);
        }
        self
    }

    /// Adds variables of the environment, by name and value, those of them that set configuration: `JP_CFG_` and the names of a key
    /// with `_` between them, as in `JP_CFG_CONVERSATION_RELEASE_POLICY=delay`.
    ///
    /// A name of a tool, plugin or server is recognised if a layer that was added before has it.
    pub fn environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> &mut Self {
        let mut variables: Vec<_> =
            variables.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
        if variables.is_empty() {
            return self;
        }
        variables.sort();
        let names = self.known_names();
        for (name, value) in variables {
            let found = assignment::variable(&name, &value, &names, &mut self.problems);
            self.assignment(Layer::Environment, found, &names);
        }
        self
    }

    /// Adds a file, or all configuration files of a folder and the folders in it, with what they extend.
    pub fn path(&mut self, path: &Path) -> &mut Self {
        for source in Source::read(path, &mut self.problems) {
            self.document(Layer::Config, &source, false);
        }
        self
    }

    /// Adds what `--cfg` takes over all that was added before: `KEY=VALUE`, `KEY:=JSON`, `KEY+=VALUE`, a document as JSON, or the path of a file.
    pub fn cfg(&mut self, text: &str) -> &mut Self {
        let path = text.strip_prefix('@');
        let path = path.or_else(|| (!text.contains('=') && !text.starts_with('{')).then_some(text));
        let Some(path) = path.map(str::trim) else {
            let names = self.known_names();
            let found = assignment::argument(text, &names, &mut self.problems);
            self.assignment(Layer::CliCfg, found, &names);
            return self;
        };
        // As in jp, the extension may be left out.
        let extended =
            format::EXTENSIONS.map(|extension| Path::new(path).with_extension(extension));
        let given = Path::new(path).to_owned();
        let found = std::iter::once(given).chain(extended).find(|path| path.is_file());
        match found.as_deref().map(Source::file) {
            Some(Ok(source)) => {
                self.document(Layer::CliCfg, &source, false);
            }
            Some(Err(problem)) => self.problems.push(problem),
            None => self.problems.push(
                Diagnostic::error(format!(
                    "`--cfg {}` names no file and sets no value",
                    text.escape_debug()
                ))
                .help("expected KEY=VALUE, KEY:=JSON or the path of a configuration file"),
            ),
        }
        self
    }

    /// Adds a document that is there already. What it extends is not read: it may stand nowhere.
    pub fn source(&mut self, layer: Layer, source: &Source) -> &mut Self {
        let root = format::parse(source, &mut self.problems);
        self.parts.push(Part { layer, root, single: None });
        self
    }

    /// Adds the sections `known` of a document that has others of its own, which are left out.
    pub fn sections(&mut self, layer: Layer, source: &Source, known: &[&str]) -> &mut Self {
        self.source(layer, source);
        if let Some(Part { root: Node { value: Value::Table(table), .. }, .. }) =
            self.parts.last_mut()
        {
            table.retain(|name, _| known.contains(&name.as_str()));
        }
        self
    }

    /// The files that [`standard_files`](Self::standard_files) looked for, in the order of their layers.
    pub fn searched(&self) -> &[StandardFile] {
        &self.searched
    }

    /// The sources that were read, in the order in which they are laid over each other.
    pub fn sources(&self) -> impl Iterator<Item = (Layer, &Source)> {
        self.parts.iter().map(|part| (part.layer, &part.root.place.source))
    }

    /// What is wrong with the layers themselves; [`build`](Layers::build) returns that too.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// Whether any layer says anything.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.problems.is_empty()
    }

    /// Lays all layers over each other; none if there are none. Comes with what is wrong so far.
    pub(super) fn merge(self) -> (Option<Node>, Vec<Diagnostic>) {
        let Self { parts, mut problems, .. } = self;
        let mut merged: Option<Node> = None;
        for part in parts {
            lay(&mut merged, part, &mut problems);
        }
        (merged, problems)
    }

    /// Adds a file and what it extends; whether later places are closed by `inherit = false`.
    fn document(&mut self, layer: Layer, source: &Source, mut closed: bool) -> bool {
        for root in read_with_extends(source, &mut self.problems) {
            if let Value::Table(table) = &root.value
                && let Some(Entry { node: Node { value: Value::Bool(inherit), .. }, .. }) =
                    table.get("inherit")
            {
                closed = !inherit;
            }
            self.parts.push(Part { layer, root, single: None });
        }
        closed
    }

    fn assignment(&mut self, layer: Layer, found: Option<Assignment>, names: &KnownNames) {
        let Some(Assignment { root, path, adds }) = found else {
            return;
        };
        if let [conversation, tools, name, _, ..] = path.as_slice()
            && conversation == "conversation"
            && tools == "tools"
            && name != "*"
            && !names.tools.contains(name)
        {
            let problem = Diagnostic::warning(format!(
                "`{}` is set for tool `{}`, which no other layer has",
                path[3..].join(".").escape_debug(),
                name.escape_debug()
            ))
            .at(&value_place(&root, &path[..3]), "a tool with nothing but this");
            let known = names.tools.iter().map(String::as_str);
            self.problems.push(match nearest(name, known) {
                Some(known) => problem.help(format!("did you mean `{}`?", known.escape_debug())),
                None => problem,
            });
        }
        self.parts.push(Part { layer, root, single: Some((path, adds)) });
    }

    /// The names that the layers have so far.
    pub(super) fn known_names(&self) -> KnownNames {
        let mut names = KnownNames::default();
        for part in &self.parts {
            let table = |path: [&str; 2]| match &find(&part.root, &path)?.value {
                Value::Table(table) => Some(table.keys().cloned()),
                _ => None,
            };
            names.tools.extend(table(["conversation", "tools"]).into_iter().flatten());
            names.plugins.extend(table(["plugins", "wasm"]).into_iter().flatten());
            names.servers.extend(table(["providers", "mcp"]).into_iter().flatten());
        }
        names
    }
}

/// Where the name at the end of a path stands.
fn value_place(root: &Node, path: &[String]) -> Place {
    let mut place = &root.place;
    let mut value = &root.value;
    for name in path {
        let Value::Table(table) = value else { break };
        let Some(entry) = table.get(name) else { break };
        place = &entry.name;
        value = &entry.node.value;
    }
    place.clone()
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
