//! The files of a crate, and which of them use each other.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::uses::paths;

/// A module by its path from the crate's root, which is empty.
type Module = Vec<String>;

/// What a file has.
#[derive(Default)]
struct File {
    text: String,
    /// The names of its items.
    items: BTreeSet<String>,
    /// What it re-exports, by name.
    exports: BTreeMap<String, Vec<String>>,
}

/// The circles among the files below a crate's `src`, each as one way around it. Tests are left out.
pub(crate) fn circles(src: &Path) -> Vec<String> {
    let mut files = BTreeMap::new();
    collect(src, &Vec::new(), &mut files);
    for file in files.values_mut() {
        file.items = items(&file.text);
        for (path, exported) in paths(&file.text) {
            if exported && let Some(name) = path.last() {
                file.exports.insert(name.clone(), path);
            }
        }
    }
    let edges = edges(&files);
    let mut found: Vec<Vec<&Module>> = Vec::new();
    for start in files.keys() {
        if found.iter().any(|circle| circle.contains(&start)) {
            continue;
        }
        found.extend(way_back(start, &edges));
    }
    let name = |module: &&Module| match module.as_slice() {
        [] => "lib".to_owned(),
        parts => parts.join("::"),
    };
    let shown = found.iter().map(|circle| circle.iter().map(name).collect::<Vec<_>>().join(" -> "));
    shown.collect()
}

fn collect(folder: &Path, module: &Module, files: &mut BTreeMap<Module, File>) {
    for entry in fs::read_dir(folder).expect("it can be read").flatten() {
        let path = entry.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let child = || module.iter().cloned().chain([name.clone()]).collect::<Module>();
        if path.is_dir() {
            if name != "tests" && !path.is_symlink() {
                collect(&path, &child(), files);
            }
        } else if path.extension().is_some_and(|it| it == "rs") && !name.ends_with("_tests") {
            let module = match name.as_str() {
                "mod" | "lib" | "main" => module.clone(),
                _ => child(),
            };
            let text = fs::read_to_string(&path).expect("it can be read");
            files.entry(module).or_default().text += &text;
        }
    }
}

/// The names of what a file declares at its top.
fn items(text: &str) -> BTreeSet<String> {
    const KINDS: [&str; 9] =
        ["struct", "enum", "fn", "trait", "type", "const", "static", "union", "macro_rules!"];
    let names =
        text.lines().filter(|line| !line.starts_with([' ', '\t', '/'])).filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let kind = words.iter().rposition(|word| KINDS.contains(word))?;
            let name = words.get(kind + 1)?;
            Some(name.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect())
        });
    names.collect()
}

fn edges(files: &BTreeMap<Module, File>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let mut edges: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (module, file) in files {
        for (path, exported) in paths(&file.text) {
            let to = resolve(files, module, &path, 0).filter(|_| !exported);
            if let Some((to, _)) = to.and_then(|to| files.get_key_value(&to))
                && to != module
            {
                edges.entry(module).or_default().insert(to);
            }
        }
    }
    edges
}

/// The file that a path leads to, as seen from a module; none: out of the crate.
fn resolve(
    files: &BTreeMap<Module, File>,
    from: &Module,
    path: &[String],
    depth: usize,
) -> Option<Module> {
    let mut module = from.clone();
    let mut path = path.iter().peekable();
    match path.peek().map(|first| first.as_str()) {
        Some("crate") => {
            module.clear();
            path.next();
        }
        Some("self") => {
            path.next();
        }
        Some("super") => {}
        Some(first) => {
            let mut child = module.clone();
            child.push(first.to_owned());
            files.contains_key(&child).then_some(())?;
        }
        None => return None,
    }
    while path.next_if(|part| *part == "super").is_some() {
        module.pop();
    }
    while let Some(part) = path.next() {
        let mut child = module.clone();
        child.push(part.clone());
        if files.contains_key(&child) {
            module = child;
            continue;
        }
        let file = files.get(&module)?;
        if !file.items.contains(part)
            && let Some(exported) = file.exports.get(part).filter(|_| depth < 8)
        {
            let rest: Vec<String> = exported.iter().chain(path).cloned().collect();
            return resolve(files, &module, &rest, depth + 1).or(Some(module));
        }
        break;
    }
    Some(module)
}

/// The shortest way from a module back to itself.
fn way_back<'a>(
    start: &'a Module,
    edges: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
) -> Option<Vec<&'a Module>> {
    let mut ways = vec![vec![start]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in edges.get(way[way.len() - 1]).into_iter().flatten() {
                let way: Vec<&Module> = way.iter().copied().chain([*next]).collect();
                if *next == start {
                    return Some(way);
                }
                if seen.insert(*next) {
                    longer.push(way);
                }
            }
        }
        ways = longer;
    }
    None
}
