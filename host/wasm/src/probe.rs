//! Which further fields and options a policy takes, found by asking it: nothing in the contract lists them, but a policy refuses by
//! name what it does not know.
//!
//! First it is given a name that it can't know. Then names that it may know are tried: those in the words of its refusal, some
//! that are common, and whatever in the component's data could be one. A name is only reported when the policy itself took it, or
//! said something else of it than of the name that it can't know.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use jp_policy_core::policy::{FaultKind, Refusal};
use jp_policy_guest::{Field, Problem, Settings, Value};

use super::metadata::data_segments;

/// A name that no policy takes: nothing to be found in any of them.
const UNKNOWN: &str = "zzq-jp-policy-inspect";

/// Names that come to mind for what policies do.
const COMMON: &[&str] = &[
    "allow",
    "at",
    "backoff",
    "burst",
    "cap",
    "cooldown",
    "cost",
    "debug",
    "delay",
    "deny",
    "every",
    "exclusive",
    "from",
    "gap",
    "group",
    "interval",
    "jitter",
    "lock",
    "locks",
    "max",
    "min",
    "mode",
    "order",
    "overall",
    "path",
    "paths",
    "pause",
    "per",
    "period",
    "priority",
    "quota",
    "rate",
    "shared",
    "slots",
    "timeout",
    "total",
    "weight",
    "window",
];

/// Names given at once: fewer than the problems that are kept of a refusal, so that each can be refused.
const AT_ONCE: usize = 90;

/// Longest name that is looked for in the data.
const LONGEST: usize = 24;

/// Data beyond this is that of a scripting guest: its words are whole there, and trying all their parts would take minutes.
const NATIVE_DATA: usize = 256 << 10;

/// Names that are tried at most: all parts of the words of a native guest.
const NAMES: usize = 200_000;

/// Names of a policy that says one problem at a time, so that each costs a question.
const ONE_BY_ONE: usize = 5_000;

/// Names that are reported.
const REPORTED: usize = 32;

/// Which names a policy takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepts {
    /// What it says of a name that it can't know.
    pub unknown: Unknown,
    /// The names it takes, in the order they were found.
    pub names: Vec<Accepted>,
    /// How many names were tried.
    pub tried: usize,
    /// How many were left, for lack of time.
    pub left: usize,
}

/// What a policy says of a name that it can't know.
#[derive(Debug, Clone, PartialEq)]
pub enum Unknown {
    /// It takes it: so it takes any name, or looks at none.
    Taken,
    /// It refuses it by name, as the contract wants, in these words.
    Refused(String),
    /// It refuses the settings and does not say which name is wrong.
    Unnamed(String),
    /// It refuses the settings without any further name too, in these words, so that nothing can be told.
    Always(String),
    /// It fails.
    Fault(FaultKind),
}

/// A name that a policy takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The name.
    pub name: String,
    /// Which kinds of values it took, of those that were tried: `flag`, `integer`, `number`, `text`, `json`; a text in quotes
    /// where the policy's own words led to it. None of them: it knows the name, and took nothing that was tried.
    pub values: Vec<String>,
    /// What it says of a value that it does not take.
    pub says: Option<String>,
}

/// Where a name may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// In the `concurrency` table of a key.
    Field,
    /// In the plugin's `options`.
    Option,
}

/// Configures a fresh instance of the policy.
pub(super) type Configure<'a> = dyn Fn(&Settings) -> Result<(), Refusal> + 'a;

/// Finds out. `settings` have one key and are what the policy is asked with besides; `bytes` are the component's; `time` is how
/// long names are tried, and values for those it knows, each.
pub(super) fn probe(
    configure: &Configure<'_>,
    settings: &Settings,
    place: Where,
    bytes: &[u8],
    time: Duration,
) -> Accepts {
    let mut prober =
        Prober { configure, settings, place, until: Instant::now() + time, known: Vec::new() };
    let mut accepts = Accepts { unknown: Unknown::Taken, names: Vec::new(), tried: 0, left: 0 };
    let (template, together) = match prober.unknown() {
        (Unknown::Refused(words), together) => {
            accepts.unknown = Unknown::Refused(words.replace(UNKNOWN, "..."));
            (words, together)
        }
        (Unknown::Unnamed(words), _) => {
            accepts.unknown = Unknown::Unnamed(words);
            // Each name alone can still be told apart by whether it is taken.
            (String::new(), false)
        }
        (other, _) => {
            accepts.unknown = other;
            return accepts;
        }
    };
    let to_try = candidates(&template.replace(UNKNOWN, " "), bytes);
    prober.until = Instant::now() + time;
    let (at_once, most) = if together { (AT_ONCE, NAMES) } else { (1, ONE_BY_ONE) };
    let mut found = Vec::new();
    let mut rest = &to_try[..to_try.len().min(most)];
    // The likeliest names are tried however slow it is.
    while !rest.is_empty() && found.len() < REPORTED && (accepts.tried == 0 || !prober.is_late()) {
        let (now, later) = rest.split_at(rest.len().min(at_once));
        match prober.try_names(now, &template) {
            Some(known) => found.extend(known),
            // Together they are too much for it: each alone.
            None => {
                for name in now {
                    if prober.is_late() {
                        break;
                    }
                    found.extend(
                        prober.try_names(std::slice::from_ref(name), &template).unwrap_or_default(),
                    );
                }
            }
        }
        accepts.tried += now.len();
        rest = later;
    }
    accepts.left = to_try.len() - accepts.tried;
    found.truncate(REPORTED);
    prober.until = Instant::now() + time;
    accepts.names = prober.values(found, &template);
    accepts
}

