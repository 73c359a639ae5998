//! The formats that configuration is written in: each read into the same tree.

mod json;
mod syntax;
mod toml;
mod yaml;

pub use self::toml::parse_toml;
use json::parse_json;
pub(super) use json::parse_json_at;
use yaml::parse_yaml;

use super::{diagnostic::Diagnostic, node::Node, source::Source};

/// The extensions of configuration files, in the order in which jp looks for them; the first that is there is read.
pub const EXTENSIONS: [&str; 5] = ["toml", "json", "json5", "yaml", "yml"];

/// Parses a document in the format that its extension says, TOML where it says none.
///
/// What is wrong with it goes to `problems`, each with its place; what could be read is returned, an empty table at worst.
pub fn parse(source: &Source, problems: &mut Vec<Diagnostic>) -> Node {
    match source.path().extension().and_then(|extension| extension.to_str()) {
        Some("json" | "json5" | "jsonc") => parse_json(source, problems),
        Some("yaml" | "yml") => parse_yaml(source, problems),
        _ => parse_toml(source, problems),
    }
}
