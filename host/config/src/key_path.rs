//! Keys in which names are joined: `conversation.tools.git_add.concurrency`, and `conversation_tools_git_add_concurrency` as an
//! environment variable has it.

use std::{collections::BTreeSet, ops::Range};

use super::{
    document::Document,
    spec::{Children, Configured, FieldType as _, Fields, Shape},
};

/// A name of a key, and where it stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// The name.
    pub name: String,
    /// Its bytes in the key.
    pub span: Range<usize>,
}

/// The names that the layers so far have: a tool's name may have dots and underscores of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownNames {
    /// Of tools.
    pub tools: BTreeSet<String>,
    /// Of plugins.
    pub plugins: BTreeSet<String>,
    /// Of MCP servers.
    pub servers: BTreeSet<String>,
}

impl KnownNames {
    /// Those of what is configured under a path.
    fn under(&self, path: &[String]) -> Option<&BTreeSet<String>> {
        match Document::SHAPE.at(path).children {
            Children::Configured(what, _) => Some(self.of(what)),
            _ => None,
        }
    }

    /// Those of one kind.
    pub(super) fn of(&self, what: Configured) -> &BTreeSet<String> {
        match what {
            Configured::Tools => &self.tools,
            Configured::Plugins => &self.plugins,
            Configured::Servers => &self.servers,
        }
    }
}

/// A key of more names than this is a mistake, and a tree that deep is a danger.
const LONGEST: usize = 32;

/// Splits a key at its dots. A name that has dots of its own is taken whole where a layer knows it, and in quotes.
pub(super) fn dotted(key: &str, names: &KnownNames) -> Result<Vec<Segment>, String> {
    let (mut segments, mut path, mut at) = (Vec::new(), Vec::new(), 0);
    loop {
        let rest = &key[at..];
        let (name, length) = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => match rest[1..].find(quote) {
                Some(end) => (&rest[1..=end], end + 2),
                None => return Err(format!("the quote {quote} does not end")),
            },
            _ => {
                let known = names.under(&path).into_iter().flatten().filter(|name| {
                    rest.strip_prefix(name.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                });
                let length = known.map(String::len).max();
                let length = length.or_else(|| rest.find('.')).unwrap_or(rest.len());
                (&rest[..length], length)
            }
        };
        if length == 0 {
            return Err("a name is missing".to_owned());
        }
        segments.push(Segment { name: name.to_owned(), span: at..at + length });
        path.push(name.to_owned());
        at += length;
        match key[at..].chars().next() {
            None => return Ok(segments),
            Some('.') => at += 1,
            Some(_) => return Err("expected a dot after the quote".to_owned()),
        }
        if segments.len() == LONGEST {
            return Err(format!("it has more than {LONGEST} names"));
        }
    }
}

/// Splits a key at those of its underscores that separate names. KnownNames are told by what is known where they stand; of a name with
/// other characters than an environment variable has, each is an underscore.
///
/// None where it leads to what this project doesn't know: jp's other settings.
pub(super) fn underscored(key: &str, names: &KnownNames) -> Option<Vec<Segment>> {
    let (mut segments, mut path, mut at) = (Vec::<Segment>::new(), Vec::<String>::new(), 0);
    while at < key.len() {
        let rest = &key[at..];
        let starts = |folded: &str| {
            rest.strip_prefix(folded).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        let of_fields = |fields: Fields| {
            let known = fields.names().filter(|name| starts(name)).max_by_key(|name| name.len())?;
            Some((known.to_owned(), known.len()))
        };
        let (name, length) = match Document::SHAPE.at(&path).children {
            Children::Named(fields) => of_fields(fields)?,
            Children::Open(fields, _) => {
                of_fields(fields).unwrap_or_else(|| (rest.to_owned(), rest.len()))
            }
            Children::Configured(what, each) => {
                let known = names.of(what).iter();
                let known =
                    known.map(|name| (name, folded(name))).filter(|(_, folded)| starts(folded));
                match known.max_by_key(|(_, folded)| folded.len()) {
                    Some((name, folded)) => (name.clone(), folded.len()),
                    None => unknown(rest, each),
                }
            }
            Children::Unknown => return None,
        };
        segments.push(Segment { name: name.clone(), span: at..at + length });
        path.push(name);
        at += length + 1;
    }
    Some(segments)
}

/// A name as a part of an environment variable: in lower case, as jp reads them.
fn folded(name: &str) -> String {
    let fold = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(fold).collect()
}

/// The name of a tool, plugin or server that no layer has: what stands before the first field that it may have.
fn unknown(rest: &str, each: &Shape) -> (String, usize) {
    let Children::Named(fields) = each.children else {
        return (rest.to_owned(), rest.len());
    };
    let places = rest.match_indices('_').map(|(at, _)| at).filter(|at| *at > 0);
    let field = |at: &usize| {
        let after = &rest[at + 1..];
        fields.names().any(|field| {
            after.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    };
    let length = places.into_iter().find(field).unwrap_or(rest.len());
    (rest[..length].to_owned(), length)
}

#[cfg(test)]
#[path = "key_path_tests.rs"]
mod tests;
