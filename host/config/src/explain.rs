//! Which layers touched a value, and which of them won.

use std::path::PathBuf;

use super::{
    config_dirs::FileStatus,
    document::{ConversationTable, Document},
    key_path::{KnownNames, dotted},
    layer::Layer,
    layers::Layers,
    merge::{Part, find, lay, widen},
    node::{Entry, Node, Table, Value},
    source::Place,
    spec::{Children, Configured, FieldType as _, Table as _},
    suggest::nearest,
    toml_literal,
};

/// What every layer says of one value.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The names that lead to it.
    pub path: Vec<String>,
    /// What the layers say, in their order: each layer at least once.
    pub steps: Vec<Step>,
    /// What is left when all are merged, as it would be written; none if nothing sets it.
    pub value: Option<String>,
    /// Which step each part of it comes from.
    pub winners: Vec<Winner>,
}

/// What one source of a layer says.
#[derive(Debug, Clone)]
pub struct Step {
    /// The layer.
    pub layer: Layer,
    /// What it says.
    pub says: Says,
}

/// What a source says of a value.
#[derive(Debug, Clone)]
pub enum Says {
    /// There is no such file.
    Missing(PathBuf),
    /// The file is not read, for an earlier one says `inherit = false`.
    Closed(PathBuf),
    /// Nothing.
    Nothing,
    /// This.
    Value {
        /// Where.
        place: Place,
        /// As it would be written.
        text: String,
        /// What that makes together with the layers before; none if nothing is left.
        then: Option<String>,
    },
}

/// Where a part of a value comes from.
#[derive(Debug, Clone)]
pub struct Winner {
    /// The field of a table; none where the value is no table.
    pub field: Option<String>,
    /// The layer that won.
    pub layer: Layer,
    /// Where it stands there.
    pub place: Place,
}

/// Why a value can't be explained.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExplainError {
    /// The key can't be read.
    #[error("the key `{}` can't be read: {why}", key.escape_debug())]
    Key {
        /// The key.
        key: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such name.
    #[error(
        "`{}` has no `{}`{}",
        path.join(".").escape_debug(), name.escape_debug(),
        known.as_ref().map_or_else(String::new, |known| format!("; did you mean `{}`?", known.escape_debug()))
    )]
    Unknown {
        /// What it was looked for in.
        path: Vec<String>,
        /// The name.
        name: String,
        /// The name that is probably meant.
        known: Option<String>,
    },
}

impl Layers {
    /// Says what each layer does to the value at a key, for instance `conversation.tools.fs_edit.concurrency`, or
    /// `tools.fs_edit.concurrency` for short.
    ///
    /// An error if the key can't be split into names, or has a name that no layer has and that is no field.
    ///
    /// ```
    /// use jp_policy_config::{Layer, Layers, Source};
    ///
    /// let mut layers = Layers::default();
    /// layers.source(Layer::Workspace, &Source::new("a.toml", "[conversation.tools.a]\nconcurrency = 4"));
    /// layers.cfg("conversation.tools.a.concurrency.limit=2");
    /// let explanation = layers.explain("tools.a.concurrency")?;
    /// assert_eq!(explanation.value.as_deref(), Some("{ key = \"a\", limit = 2 }"));
    /// assert_eq!(explanation.winners[1].layer, Layer::CliCfg);
    /// # Ok::<(), jp_policy_config::ExplainError>(())
    /// ```
    pub fn explain(&self, key: &str) -> Result<Explanation, ExplainError> {
        let names = self.known_names();
        let path = full_path(key, &names)?;
        self.check_names(&path, &names)?;

        // A number may stand for a table, so that is what layers are merged by.
        let whole = match path.as_slice() {
            [_, tools, _, field, _, ..]
                if tools == "tools" && matches!(field.as_str(), "concurrency" | "fan_out") =>
            {
                &path[..4]
            }
            path => path,
        };
        let mut merged = None;
        let mut steps = Vec::new();
        let mut sources = Vec::new();
        for layer in Layer::ALL {
            let said = steps.len();
            for file in self.searched().iter().filter(|file| file.layer == layer) {
                let says = match file.status {
                    FileStatus::Missing => Says::Missing(file.path.clone()),
                    FileStatus::Closed => Says::Closed(file.path.clone()),
                    FileStatus::Read => continue,
                };
                steps.push(Step { layer, says });
            }
            for part in self.parts.iter().filter(|part| part.layer == layer) {
                let Some(only) = narrowed_to(part, whole) else {
                    continue;
                };
                let said = deepest_at(&only.root, &path)
                    .map(|node| (node.place.clone(), toml_literal::display(&node.value)));
                // What can't be added to what is there is an error of the configuration; here it simply wins.
                lay(&mut merged, only, &mut Vec::new());
                let Some((place, text)) = said else {
                    continue;
                };
                sources.push((place.source.clone(), layer));
                let then =
                    value_at(merged.as_ref(), &path).map(|node| toml_literal::display(&node.value));
                steps.push(Step { layer, says: Says::Value { place, text, then } });
            }
            if steps.len() == said {
                steps.push(Step { layer, says: Says::Nothing });
            }
        }
        let value = value_at(merged.as_ref(), &path);
        let winner = |field: Option<&str>, node: &Node| {
            let source = sources.iter().rev().find(|(source, _)| source.is(&node.place.source));
            source.map(|(_, layer)| Winner {
                field: field.map(str::to_owned),
                layer: *layer,
                place: node.place.clone(),
            })
        };
        let winners = match &value {
            Some(Node { value: Value::Table(table), .. }) if !table.is_empty() => {
                table.iter().filter_map(|(name, entry)| winner(Some(name), &entry.node)).collect()
            }
            Some(node) => winner(None, node).into_iter().collect(),
            None => Vec::new(),
        };
        let value = value.map(|node| toml_literal::display(&node.value));
        Ok(Explanation { path, steps, value, winners })
    }

