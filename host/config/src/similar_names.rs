//! Names of tools and keys that are told apart by less than a person sees, and keys that look misspelt.

use std::collections::{BTreeMap, HashMap};

use unicode_normalization::UnicodeNormalization as _;

use super::{diagnostic::Diagnostic, keys::Keys, source::Place, tool::Tool};

/// Warns of names that differ only in case or Unicode form, and of a key of one tool that is a slip away from another.
///
/// Keys and tools have one namespace, and names are compared byte for byte.
pub(super) fn check(
    tools: &BTreeMap<String, Tool>,
    keys: &Keys<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let mut names: BTreeMap<&str, Name<'_>> = BTreeMap::new();
    for tool in tools.values() {
        names.insert(&tool.name, Name { place: &tool.place, what: "tool" });
    }
    for (key, members) in keys {
        // A tool of that name has been put down already, and it is the same name.
        if let Some(place) = members.iter().find_map(|(_, member)| member.key_place.as_ref()) {
            names.entry(key).or_insert(Name { place, what: "key" });
        }
    }
    warn_of_alike(&names, problems);
    warn_of_misspelt(keys, problems);
}

struct Name<'a> {
    place: &'a Place,
    what: &'static str,
}

fn warn_of_alike(names: &BTreeMap<&str, Name<'_>>, problems: &mut Vec<Diagnostic>) {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names.keys() {
        groups.entry(folded(name)).or_default().push(name);
    }
    for group in groups.values().filter(|group| group.len() > 1) {
        let quoted: Vec<String> = group.iter().map(|name| quote(name)).collect();
        let lower = group[0].to_lowercase();
        let case = group.iter().all(|name| name.to_lowercase() == lower);
        let how = if case { "case" } else { "Unicode form" };
        let mut problem =
            Diagnostic::warning(format!("the names {} differ only in {how}", quoted.join(" and ")));
        for name in group {
            let Name { place, what } = &names[name];
            problem = problem.at(place, format!("{what} {}", quote(name)));
        }
        problems.push(problem.help("they are different names: nothing is shared between them"));
    }
}

/// What is the same for a person who reads it.
fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfkc().flat_map(char::to_lowercase).nfc().collect()
}

/// In quotes, with escapes where two names would look the same otherwise.
fn quote(name: &str) -> String {
    if name.nfc().eq(name.chars()) {
        format!("\"{}\"", name.escape_debug())
    } else {
        let escape = |c: char| {
            if c.is_ascii() { c.escape_debug().to_string() } else { c.escape_unicode().to_string() }
        };
        format!("\"{}\"", name.chars().map(escape).collect::<String>())
    }
}

/// Shorter names are a slip away from each other by chance.
const SHORTEST: usize = 4;

/// Longer names cost too much to compare, and nobody types them.
const LONGEST: usize = 100;

fn warn_of_misspelt(keys: &Keys<'_>, problems: &mut Vec<Diagnostic>) {
    let usual = |key: &&&str| (SHORTEST - 1..=LONGEST).contains(&key.chars().count());
    let alone = keys.values().any(|members| members.len() == 1 && members[0].1.key_place.is_some());
    if !alone {
        return;
    }
    // Names that are one slip apart share what is left of them without one character, or are that. Numbers stand for it: texts
    // would cost more than everything else that is checked.
    let mut near: HashMap<u64, Vec<&str>> = HashMap::new();
    for key in keys.keys().filter(usual) {
        for rest in shortened(key) {
            near.entry(rest).or_default().push(key);
        }
    }
    for (key, members) in keys {
        let [(tool, concurrency)] = members.as_slice() else {
            continue;
        };
        let Some(place) = concurrency.key_place.as_ref().filter(|_| usual(&key)) else {
            continue;
        };
        // The one that more tools name is meant; of two that one tool names each, the one that is an own name or comes first.
        let candidates = shortened(key).filter_map(|rest| near.get(&rest)).flatten();
        let weight = |other: &str| {
            let members = &keys[other];
            let own = members.iter().any(|(_, member)| member.key_place.is_none());
            (members.len(), own)
        };
        let meant = candidates
            .filter(|other| one_slip(key, other) && folded(key) != folded(other))
            .filter(|other| {
                weight(other) > weight(key) || (weight(other) == weight(key) && other < &key)
            })
            .max_by_key(|other| weight(other));
        let Some(meant) = meant else {
            continue;
        };
        let also: Vec<String> = keys[meant]
            .iter()
            .take(3)
            .map(|(tool, _)| format!("`{}`", tool.name.escape_debug()))
            .collect();
        problems.push(
            Diagnostic::warning(format!(
                "only tool `{}` names the key {}, which is nearly {}",
                tool.name.escape_debug(),
                quote(key),
                quote(meant)
            ))
            .at(place, "shares nothing")
            .at(&keys[meant][0].1.place, format!("{} of {}", quote(meant), also.join(", ")))
            .help(format!("did you mean {}?", quote(meant))),
        );
    }
}

/// Numbers for a name, and for it without each of its characters.
fn shortened(name: &str) -> impl Iterator<Item = u64> {
    // FNV-1a: two names that share a number by chance are compared, and found to be different.
    let number = |parts: [&str; 2]| {
        let bytes = parts.into_iter().flat_map(str::bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let without = move |(at, c): (usize, char)| number([&name[..at], &name[at + c.len_utf8()..]]);
    std::iter::once(number([name, ""])).chain(name.char_indices().map(without))
}

/// Whether a slip of the fingers makes one of the other: one letter more, less or other, or two swapped. Digits tell names apart
/// on purpose.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    let start = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[start..], &long[start..]);
    let end = short.iter().rev().zip(long.iter().rev()).take_while(|(a, b)| a == b).count();
    let letter = |c: &char| !c.is_numeric();
    match (&short[..short.len() - end], &long[..long.len() - end]) {
        ([], [more]) => letter(more) && a.len().min(b.len()) >= SHORTEST,
        ([one], [other]) => letter(one) && letter(other) && a.len() >= SHORTEST,
        ([a, b], [c, d]) => a == d && b == c && letter(a) && letter(b),
        _ => false,
    }
}

#[cfg(test)]
#[path = "similar_names_tests.rs"]
mod tests;
