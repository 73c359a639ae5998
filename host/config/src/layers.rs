//! Layers: the sources of configuration in their order, to be merged into one [`Config`] and to be asked which of them said what.

use std::path::Path;

use super::{
    assignment::{self, Assignment, PREFIX},
    concurrency,
    diagnostic::{ConfigError, Diagnostic},
    extends::read_with_extends,
    fan_out, format,
    key_path::Names,
    load::Config,
    node::{Entry, Merge, Node, Table, Value},
    places::{Looked, Outcome, Places},
    source::{Place, Source},
    suggest::nearest,
};

/// A kind of source, in the order of their weight: a later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The user's `config.toml`.
    UserGlobal,
    /// `.jp/config.toml` of the workspace.
    Workspace,
    /// `.jp.toml` of the current folder and those above it in the workspace.
    Cwd,
    /// The user's `config.toml` for the workspace.
    UserWorkspace,
    /// Variables `JP_CFG_*`.
    Environment,
    /// Files and folders that were named on the command line.
    Config,
    /// Single values, or files, given by `--cfg`.
    CliCfg,
}

impl Layer {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::UserGlobal,
        Self::Workspace,
        Self::Cwd,
        Self::UserWorkspace,
        Self::Environment,
        Self::Config,
        Self::CliCfg,
    ];

    /// Its name, as jp calls it; `config` is this program's own.
    pub fn name(self) -> &'static str {
        match self {
            Self::UserGlobal => "user_global",
            Self::Workspace => "workspace",
            Self::Cwd => "cwd",
            Self::UserWorkspace => "user_workspace",
            Self::Environment => "environment",
            Self::Config => "config",
            Self::CliCfg => "cli_cfg",
        }
    }
}

/// Layers as they were read, not yet merged.
///
/// They are laid one over the other in the order in which they are added; what is wrong is kept until
/// [`build`](Self::build) says all of it.
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
/// # Ok::<(), crate::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Layers {
    pub(super) parts: Vec<Part>,
    looked: Vec<Looked>,
    problems: Vec<Diagnostic>,
}

/// One document or one value of a layer.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub layer: Layer,
    pub root: Node,
    /// Where it is a single value: the names that lead to it, and whether it is added to a list.
    pub single: Option<(Vec<String>, bool)>,
}

impl Layers {
    /// Adds what stands in jp's places.
    pub fn places(&mut self, places: &Places) -> &mut Self {
        let mut closed = false;
        for mut looked in places.files() {
            if looked.outcome == Outcome::Read && closed {
                looked.outcome = Outcome::Closed;
            }
            if looked.outcome == Outcome::Read {
                match Source::file(&looked.path) {
                    Ok(source) => closed = self.document(looked.layer, &source, closed),
                    Err(problem) => self.problems.push(problem),
                }
            }
            self.looked.push(looked);
        }
        self
    }