    /// Refuses a name that nothing has and nothing could have.
    fn check_names(&self, path: &[String], names: &KnownNames) -> Result<(), ExplainError> {
        for (depth, name) in path.iter().enumerate() {
            let inside = &path[..depth];
            let nearest_of = |known: &mut dyn Iterator<Item = &str>| {
                let known: Vec<&str> = known.collect();
                (!known.contains(&name.as_str())).then(|| nearest(name, known).map(str::to_owned))
            };
            let unknown = match Document::SHAPE.at(inside).children {
                Children::Named(fields) => nearest_of(&mut fields.names()),
                // The defaults of all tools.
                Children::Configured(Configured::Tools, _) if name == "*" => None,
                Children::Configured(what, _) => {
                    nearest_of(&mut names.of(what).iter().map(String::as_str))
                }
                Children::Open(..) | Children::Unknown => None,
            };
            let there =
                || self.parts.iter().any(|part| find(&part.root, &path[..=depth]).is_some());
            if let Some(known) = unknown
                && !there()
            {
                let path = inside.to_vec();
                return Err(ExplainError::Unknown { path, name: name.clone(), known });
            }
        }
        Ok(())
    }
}

/// The names that a key leads through. `conversation` in front may be left out.
fn full_path(key: &str, names: &KnownNames) -> Result<Vec<String>, ExplainError> {
    let split = |text: &str| {
        let segments =
            dotted(text, names).map_err(|why| ExplainError::Key { key: key.to_owned(), why })?;
        Ok(segments.into_iter().map(|segment| segment.name).collect::<Vec<_>>())
    };
    let path = split(key)?;
    let first = path.first().map_or("", String::as_str);
    if !Document::FIELDS.has(first) && ConversationTable::FIELDS.has(first) {
        return split(&format!("conversation.{key}"));
    }
    Ok(path)
}

/// A part with nothing in it but what is on the way to a value.
fn narrowed_to(part: &Part, path: &[String]) -> Option<Part> {
    let (mut node, mut way) = (&part.root, Vec::new());
    for name in path {
        let Value::Table(table) = &node.value else { break };
        let entry = table.get(name)?;
        way.push((name, entry, &node.place));
        node = &entry.node;
    }
    let mut root = node.clone();
    for (name, entry, outer) in way.into_iter().rev() {
        let entry = Entry { name: entry.name.clone(), node: root };
        let table = Value::Table(Table::from_iter([(name.clone(), entry)]));
        root = Node { value: table, place: outer.clone() };
    }
    Some(Part { layer: part.layer, root, single: part.single.clone() })
}

/// What a layer says of a value: that, or what it has in place of a table that it would stand in.
fn deepest_at<'a>(root: &'a Node, path: &[String]) -> Option<&'a Node> {
    let mut node = root;
    for name in path {
        let Value::Table(table) = &node.value else { break };
        node = &table.get(name)?.node;
    }
    Some(node)
}

/// The value at a path of what is merged, a number taken for the table that it stands for.
fn value_at(merged: Option<&Node>, path: &[String]) -> Option<Node> {
    let mut node = merged?.clone();
    for (depth, name) in path.iter().enumerate() {
        let empty = Node { value: Value::Table(Table::default()), place: node.place.clone() };
        widen(&path[..depth], &mut node, &empty);
        let Value::Table(mut table) = node.value else { return None };
        node = table.swap_remove(name)?.node;
    }
    (!matches!(node.value, Value::Null)).then_some(node)
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
