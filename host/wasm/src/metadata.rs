//! What a WebAssembly file says of itself, read from its bytes alone: imports, exports, sizes of its sections, tools that made it.
//! Works on files that are no policy, do not compile or end too early, as far as they can be read.

use std::collections::HashMap;

use jp_policy_core::text::clean_to;
use wasmparser::{Encoding, KnownCustom, Parser, Payload, ProducersSectionReader};

use super::compat;

/// Characters of a name out of the file.
const NAME: usize = 100;

/// Sections, imports, exports or tools that are listed, each: a policy has fewer than 30, and a hostile file as many as it has bytes for.
const LISTED: usize = 200;

/// What a WebAssembly file says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Bytes of the contents of all sections of one kind, in all nested modules and components together, the largest first. A custom
    /// section is `custom` and its name.
    pub sections: Vec<(String, u64)>,
    /// What the outermost component or module imports: interfaces of a component, modules of a core module, cleaned for a terminal.
    pub imports: Vec<String>,
    /// What it exports.
    pub exports: Vec<String>,
    /// What made it, as it says: `rustc 1.95.0`, sorted.
    pub tools: Vec<String>,
    /// Why it could be read no further, and at which byte.
    pub broken: Option<String>,
}

impl Metadata {
    /// Reads a file; none if it does not begin as WebAssembly does.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::default();
        for payload in Parser::new(0).parse_all(bytes) {
            match payload {
                Ok(payload) => reader.take(&payload),
                Err(_) if !reader.begun => return None,
                Err(error) => {
                    let (message, offset) = (error.message(), error.offset());
                    reader.metadata.broken =
                        Some(format!("{} (at byte {offset})", clean_to(message, 3 * NAME)));
                    break;
                }
            }
        }
        let mut metadata = reader.metadata;
        metadata.sections = reader.sections.into_iter().collect();
        metadata.sections.sort_by(|(a, a_bytes), (b, b_bytes)| b_bytes.cmp(a_bytes).then(a.cmp(b)));
        Some(metadata)
    }

    /// The versions of `jp:plugin` that it exports interfaces of.
    pub fn versions(&self) -> Vec<String> {
        compat::versions(self.exports.iter().map(String::as_str))
    }
}

#[derive(Default)]
struct Reader {
    metadata: Metadata,
    /// Bytes by kind.
    sections: HashMap<String, u64>,
    begun: bool,
    /// The components and modules that are open, the innermost last: whether each is a component.
    open: Vec<bool>,
}

impl Reader {
    fn take(&mut self, payload: &Payload<'_>) {
        let metadata = &mut self.metadata;
        match payload {
            Payload::Version { encoding, .. } => {
                self.begun = true;
                self.open.push(*encoding == Encoding::Component);
                return;
            }
            Payload::End(_) => {
                self.open.pop();
                return;
            }
            // Their contents follow as sections of their own.
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => return,
            Payload::CustomSection(section) => {
                if let KnownCustom::Producers(producers) = section.as_known() {
                    metadata.tools.extend(tools(producers));
                    metadata.tools.sort();
                    metadata.tools.dedup();
                    metadata.tools.truncate(LISTED);
                }
                let name = format!("custom {}", clean_to(section.name(), NAME));
                self.count(&name, section.range().len());
                return;
            }
            _ => {}
        }
        if self.open.len() == 1 {
            match payload {
                Payload::ComponentImportSection(section) => {
                    let imports = section.clone().into_iter().map_while(Result::ok);
                    list(&mut metadata.imports, imports.map(|import| import.name.name));
                }
                Payload::ComponentExportSection(section) => {
                    let exports = section.clone().into_iter().map_while(Result::ok);
                    list(&mut metadata.exports, exports.map(|export| export.name.name));
                }
                Payload::ImportSection(section) => {
                    let imports = section.clone().into_imports().map_while(Result::ok);
                    list(&mut metadata.imports, imports.map(|import| import.module));
                }
                Payload::ExportSection(section) => {
                    let exports = section.clone().into_iter().map_while(Result::ok);
                    list(&mut metadata.exports, exports.map(|export| export.name));
                }
                _ => {}
            }
        }
        if let Some((id, range)) = payload.as_section() {
            let component = self.open.last().copied().unwrap_or_default();
            self.count(section_name(component, id), range.len());
        }
    }

    fn count(&mut self, name: &str, bytes: usize) {
        let listed = self.sections.len() < LISTED || self.sections.contains_key(name);
        let name = if listed { name } else { "others" };
        *self.sections.entry(name.to_owned()).or_default() += bytes as u64;
    }
}

fn list<'a>(into: &mut Vec<String>, names: impl Iterator<Item = &'a str>) {
    for name in names {
        if into.len() >= LISTED {
            return;
        }
        let name = clean_to(name, NAME);
        if !into.contains(&name) {
            into.push(name);
        }
    }
}

/// Each tool with its version, the hash behind it left out.
fn tools(producers: ProducersSectionReader<'_>) -> impl Iterator<Item = String> {
    let fields = producers.into_iter().map_while(Result::ok);
    // A language is implied by its compiler.
    let values = fields.filter(|field| field.name != "language").flat_map(|field| {
        field.values.into_iter().map_while(Result::ok).map(|tool| {
            let version = tool.version.split(" (").next().unwrap_or_default();
            clean_to(&format!("{} {version}", tool.name), NAME)
        })
    });
    values.take(LISTED).filter(|tool| !tool.is_empty())
}

/// The bytes of the data segments of all modules: names stand there that a policy compares with.
pub(super) fn data_segments(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let payloads = Parser::new(0).parse_all(bytes).map_while(Result::ok);
    payloads
        .filter_map(|payload| match payload {
            Payload::DataSection(section) => Some(section),
            _ => None,
        })
        .flat_map(|section| section.into_iter().map_while(Result::ok).map(|data| data.data))
}

/// What a section is called, by its number in the binary format.
fn section_name(component: bool, id: u8) -> &'static str {
    let names: &[&str] = if component {
        &[
            "custom",
            "core module",
            "core instance",
            "core type",
            "component",
            "instance",
            "alias",
            "type",
            "canonical function",
            "start",
            "import",
            "export",
        ]
    } else {
        &[
            "custom",
            "type",
            "import",
            "function",
            "table",
            "memory",
            "global",
            "export",
            "start",
            "element",
            "code",
            "data",
            "data count",
            "tag",
        ]
    };
    names.get(usize::from(id)).copied().unwrap_or("unknown")
}

#[cfg(test)]
#[path = "metadata_tests.rs"]
mod tests;