/// A name that seems to be known, and what was said of it where it was refused.
#[derive(Debug, Clone)]
struct Found {
    name: String,
    says: Option<String>,
}

struct Prober<'a> {
    configure: &'a Configure<'a>,
    settings: &'a Settings,
    place: Where,
    until: Instant,
    /// Names and values that are known to be taken, so that what needs them is taken too.
    known: Vec<Field>,
}

impl Prober<'_> {
    fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Configures a fresh instance with these names besides.
    fn ask(&self, fields: &[Field]) -> Result<(), Refusal> {
        let mut settings = self.settings.clone();
        let all = match self.place {
            Where::Field => settings.keys.first_mut().map(|key| &mut key.fields),
            Where::Option => Some(&mut settings.options),
        };
        if let Some(all) = all {
            // A name stands in a table once.
            all.retain(|field| !fields.iter().any(|new| new.name == field.name));
            let known = self.known.iter();
            let known = known.filter(|field| !fields.iter().any(|new| new.name == field.name));
            all.extend(known.chain(fields).cloned());
            all.sort_by(|a, b| a.name.cmp(&b.name));
        }
        (self.configure)(&settings)
    }

    fn is_about(&self, problem: &Problem, name: &str) -> bool {
        let here = match self.place {
            Where::Field => problem.key.is_some(),
            Where::Option => problem.key.is_none(),
        };
        here && problem.field.as_deref() == Some(name)
    }

    /// What it says of a name that it can't know, and whether it says all its problems at once.
    fn unknown(&self) -> (Unknown, bool) {
        let flag = |name: &str| Field { name: name.to_owned(), value: Value::Flag(true) };
        let problems = match self.ask(&[flag(UNKNOWN)]) {
            Ok(()) => return (Unknown::Taken, false),
            Err(Refusal::Fault(fault)) => return (Unknown::Fault(fault), false),
            Err(Refusal::Unloadable(words)) => return (Unknown::Always(words), false),
            Err(Refusal::Settings(problems)) => problems,
        };
        let Some(problem) = problems.iter().find(|problem| self.is_about(problem, UNKNOWN)) else {
            let words = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
            let always = self.ask(&[]).is_err();
            let unknown = if always { Unknown::Always(words) } else { Unknown::Unnamed(words) };
            return (unknown, false);
        };
        let other = format!("{UNKNOWN}-2");
        let together = match self.ask(&[flag(UNKNOWN), flag(&other)]) {
            Err(Refusal::Settings(problems)) => [UNKNOWN, &other]
                .iter()
                .all(|name| problems.iter().any(|problem| self.is_about(problem, name))),
            _ => false,
        };
        (Unknown::Refused(problem.message.clone()), together)
    }

    /// Those of these names that it knows; none if nothing can be told of so many together.
    fn try_names(&self, names: &[String], template: &str) -> Option<Vec<Found>> {
        let alone = names.len() == 1;
        let mut fields: Vec<Field> = names
            .iter()
            .map(|name| Field { name: name.clone(), value: Value::Flag(true) })
            .collect();
        if !alone {
            // It has to be refused; else what is not refused may have been overlooked.
            fields.push(Field { name: UNKNOWN.to_owned(), value: Value::Flag(true) });
        }
        let problems = match self.ask(&fields) {
            Ok(()) if alone => Vec::new(),
            Err(Refusal::Settings(problems)) => problems,
            _ => return None,
        };
        if !alone && !problems.iter().any(|problem| self.is_about(problem, UNKNOWN)) {
            return None;
        }
        // Refused and not named: it may be about this name, or about anything.
        let silent = alone && !problems.is_empty();
        let find =
            |name: &String| match problems.iter().find(|problem| self.is_about(problem, name)) {
                None if silent => None,
                None => Some(Found { name: name.clone(), says: None }),
                Some(problem) => (problem.message != template.replace(UNKNOWN, name))
                    .then(|| Found { name: name.clone(), says: Some(problem.message.clone()) }),
            };
        Some(names.iter().filter_map(find).collect())
    }

    /// Tries values for the names that were found; the ones that other names need are tried before them.
    fn values(&mut self, found: Vec<Found>, template: &str) -> Vec<Accepted> {
        let mut accepted: Vec<Accepted> = found
            .into_iter()
            .map(|Found { name, says }| Accepted { name, values: Vec::new(), says })
            .collect();
        // Twice: the second time with all that was taken the first time beside it.
        for _ in 0..2 {
            for accepted in &mut accepted {
                self.values_of(accepted);
            }
        }
        // It may say something else of a name because it has a hint for what it takes as a typo: it begins as ever then.
        let start =
            |words: &str| words.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>();
        let hint = |accepted: &Accepted| {
            let says = accepted.says.as_deref().unwrap_or_default();
            accepted.values.is_empty()
                && start(&says.replace(&accepted.name, UNKNOWN)) == start(template)
        };
        accepted.retain(|accepted| !hint(accepted));
        accepted
    }

    fn values_of(&mut self, accepted: &mut Accepted) {
        let mut values = vec![
            ("text".to_owned(), Value::Text("1s".to_owned())),
            ("integer".to_owned(), Value::Integer(1)),
            ("number".to_owned(), Value::Number(1.5)),
            ("flag".to_owned(), Value::Flag(true)),
            ("json".to_owned(), Value::Json("{}".to_owned())),
        ];
        let mut quoted = HashSet::new();
        let mut next = 0;
        while let Some((kind, value)) = values.get(next).cloned() {
            next += 1;
            if self.is_late() {
                return;
            }
            if accepted.values.contains(&kind) {
                continue;
            }
            let field = Field { name: accepted.name.clone(), value };
            let problems = match self.ask(std::slice::from_ref(&field)) {
                Ok(()) => Vec::new(),
                Err(Refusal::Settings(problems)) => problems,
                Err(_) => continue,
            };
            match problems.into_iter().find(|problem| self.is_about(problem, &accepted.name)) {
                None => {
                    if !self.known.iter().any(|known| known.name == field.name) {
                        self.known.push(field);
                    }
                    accepted.values.push(kind);
                }
                Some(problem) => {
                    // Where it says what it expects, that is what it takes.
                    for word in quotes(&problem.message) {
                        if quoted.len() < AT_ONCE && quoted.insert(word.to_owned()) {
                            values.push((format!("{word:?}"), Value::Text(word.to_owned())));
                        }
                    }
                    accepted.says = Some(problem.message);
                }
            }
        }
        if accepted.values.iter().any(|kind| kind == "text") {
            accepted.values.retain(|kind| !kind.starts_with('"'));
        }
    }
}

