//! The policies, made from their source: text, module, component.

use std::{env, fs, path::PathBuf, sync::LazyLock};

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A policy as it is written.
struct Source {
    name: String,
    /// Its own fields.
    text: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/hostile")
}

fn read_text(file: &str) -> String {
    let path = folder().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// `UPDATE_HOSTILE=1`: the components and the list in the README are written again, before anything reads them.
static UPDATED: LazyLock<()> = LazyLock::new(|| {
    if env::var_os("UPDATE_HOSTILE").is_none() {
        return;
    }
    for source in sources() {
        fs::write(folder().join(format!("{}.wasm", source.name)), source.component())
            .expect("a component can be written");
    }
    let readme = read_text("README.md");
    let (before, _) = readme.split_once(LIST).expect("the README has a list");
    fs::write(folder().join("README.md"), format!("{before}{LIST}{}", list()))
        .expect("the README can be written");
});

/// The component of a policy, as it is checked in.
pub fn component(policy: &str) -> Vec<u8> {
    LazyLock::force(&UPDATED);
    let path = folder().join(format!("{policy}.wasm"));
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The faults that are right for a policy, by their words; none where it does nothing wrong.
pub fn right_faults(policy: &str) -> Vec<String> {
    let text = read_text(&format!("{policy}.wat"));
    let faults = Source { name: policy.to_owned(), text }.header("fault");
    faults.split(" or ").filter(|word| *word != "none").map(str::to_owned).collect()
}

/// The names of all policies, sorted.
pub fn names() -> Vec<String> {
    sources().into_iter().map(|source| source.name).collect()
}

fn sources() -> Vec<Source> {
    let entries = fs::read_dir(folder()).expect("the folder is there");
    let files = entries.map(|entry| entry.expect("it can be read").file_name());
    let names = files.filter_map(|file| file.to_str()?.strip_suffix(".wat").map(str::to_owned));
    let mut names: Vec<String> = names.filter(|name| name != "prelude").collect();
    names.sort();
    names.into_iter().map(|name| Source { text: read_text(&format!("{name}.wat")), name }).collect()
}

impl Source {
    /// What it does: the first lines of its text.
    fn does(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix(";; "));
        lines.take_while(|line| !line.starts_with("fault: ")).collect::<Vec<_>>().join(" ")
    }

    /// `;; NAME: ...` before the first field.
    fn header(&self, name: &str) -> String {
        let prefix = format!(";; {name}: ");
        let mut lines = self.text.lines().take_while(|line| line.starts_with(";;"));
        lines.find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
    }

    /// The prelude without what the policy brings or does not need, and the policy.
    fn module(&self) -> String {
        let own: Vec<&str> = self.text.split("\n\n").filter_map(field_name).collect();
        let prelude = read_text("prelude.wat")
            .replace("{name}", &self.name)
            .replace("{length}", &self.name.len().to_string());
        let mut module = "(module\n".to_owned();
        for field in prelude.split("\n\n") {
            let name = field_name(field).unwrap_or_default();
            let import = field.starts_with("(import");
            let wanted = if import {
                self.text.contains(&format!("(call {name} "))
            } else {
                !own.contains(&name)
            };
            if wanted {
                module.push_str(field);
                module.push('\n');
            }
        }
        module + &self.text + ")\n"
    }

    fn component(&self) -> Vec<u8> {
        let text = self.module();
        let mut module =
            wat::parse_str(&text).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let mut resolve = Resolve::default();
        let (package, _) = resolve
            .push_path(folder().join("../../wit/jp-plugin-0.1.0"))
            .expect("the contract can be read");
        let world = match self.header("world") {
            world if world.is_empty() => "release-policy-plugin".to_owned(),
            world => world,
        };
        let world = resolve.select_world(&[package], Some(&world)).expect("it has the world");
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
            .expect("a module can carry its world");
        let encoder = ComponentEncoder::default().validate(true).module(&module);
        let component = encoder.and_then(|mut encoder| encoder.encode());
        component.unwrap_or_else(|error| panic!("{}: {error:?}", self.name))
    }
}

/// `$name` of a field, behind its comments; of an import, what it is called here.
fn field_name(field: &str) -> Option<&str> {
    let mut lines = field.lines().skip_while(|line| line.starts_with(";;") || line.is_empty());
    let (_, name) = lines.next()?.split_once('$')?;
    let end = name.find([' ', ')']).unwrap_or(name.len());
    let start = field.len() - field[field.find(&format!("${}", &name[..end]))?..].len();
    Some(&field[start..=start + end])
}

/// Where the list of the README begins.
const LIST: &str = "| policy | what it does | fault |\n|---|---|---|\n";

fn list() -> String {
    let row = |source: &Source| {
        format!("| `{}` | {} | {} |\n", source.name, source.does(), source.header("fault"))
    };
    sources().iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGAIN: &str = "run\n  UPDATE_HOSTILE=1 cargo test -p jp-policy-tests --lib";

    #[test]
    fn components_come_from_their_source() {
        LazyLock::force(&UPDATED);
        let same = |source: &Source| {
            let checked_in = fs::read(folder().join(format!("{}.wasm", source.name)));
            checked_in.is_ok_and(|checked_in| checked_in == source.component())
        };
        let different =
            sources().into_iter().filter(|source| !same(source)).map(|source| source.name);
        let different: Vec<String> = different.collect();
        assert!(
            different.is_empty(),
            "not what the source says: {}; {AGAIN}",
            different.join(", ")
        );
    }

    #[test]
    fn the_readme_lists_them_all() {
        LazyLock::force(&UPDATED);
        let readme = read_text("README.md");
        let (_, listed) = readme.split_once(LIST).expect("the README has a list");
        assert!(listed == list(), "the README lists others; {AGAIN}");
    }

    #[test]
    fn all_are_lived_through() {
        let entries = fs::read_dir(folder()).expect("the folder is there");
        let files = entries.map(|entry| entry.expect("it can be read").path());
        let tests: String = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .map(|path| fs::read_to_string(path).expect("a test can be read"))
            .collect();
        let mut forgotten = sources().into_iter().map(|source| source.name).collect::<Vec<_>>();
        forgotten.retain(|name| !tests.contains(&format!("\"{name}\"")));
        assert_eq!(forgotten, Vec::<String>::new());
    }
}