    /// Adds variables of the environment, those of them that set configuration.
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
        let names = self.names();
        for (name, value) in variables {
            let found = assignment::variable(&name, &value, &names, &mut self.problems);
            self.assignment(Layer::Environment, found, &names);
        }
        self
    }

    /// Adds a file, or all files of a folder, and what they extend.
    pub fn path(&mut self, path: &Path) -> &mut Self {
        for source in Source::read(path, &mut self.problems) {
            self.document(Layer::Config, &source, false);
        }
        self
    }

    /// Adds what `--cfg` takes: `KEY=VALUE`, `KEY:=JSON`, `KEY+=VALUE`, a document as JSON, or the path of a file.
    pub fn cfg(&mut self, text: &str) -> &mut Self {
        let path = text.strip_prefix('@');
        let path = path.or_else(|| (!text.contains('=') && !text.starts_with('{')).then_some(text));
        let Some(path) = path.map(str::trim) else {
            let names = self.names();
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

    /// Adds these sections of a document that has others of its own.
    pub fn sections(&mut self, layer: Layer, source: &Source, known: &[&str]) -> &mut Self {
        self.source(layer, source);
        if let Some(Part { root: Node { value: Value::Table(table), .. }, .. }) =
            self.parts.last_mut()
        {
            table.retain(|name, _| known.contains(&name.as_str()));
        }
        self
    }

    /// The places that were looked into, in the order of their layers.
    pub fn looked(&self) -> &[Looked] {
        &self.looked
    }

    /// The sources that were read, in the order in which they are laid over each other.
    pub fn sources(&self) -> impl Iterator<Item = (Layer, &Source)> {
        self.parts.iter().map(|part| (part.layer, &part.root.place.source))
    }

    /// What is wrong with the layers themselves; [`build`](Self::build) says that too.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// Whether any layer says anything.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.problems.is_empty()
    }

    /// Merges and checks. The error has everything that is wrong, in all layers.
    pub fn build(self) -> Result<Config, ConfigError> {
        let Self { parts, mut problems, .. } = self;
        let mut merged: Option<Node> = None;
        for part in parts {
            lay(&mut merged, part, &mut problems);
        }
        Config::of_tree(merged, problems)
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

    fn assignment(&mut self, layer: Layer, found: Option<Assignment>, names: &Names) {
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
    pub(super) fn names(&self) -> Names {
        let mut names = Names::default();
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

/// The value at a path.
pub(super) fn find<'a>(root: &'a Node, path: &[impl AsRef<str>]) -> Option<&'a Node> {
    path.iter().try_fold(root, |node, name| match &node.value {
        Value::Table(table) => table.get(name.as_ref()).map(|entry| &entry.node),
        _ => None,
    })
}

/// Lays a part over what there is.
pub(super) fn lay(merged: &mut Option<Node>, mut part: Part, problems: &mut Vec<Diagnostic>) {
    let removes = match &part.single {
        Some((path, true)) => {
            if let Some(base) = merged.as_ref().and_then(|root| find(root, path))
                && let Some(node) = find_mut(&mut part.root, path)
            {
                add(base, node, path, problems);
            }
            true
        }
        Some(_) => true,
        None => false,
    };
    match merged {
        None if !removes => *merged = Some(part.root),
        base => {
            let empty =
                || Node { value: Value::Table(Table::default()), place: part.root.place.clone() };
            let base = base.get_or_insert_with(empty);
            Merge { widen: &widen, removes }.lay(base, part.root, &mut Vec::new());
        }
    }
}

/// What is laid over a scalar that stands for a table starts from that table.
pub(super) fn widen(path: &[String], base: &mut Node, later: &Node) {
    if let [conversation, tools, tool, field] = path
        && conversation == "conversation"
        && tools == "tools"
    {
        match field.as_str() {
            "concurrency" => concurrency::widen(tool, base, later),
            "fan_out" => fan_out::widen(base, later),
            _ => {}
        }
    }
}

/// Puts a list behind the one that is there; tables merge as they always do.
fn add(base: &Node, later: &mut Node, path: &[String], problems: &mut Vec<Diagnostic>) {
    match (&base.value, &mut later.value) {
        (Value::Array(items), Value::Array(more)) => {
            let mut all = items.clone();
            all.append(more);
            *more = all;
        }
        (Value::Table(_), Value::Table(_)) => {}
        (there, more) => {
            problems.push(
                Diagnostic::error(format!(
                    "`+=` adds to a list or a table, and `{}` is {} ({})",
                    path.join(".").escape_debug(),
                    there.quote(),
                    there.kind()
                ))
                .at(&later.place, format!("can't add {} to it", more.kind()))
                .at(&base.place, "what is there")
                .help("`=` or `:=` replaces it"),
            );
        }
    }
}

fn find_mut<'a>(root: &'a mut Node, path: &[String]) -> Option<&'a mut Node> {
    path.iter().try_fold(root, |node, name| match &mut node.value {
        Value::Table(table) => table.get_mut(name).map(|entry| &mut entry.node),
        _ => None,
    })
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
