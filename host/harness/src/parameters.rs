//! Settings for a policy that is tried out without a configuration: made-up keys and tools, with the further fields and options that
//! its author wants it to have.

use jp_policy_config::{
    ConfigError, Diagnostic, Source,
    node::{Table, Value},
    parse_toml,
    reader::wrong_kind,
};
use jp_policy_core::policy::Refusal;
use jp_policy_guest::{Field, Key, KeyIndex, Problem, Settings, Tool};

/// What a policy is given beyond keys and limits: further fields of every key, and options.
///
/// Both are TOML as it would stand in a configuration, and know where it was written, so that what is refused can be shown there.
///
/// ```
/// use jp_policy_harness::Parameters;
///
/// let parameters = Parameters::read("--fields", "delay = \"1s\"", "--options", "")?;
/// let settings = parameters.settings(&[1, 4]);
/// assert_eq!(settings.keys[1].limit, 4);
/// assert_eq!(settings.keys[1].fields[0].name, "delay");
/// # Ok::<(), jp_policy_config::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    fields: Table,
    options: Table,
}

impl Parameters {
    /// Reads both from TOML text: entries, one a line. `fields_from` and `options_from` are what messages call their places, a
    /// flag or a file. All that is wrong with either is in the error.
    pub fn read(
        fields_from: &str,
        fields: &str,
        options_from: &str,
        options: &str,
    ) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let fields = read_table(fields_from, "field", fields, &mut problems);
        for (name, entry) in
            fields.iter().filter(|(name, _)| matches!(name.as_str(), "key" | "limit"))
        {
            problems.push(
                Diagnostic::error(format!("`{fields_from}`: `{name}` is no further field"))
                    .at(&entry.name, "keys and limits are made up here"),
            );
        }
        let options = read_table(options_from, "option", options, &mut problems);
        if problems.is_empty() { Ok(Self { fields, options }) } else { Err(ConfigError(problems)) }
    }

    /// The further fields that every key has, sorted by name.
    pub fn fields(&self) -> Vec<Field> {
        to_guest(&self.fields)
    }

    /// The policy's options, sorted by name.
    pub fn options(&self) -> Vec<Field> {
        to_guest(&self.options)
    }

    /// The fields and the options as they were written.
    pub(super) fn tables(&self) -> (&Table, &Table) {
        (&self.fields, &self.options)
    }

    /// Settings with one key for each of these limits (each at least 1), named `key-1` and so on, every key with the further
    /// fields; one tool for each key in the same order, and one tool without a key after them.
    pub fn settings(&self, limits: &[u32]) -> Settings {
        let width = limits.len().to_string().len();
        let index = || (0..).zip(1..=limits.len());
        let tool = |(key, n): (KeyIndex, usize)| Tool {
            name: format!("tool-{n:0width$}"),
            key: Some(key),
        };
        let fields = self.fields();
        Settings {
            tools: index()
                .map(tool)
                .chain([Tool { name: "unbounded".to_owned(), key: None }])
                .collect(),
            keys: index()
                .zip(limits)
                .map(|((_, n), limit)| Key {
                    name: format!("key-{n:0width$}"),
                    limit: *limit,
                    fields: fields.clone(),
                })
                .collect(),
            options: self.options(),
        }
    }

    /// What `policy` refuses of these settings, each problem once, with its place where it has one.
    pub fn refused(&self, policy: &str, problems: &[Problem]) -> ConfigError {
        if problems.is_empty() {
            return ConfigError(vec![Diagnostic::error(format!(
                "policy \"{policy}\" refuses the settings and does not say why"
            ))]);
        }
        let mut shown: Vec<Diagnostic> = Vec::new();
        for Problem { key, field, message } in problems {
            let (table, what) = match key {
                Some(_) => (&self.fields, "field"),
                None => (&self.options, "option"),
            };
            let (what, place) = match (field, key) {
                (Some(name), _) => {
                    let place = table.get(name).map(|entry| &entry.name);
                    (format!("{what} `{}`", name.escape_debug()), place)
                }
                (None, Some(key)) => (format!("key {key}"), None),
                (None, None) => ("the settings".to_owned(), None),
            };
            let diagnostic =
                Diagnostic::error(format!("policy \"{policy}\" refuses {what}: {message}"));
            // Every key has the same fields, so every key has the same problem.
            if shown.iter().any(|known| known.message == diagnostic.message) {
                continue;
            }
            shown.push(match place {
                Some(place) => diagnostic.at(place, "refused"),
                None => diagnostic,
            });
        }
        ConfigError(shown)
    }

    /// The same for any refusal that is about the settings; the others are returned.
    pub fn refusal(&self, policy: &str, refusal: Refusal) -> Result<ConfigError, Refusal> {
        match refusal {
            Refusal::Settings(problems) => Ok(self.refused(policy, &problems)),
            other => Err(other),
        }
    }
}

fn read_table(from: &str, what: &str, text: &str, problems: &mut Vec<Diagnostic>) -> Table {
    let known = problems.len();
    let document = parse_toml(&Source::new(from, text), problems);
    // What could not be parsed is not worth a second message.
    if problems.len() > known {
        if text.trim_start().starts_with('{')
            && let Some(problem) = problems.pop()
        {
            problems.truncate(known);
            problems.push(problem.help("leave the braces out: one entry a line, like `name = 1`"));
        }
        return Table::default();
    }
    let Value::Table(mut table) = document.value else {
        return Table::default();
    };
    table.sort_keys();
    for (name, entry) in &table {
        if entry.node.value.to_guest().is_none() {
            problems.push(wrong_kind(
                &format!("`{from}`: {what} `{}`", name.escape_debug()),
                "a number of 64 bits",
                &entry.node.value,
                &entry.node.place,
            ));
        }
    }
    table
}

fn to_guest(table: &Table) -> Vec<Field> {
    let field = |(name, entry): (&String, &jp_policy_config::node::Entry)| {
        Some(Field { name: name.clone(), value: entry.node.value.to_guest()? })
    };
    table.iter().filter_map(field).collect()
}

#[cfg(test)]
#[path = "parameters_tests.rs"]
mod tests;
