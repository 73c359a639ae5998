//! The formats that configuration is written in: each read into the same tree.

mod json;
mod toml;
mod yaml;

pub use self::toml::parse_toml;
use jp_policy_core::text::clean_path;
use json::parse_json;
pub(super) use json::parse_json_at;
use yaml::parse_yaml;

use super::{
    diagnostic::Diagnostic,
    node::Node,
    source::{Place, Source},
};

/// The extensions of configuration files, in the order in which jp looks for them; the first that is there is read.
pub const EXTENSIONS: [&str; 5] = ["toml", "json", "json5", "yaml", "yml"];

/// Deeper than this no configuration is nested, and everything that walks through a tree does so on the stack.
pub(super) const DEEPEST: usize = 100;

/// Parses a document in the format that its extension says, TOML where it says none; what is wrong with it goes to `problems`.
pub fn parse(source: &Source, problems: &mut Vec<Diagnostic>) -> Node {
    match source.path().extension().and_then(|extension| extension.to_str()) {
        Some("json" | "json5" | "jsonc") => parse_json(source, problems),
        Some("yaml" | "yml") => parse_yaml(source, problems),
        _ => parse_toml(source, problems),
    }
}

/// That a document can't be parsed.
fn invalid(
    source: &Source,
    format: &str,
    message: &str,
    span: std::ops::Range<usize>,
) -> Diagnostic {
    Diagnostic::error(format!("`{}` is not valid {format}: {message}", clean_path(source.path())))
        .at(&Place { source: source.clone(), span }, "here")
}

/// That a name stands in a table twice.
fn twice(format: &str, name: &str, first: &Place, again: &Place) -> Diagnostic {
    Diagnostic::error(format!(
        "`{}` is not valid {format}: `{}` is set twice",
        clean_path(again.source.path()),
        name.escape_debug()
    ))
    .at(again, "set again")
    .at(first, "first set here")
}