/// What stands between quotes in a message.
fn quotes(message: &str) -> impl Iterator<Item = &str> {
    ['"', '\'', '`']
        .into_iter()
        .flat_map(|quote| message.split(quote).skip(1).step_by(2))
        .filter(|word| !word.is_empty() && word.len() <= LONGEST)
}

/// Names to try, the likeliest first, each once.
fn candidates(message: &str, bytes: &[u8]) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    let mut add = |name: &str| {
        if names.len() < NAMES && is_name(name) && seen.insert(name.to_owned()) {
            names.push(name.to_owned());
        }
    };
    words(message.as_bytes()).for_each(&mut add);
    COMMON.iter().copied().for_each(&mut add);
    for data in data_segments(bytes) {
        words(data).for_each(&mut add);
    }
    let size: usize = data_segments(bytes).map(<[u8]>::len).sum();
    if size <= NATIVE_DATA {
        // A compiler puts texts one after the other, with nothing between them.
        for word in data_segments(bytes).flat_map(words_of_any_length) {
            for start in 0..word.len() {
                for end in start + 3..=word.len().min(start + LONGEST) {
                    add(&word[start..end]);
                }
            }
        }
    }
    names
}

fn is_name(name: &str) -> bool {
    name.len() <= LONGEST && name.starts_with(|first: char| first.is_ascii_lowercase())
}

fn words(text: &[u8]) -> impl Iterator<Item = &str> {
    words_of_any_length(text).filter(|word| word.len() <= LONGEST)
}

fn words_of_any_length(text: &[u8]) -> impl Iterator<Item = &str> {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.split(move |byte| !in_name(byte)).filter_map(|word| str::from_utf8(word).ok())
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
