//! Compares the imports and exports of a component with a version of the contract before it is instantiated, and lists all differences.

use std::fmt;

use wasmtime::{
    Engine,
    component::{
        Component, InstancePre,
        types::{self, ComponentFunc, ComponentItem, Type},
    },
};

use super::state::HostState;

/// An interface that a component has to export.
pub(super) struct Interface {
    pub(super) name: &'static str,
    pub(super) functions: &'static [Function],
}

/// A function of an interface.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// Whether a function of the component has the signature that the host calls.
    pub(super) has_signature: fn(&types::Component, &ComponentFunc) -> bool,
}

/// All that keeps a component from being a policy of one version of the contract.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Incompatibility {
    /// What it imports and the host does not have, by name.
    pub missing_imports: Vec<String>,
    /// What it does not export and the host needs, by name.
    pub missing_exports: Vec<String>,
    /// Functions with another signature: `interface#function: signature`.
    pub mismatches: Vec<String>,
    /// The versions of `jp:plugin` that it was built for, where they are not the host's.
    pub versions: Vec<String>,
    /// The versions the host knows.
    pub known: Vec<String>,
    /// What to do.
    pub hints: Vec<String>,
}

impl Incompatibility {
    fn is_empty(&self) -> bool {
        self.missing_imports.is_empty()
            && self.missing_exports.is_empty()
            && self.mismatches.is_empty()
    }
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.versions.is_empty() {
            write!(
                f,
                "\n  it was built for jp:plugin {}; this host has {}",
                self.versions.join(", "),
                self.known.join(", ")
            )?;
        }
        let lists = [
            ("it imports what the host does not have", &self.missing_imports),
            ("it does not export what the host needs", &self.missing_exports),
            ("its functions have other signatures", &self.mismatches),
        ];
        for (what, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
            write!(f, "\n  {what}:")?;
            for name in names {
                write!(f, "\n    {name}")?;
            }
        }
        for hint in &self.hints {
            write!(f, "\n\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// Compares names and signatures of imports and exports. `linked` is the result of linking, which compares the types of imports.
pub(super) fn link(
    engine: &Engine,
    component: &Component,
    imports: &[&str],
    exports: &[Interface],
    linked: wasmtime::Result<InstancePre<HostState>>,
) -> Result<InstancePre<HostState>, Box<Incompatibility>> {
    let mut found = Box::<Incompatibility>::default();
    let component_type = component.component_type();
    for (name, _) in component_type.imports(engine) {
        if !imports.contains(&name) {
            found.missing_imports.push(name.to_owned());
        }
    }
    for interface in exports {
        let Some(export) = component_type.get_export(engine, interface.name) else {
            found.missing_exports.push(interface.name.to_owned());
            continue;
        };
        let ComponentItem::ComponentInstance(instance) = export.ty else {
            found.mismatches.push(format!("{}: is no interface", interface.name));
            continue;
        };
        for function in interface.functions {
            let name = format!("{}#{}", interface.name, function.name);
            match instance.get_export(engine, function.name).map(|export| export.ty) {
                Some(ComponentItem::ComponentFunc(actual))
                    if (function.has_signature)(&component_type, &actual) => {}
                Some(ComponentItem::ComponentFunc(actual)) => {
                    found.mismatches.push(format!("{name}: {}", signature(&actual)));
                }
                Some(_) => found.mismatches.push(format!("{name}: is no function")),
                None => found.missing_exports.push(name),
            }
        }
    }
    match linked {
        Ok(linked) if found.is_empty() => return Ok(linked),
        Err(error) if found.is_empty() => found.mismatches.push(format!("{error:#}")),
        _ => {}
    }
    found.versions = versions(component_type.exports(engine).map(|(name, _)| name));
    Err(found)
}

/// The versions of `jp:plugin` among the names of exports.
pub(super) fn versions<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut versions: Vec<String> = names
        .filter_map(|name| Some(name.strip_prefix("jp:plugin/")?.split_once('@')?.1.to_owned()))
        .collect();
    versions.sort();
    versions.dedup();
    versions
}

/// A signature in the words of WIT, cut where it goes too deep to be read.
fn signature(function: &ComponentFunc) -> String {
    const DEPTH: usize = 3;
    let params: Vec<String> =
        function.params().map(|(name, ty)| format!("{name}: {}", show(&ty, DEPTH))).collect();
    let results: Vec<String> = function.results().map(|ty| show(&ty, DEPTH)).collect();
    let results =
        if results.is_empty() { String::new() } else { format!(" -> {}", results.join(", ")) };
    let kind = if function.async_() { "async func" } else { "func" };
    format!("{kind}({}){results}", params.join(", "))
}

fn show(ty: &Type, depth: usize) -> String {
    let inner = |ty: &Type| if depth == 0 { "...".to_owned() } else { show(ty, depth - 1) };
    let option = |ty: Option<Type>| ty.map_or_else(|| "_".to_owned(), |ty| inner(&ty));
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::S8 => "s8".to_owned(),
        Type::U8 => "u8".to_owned(),
        Type::S16 => "s16".to_owned(),
        Type::U16 => "u16".to_owned(),
        Type::S32 => "s32".to_owned(),
        Type::U32 => "u32".to_owned(),
        Type::S64 => "s64".to_owned(),
        Type::U64 => "u64".to_owned(),
        Type::Float32 => "f32".to_owned(),
        Type::Float64 => "f64".to_owned(),
        Type::Char => "char".to_owned(),
        Type::String => "string".to_owned(),
        Type::List(list) => format!("list<{}>", inner(&list.ty())),
        Type::Record(record) => {
            let fields: Vec<String> = record
                .fields()
                .map(|field| format!("{}: {}", field.name, inner(&field.ty)))
                .collect();
            format!("record {{ {} }}", fields.join(", "))
        }
        Type::Tuple(tuple) => {
            format!("tuple<{}>", tuple.types().map(|ty| inner(&ty)).collect::<Vec<_>>().join(", "))
        }
        Type::Variant(variant) => {
            let cases: Vec<&str> = variant.cases().map(|case| case.name).collect();
            format!("variant {{ {} }}", cases.join(", "))
        }
        Type::Enum(names) => format!("enum {{ {} }}", names.names().collect::<Vec<_>>().join(", ")),
        Type::Flags(names) => {
            format!("flags {{ {} }}", names.names().collect::<Vec<_>>().join(", "))
        }
        Type::Option(ty) => format!("option<{}>", inner(&ty.ty())),
        Type::Result(result) => {
            format!("result<{}, {}>", option(result.ok()), option(result.err()))
        }
        _ => "another type".to_owned(),
    }
}

/// How each toolchain builds without WASI, by a text that its components contain.
const WASI_HINTS: &[(&str, &str)] = &[
    ("componentize-py", "Python: build with `componentize-py ... componentize --stub-wasi`"),
    ("componentize-qjs", "JavaScript: build with `componentize-qjs --stub-wasi`"),
    (
        "ComponentizeJS",
        "JavaScript: build with `componentize-js -d stdio random clocks http fetch-event`, or with componentize-qjs and `--stub-wasi`",
    ),
    (
        "componentize-js",
        "JavaScript: build with `componentize-js -d stdio random clocks http fetch-event`, or with componentize-qjs and `--stub-wasi`",
    ),
    (
        "rustc",
        "Rust: build for wasm32-unknown-unknown instead of a WASI target; `jp-policy build` does",
    ),
    (
        "Go cmd/compile",
        "Go: make the component with a stub adapter: `wasm-tools component new --adapt wasi_snapshot_preview1=stub.wasm`",
    ),
    (
        "TinyGo",
        "Go: make the component with a stub adapter: `wasm-tools component new --adapt wasi_snapshot_preview1=stub.wasm`",
    ),
    (
        "clang",
        "C: build for wasm32-unknown-unknown without a libc, or with `zig cc`, so that nothing of WASI is linked",
    ),
];

/// Whether an import is WASI's, of any version.
pub(super) fn is_wasi(import: &str) -> bool {
    import.starts_with("wasi:") || import.starts_with("wasi_")
}

/// Why there is no WASI, and how the component's toolchain builds without it, as far as it can be told from its bytes.
pub(super) fn wasi_hints(bytes: &[u8]) -> [String; 2] {
    let said = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    let hint = match WASI_HINTS.iter().find(|(needle, _)| said(needle)) {
        Some((_, hint)) => (*hint).to_owned(),
        None => {
            let mut hints: Vec<&str> = WASI_HINTS.iter().map(|(_, hint)| *hint).collect();
            hints.dedup();
            hints.join("\n  ")
        }
    };
    let why =
        "a policy has no file, network, clock, environment or random number, so WASI is not there";
    [why.to_owned(), hint]
}

impl Incompatibility {
    /// Adds what to do, from what is known of the component.
    pub(super) fn with_hints(mut self, bytes: &[u8], known: &[&str]) -> Self {
        self.known = known.iter().map(ToString::to_string).collect();
        self.versions.retain(|version| !known.contains(&version.as_str()));
        if self.missing_imports.iter().any(|name| is_wasi(name)) {
            self.hints.extend(wasi_hints(bytes));
        }
        if !self.versions.is_empty() {
            self.hints.push(
                "if you use this policy, get one that was built for this host, or update the host; if you wrote it, build it \
                 against this host's SDK"
                    .to_owned(),
            );
        } else if self.missing_exports.iter().any(|name| !name.contains('#'))
            && self.mismatches.is_empty()
        {
            self.hints.push("a release policy exports the interfaces of `wit/jp-plugin-0.1.0`, world `release-policy-plugin`".to_owned());
        }
        self
    }
}
