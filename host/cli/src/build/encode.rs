//! From a module to a component, and what a component imports.

use super::BuildError;

/// The version of the encoder that makes a module a component: the bytes depend on it.
pub(super) const ENCODER: &str = "wit-component 0.254.2";

/// Makes a module that carries its component type a component.
pub fn componentize(module: &[u8]) -> Result<Vec<u8>, BuildError> {
    let encoder = wit_component::ComponentEncoder::default().validate(true).module(module);
    encoder
        .and_then(|mut encoder| encoder.encode())
        .map_err(|error| BuildError::Encode(format!("{error:#}")))
}

/// The names of a component's imports, in order.
pub fn imports(component: &[u8]) -> Vec<String> {
    let mut depth = 0;
    let mut names = Vec::new();
    for payload in wasmparser::Parser::new(0).parse_all(component).map_while(Result::ok) {
        match payload {
            wasmparser::Payload::ModuleSection { .. }
            | wasmparser::Payload::ComponentSection { .. } => depth += 1,
            wasmparser::Payload::End(_) => depth -= 1,
            wasmparser::Payload::ComponentImportSection(section) if depth == 0 => {
                let imports = section.into_iter().map_while(Result::ok);
                names.extend(imports.map(|import| import.name.name.to_owned()));
            }
            _ => {}
        }
    }
    names
}
