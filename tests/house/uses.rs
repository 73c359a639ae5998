//! The paths that a file of Rust names, read from its text.

/// The paths of `use` items, each whole, and whether it is re-exported; and the paths from `crate` and `super` in the rest.
pub(super) fn paths(text: &str) -> Vec<(Vec<String>, bool)> {
    let text = without_comments_and_tests(text);
    let mut paths = Vec::new();
    for (start, _) in text.match_indices("use ") {
        let line = text[..start].rsplit('\n').next().unwrap_or_default();
        let is_item = matches!(line.trim(), "" | "pub" | "pub(crate)" | "pub(super)")
            || line.trim().starts_with("pub(in");
        let Some(end) = text[start..].find(';').filter(|_| is_item) else {
            continue;
        };
        let exported = line.trim().starts_with("pub");
        let mut leaves = Vec::new();
        flatten(&[], &text[start + 4..start + end], &mut leaves);
        paths.extend(leaves.into_iter().map(|path| (path, exported)));
    }
    for anchor in ["crate::", "super::"] {
        for (start, _) in text.match_indices(anchor) {
            let before = text[..start].chars().next_back();
            if before.is_some_and(|char| char.is_alphanumeric() || matches!(char, '_' | ':')) {
                continue;
            }
            let named = |char: char| !(char.is_alphanumeric() || matches!(char, '_' | ':'));
            let path = text[start..].split(named).next().unwrap_or_default();
            // A list follows, or nothing: that was a `use`, and is read above.
            if path.ends_with("::") {
                continue;
            }
            let path = path.split("::").filter(|part| !part.is_empty()).map(str::to_owned);
            paths.push((path.collect(), false));
        }
    }
    paths
}

/// `a::{b, c::{d, e as f}}` as `a::b`, `a::c::d`, `a::c::e`.
fn flatten(prefix: &[String], tree: &str, leaves: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let segments = |text: &str| -> Vec<String> {
        let parts = text.split("::").map(str::trim).filter(|part| !part.is_empty());
        prefix.iter().cloned().chain(parts.map(str::to_owned)).collect()
    };
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        if !path.is_empty() {
            leaves.push(segments(path));
        }
        return;
    };
    let head = segments(head);
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut from) = (0, 0);
    for (place, char) in inner.char_indices().chain([(inner.len(), ',')]) {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                flatten(&head, &inner[from..place], leaves);
                from = place + 1;
            }
            _ => {}
        }
    }
}

fn without_comments_and_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}
