//! What a WebAssembly file is made of, read from its bytes alone: sizes by section, imports, exports, who made it. Works on files that
//! are no policy, do not compile or end too early, as far as they can be read.

use jp_policy_core::text::clean_to;
use wasmparser::{
    ComponentNameSectionReader, Encoding, KnownCustom, NameSectionReader, Parser, Payload,
    ProducersSectionReader,
};

/// Characters of a name out of the file.
const NAME: usize = 100;

/// Modules and components that are told apart: a policy has 3 to 20, and a hostile file as many as it has bytes for.
const PARTS: usize = 200;

/// Custom sections, imports, exports or tools that are told apart, each.
const LISTED: usize = 200;

/// What a file is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Anatomy {
    /// The file's component or module first, then what is nested in it, in the order of the file.
    pub parts: Vec<Part>,
    /// Nested parts beyond those.
    pub more_parts: usize,
    /// What the outermost part imports: interfaces of a component, modules of a core module, cleaned for a terminal.
    pub imports: Vec<String>,
    /// What it exports.
    pub exports: Vec<String>,
    /// What made it, as it says: `rustc 1.95.0`, the innermost first.
    pub tools: Vec<String>,
    /// Why it could be read no further, and at which byte.
    pub broken: Option<String>,
}

/// A module or component of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// How deep it is nested; 0 is the file itself.
    pub depth: usize,
    /// Whether it is a component, or a core module.
    pub component: bool,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its bytes, all that is nested in it among them.
    pub bytes: u64,
    /// Its own sections, without what is nested in it: each kind (a custom section: each name) once, in the order of the file.
    pub sections: Vec<Section>,
}

/// The sections of one kind, together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The kind, `code`, `data`; or `custom` and its name.
    pub name: String,
    /// Bytes of their contents.
    pub bytes: u64,
}

impl Anatomy {
    /// Reads a file. It need not be WebAssembly: then it is broken from the start.
    pub fn read(bytes: &[u8]) -> Self {
        let mut reading = Reading::default();
        for payload in Parser::new(0).parse_all(bytes) {
            match payload {
                Ok(payload) => reading.take(&payload, bytes.len() as u64),
                Err(error) => {
                    let (message, offset) = (error.message(), error.offset());
                    reading.anatomy.broken =
                        Some(format!("{} (at byte {offset})", clean_to(message, 3 * NAME)));
                    break;
                }
            }
        }
        let mut anatomy = reading.anatomy;
        anatomy.tools.dedup();
        anatomy
    }

    /// The versions of `jp:plugin` that it exports interfaces of.
    pub fn versions(&self) -> Vec<String> {
        super::compat::versions(self.exports.iter().map(String::as_str))
    }
}

/// Where the reader stands.
#[derive(Default)]
struct Reading {
    anatomy: Anatomy,
    /// The parts that are open, the innermost last; none for one that is not told apart.
    open: Vec<Option<usize>>,
    /// The size of the part that comes next.
    nested: Option<u64>,
}

impl Reading {
    fn take(&mut self, payload: &Payload<'_>, length: u64) {
        match payload {
            Payload::Version { encoding, .. } => {
                let bytes = self.nested.take().unwrap_or(length);
                self.enter(*encoding == Encoding::Component, bytes);
            }
            Payload::ModuleSection { unchecked_range, .. }
            | Payload::ComponentSection { unchecked_range, .. } => {
                self.nested = Some(unchecked_range.len() as u64);
            }
            Payload::End(_) => {
                self.open.pop();
            }
            Payload::ComponentImportSection(section) if self.outermost() => {
                let imports = section.clone().into_iter().map_while(Result::ok);
                list(&mut self.anatomy.imports, imports.map(|import| import.name.name));
            }
            Payload::ComponentExportSection(section) if self.outermost() => {
                let exports = section.clone().into_iter().map_while(Result::ok);
                list(&mut self.anatomy.exports, exports.map(|export| export.name.name));
            }
            Payload::ImportSection(section) if self.outermost() => {
                let imports = section.clone().into_imports().map_while(Result::ok);
                list(&mut self.anatomy.imports, imports.map(|import| import.module));
            }
            Payload::ExportSection(section) if self.outermost() => {
                let exports = section.clone().into_iter().map_while(Result::ok);
                list(&mut self.anatomy.exports, exports.map(|export| export.name));
            }
            _ => {}
        }
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {}
            Payload::CustomSection(section) => {
                self.named(&section.as_known());
                let name = format!("custom {}", clean_to(section.name(), NAME));
                self.section(&name, section.range().len() as u64);
            }
            other => {
                if let Some((id, range)) = other.as_section() {
                    self.section(kind(self.in_component(), id), range.len() as u64);
                }
            }
        }
    }

    fn enter(&mut self, component: bool, bytes: u64) {
        let depth = self.open.len();
        if self.anatomy.parts.len() >= PARTS {
            self.anatomy.more_parts += 1;
            self.open.push(None);
            return;
        }
        self.open.push(Some(self.anatomy.parts.len()));
        let part = Part { depth, component, name: None, bytes, sections: Vec::new() };
        self.anatomy.parts.push(part);
    }

    fn outermost(&self) -> bool {
        self.open.len() == 1
    }

    fn part(&mut self) -> Option<&mut Part> {
        let part = self.open.last().copied()??;
        self.anatomy.parts.get_mut(part)
    }

    fn in_component(&self) -> bool {
        let part = self.open.last().copied().flatten();
        part.and_then(|part| self.anatomy.parts.get(part)).is_some_and(|part| part.component)
    }

    fn section(&mut self, name: &str, bytes: u64) {
        let Some(part) = self.part() else { return };
        let full = part.sections.len() >= LISTED;
        let name = if full { "others" } else { name };
        match part.sections.iter_mut().find(|section| section.name == name) {
            Some(section) => section.bytes += bytes,
            None => part.sections.push(Section { name: name.to_owned(), bytes }),
        }
    }

    /// What custom sections say: names of parts, and tools.
    fn named(&mut self, section: &KnownCustom<'_>) {
        let name = match section {
            KnownCustom::Name(names) => module_name(names.clone()),
            KnownCustom::ComponentName(names) => {
                self.nested_named(names.clone());
                component_name(names.clone())
            }
            KnownCustom::Producers(producers) => {
                let tools = tools(producers.clone());
                let known = &mut self.anatomy.tools;
                known.extend(tools.into_iter().filter(|tool| !tool.is_empty()));
                known.sort();
                known.dedup();
                known.truncate(LISTED);
                None
            }
            _ => None,
        };
        if let (Some(name), Some(part)) = (name, self.part()) {
            part.name = Some(clean_to(&name, NAME));
        }
    }
}

