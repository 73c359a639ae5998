//! Lays the parts of layers over each other.

use super::{
    concurrency,
    diagnostic::Diagnostic,
    fan_out,
    layer::Layer,
    node::{Entry, Node, Table, Value},
};

/// One document or one value of a layer.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) layer: Layer,
    pub(super) root: Node,
    /// Where it is a single value: the names that lead to it, and whether it is added to a list.
    pub(super) single: Option<(Vec<String>, bool)>,
}

/// Lays a part over what there is.
pub(super) fn lay(merged: &mut Option<Node>, mut part: Part, problems: &mut Vec<Diagnostic>) {
    // Null of a single value takes away what stood there; in a file it says nothing.
    let removes = part.single.is_some();
    if let Some((path, true)) = &part.single
        && let Some(base) = merged.as_ref().and_then(|root| find(root, path))
        && let Some(node) = find_mut(&mut part.root, path)
    {
        add(base, node, path, problems);
    }
    match merged {
        None if !removes => *merged = Some(part.root),
        base => {
            let empty =
                || Node { value: Value::Table(Table::default()), place: part.root.place.clone() };
            let base = base.get_or_insert_with(empty);
            Merge { path: Vec::new(), removes }.lay(base, part.root);
        }
    }
}

/// One tree that is being laid over another.
struct Merge {
    /// The names that lead to the values at hand.
    path: Vec<String>,
    /// Whether null takes away what stood there.
    removes: bool,
}

impl Merge {
    /// Lays `later` over `base`: tables merge entry by entry, of anything else the later one wins.
    fn lay(&mut self, base: &mut Node, later: Node) {
        widen(&self.path, base, &later);
        match (&mut base.value, later.value) {
            (Value::Table(entries), Value::Table(later)) => {
                for (name, entry) in later {
                    self.lay_entry(entries, name, entry);
                }
            }
            (_, Value::Null) => {}
            (_, value) => *base = Node { value, place: later.place },
        }
    }

    fn lay_entry(&mut self, entries: &mut Table, name: String, entry: Entry) {
        if matches!(entry.node.value, Value::Null) && (self.removes || entries.contains_key(&name))
        {
            if self.removes {
                entries.shift_remove(&name);
            }
            return;
        }
        match entries.get_mut(&name) {
            Some(known) => {
                self.path.push(name);
                known.name = entry.name;
                self.lay(&mut known.node, entry.node);
                self.path.pop();
            }
            None => {
                entries.insert(name, entry);
            }
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

/// The value at a path.
pub(super) fn find<'a>(root: &'a Node, path: &[impl AsRef<str>]) -> Option<&'a Node> {
    path.iter().try_fold(root, |node, name| match &node.value {
        Value::Table(table) => table.get(name.as_ref()).map(|entry| &entry.node),
        _ => None,
    })
}

fn find_mut<'a>(root: &'a mut Node, path: &[String]) -> Option<&'a mut Node> {
    path.iter().try_fold(root, |node, name| match &mut node.value {
        Value::Table(table) => table.get_mut(name).map(|entry| &mut entry.node),
        _ => None,
    })
}