impl Reading {
    /// A component names what is nested in it by its place, which names what has no name of its own. It stands after all of it.
    fn nested_named(&mut self, names: ComponentNameSectionReader<'_>) {
        let depth = self.open.len();
        let Some(outer) = self.open.last().copied().flatten() else { return };
        for names in names.into_iter().map_while(Result::ok) {
            let (names, component) = match names {
                wasmparser::ComponentName::CoreModules(names) => (names, false),
                wasmparser::ComponentName::Components(names) => (names, true),
                _ => continue,
            };
            let inner = &mut self.anatomy.parts[outer + 1..];
            let mut inner: Vec<&mut Part> = inner
                .iter_mut()
                .take_while(|part| part.depth >= depth)
                .filter(|part| part.depth == depth && part.component == component)
                .collect();
            for name in names.into_iter().map_while(Result::ok) {
                if let Some(part) = inner.get_mut(name.index as usize) {
                    part.name.get_or_insert_with(|| clean_to(name.name, NAME));
                }
            }
        }
    }
}

fn list<'a>(into: &mut Vec<String>, names: impl Iterator<Item = &'a str>) {
    for name in names {
        let name = clean_to(name, NAME);
        if !into.contains(&name) && into.len() < LISTED {
            into.push(name);
        }
    }
}

fn module_name(names: NameSectionReader<'_>) -> Option<String> {
    names.into_iter().map_while(Result::ok).find_map(|name| match name {
        wasmparser::Name::Module { name, .. } => Some(name.to_owned()),
        _ => None,
    })
}

fn component_name(names: ComponentNameSectionReader<'_>) -> Option<String> {
    names.into_iter().map_while(Result::ok).find_map(|name| match name {
        wasmparser::ComponentName::Component { name, .. } => Some(name.to_owned()),
        _ => None,
    })
}

/// Each tool with its version, the hash behind it left out.
fn tools(producers: ProducersSectionReader<'_>) -> Vec<String> {
    let fields = producers.into_iter().map_while(Result::ok);
    // Languages are said by their compilers.
    let values = fields.filter(|field| field.name != "language").flat_map(|field| {
        field.values.into_iter().map_while(Result::ok).map(|tool| {
            let version = tool.version.split(" (").next().unwrap_or_default();
            clean_to(&format!("{} {version}", tool.name), NAME)
        })
    });
    values.take(LISTED).collect()
}

/// The texts in the data of its modules: where names stand that a policy compares with.
pub(super) fn data(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let payloads = Parser::new(0).parse_all(bytes).map_while(Result::ok);
    payloads
        .filter_map(|payload| match payload {
            Payload::DataSection(section) => Some(section),
            _ => None,
        })
        .flat_map(|section| section.into_iter().map_while(Result::ok).map(|data| data.data))
}

/// What a section is called, by its number in the binary format.
fn kind(component: bool, id: u8) -> &'static str {
    const MODULE: [&str; 14] = [
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
    ];
    const COMPONENT: [&str; 12] = [
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
    ];
    let names: &[&str] = if component { &COMPONENT } else { &MODULE };
    names.get(usize::from(id)).copied().unwrap_or("unknown")
}

#[cfg(test)]
#[path = "anatomy_tests.rs"]
mod tests;
