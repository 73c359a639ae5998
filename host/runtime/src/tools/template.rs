//! A local tool's command: words, each a template over the call.

use jp_policy_config::Command;
use minijinja::{Environment, Output, State, Value, value::ValueKind};
use serde_json::Value as Json;

/// A command that can't be made from a call.
#[derive(Debug, thiserror::Error)]
pub(super) enum TemplateError {
    #[error("the command has unbalanced quotes: {0}")]
    Quotes(String),
    #[error("the command is empty")]
    Empty,
    #[error("the template {template:?} can't be filled in: {error:#}")]
    Fill { template: String, error: minijinja::Error },
    #[error("an argument has a NUL byte")]
    Nul,
}

/// The words of a command, filled in: the program first.
pub(super) fn fill(command: &Command, context: &Json) -> Result<Vec<String>, TemplateError> {
    let mut environment = Environment::new();
    environment.set_formatter(format);
    let context = Value::from(minijinja::value::Serde(context));
    let fill = |template: &String| {
        let filled = environment.render_str(template, context.clone());
        filled.map_err(|error| TemplateError::Fill { template: template.clone(), error })
    };
    let words = match command {
        Command::Line(line) => split(line)?.iter().map(fill).collect::<Result<Vec<_>, _>>()?,
        Command::Parts { program, args, shell } => {
            let program = fill(program)?;
            let args = args.iter().map(fill).collect::<Result<Vec<_>, _>>()?;
            if *shell {
                let quoted = shlex::try_join(args.iter().map(String::as_str))
                    .map_err(|_| TemplateError::Nul)?;
                vec![
                    "sh".to_owned(),
                    "-c".to_owned(),
                    format!("{program} {quoted}").trim_end().to_owned(),
                ]
            } else {
                std::iter::once(program).chain(args).collect()
            }
        }
    };
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err(TemplateError::Empty),
    }
}

/// Splits a line into words as a shell would, with `{{ ... }}` as one piece whatever stands in it.
fn split(line: &str) -> Result<Vec<String>, TemplateError> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start..].find("}}") else {
            break;
        };
        let end = start + length + 2;
        plain.push_str(&rest[..start]);
        // Private-use characters are no one's quotes or blanks; the number between them finds the piece again.
        plain.push_str(&format!("\u{f8fe}{}\u{f8ff}", pieces.len()));
        pieces.push(&rest[start..end]);
        rest = &rest[end..];
    }
    plain.push_str(rest);
    let words = shlex::split(&plain).ok_or_else(|| TemplateError::Quotes(line.to_owned()))?;
    let restore = |word: String| {
        let pieces = pieces.iter().enumerate();
        pieces.fold(word, |word, (n, piece)| word.replace(&format!("\u{f8fe}{n}\u{f8ff}"), piece))
    };
    Ok(words.into_iter().map(restore).collect())
}

/// Text, numbers and booleans as they are, nothing as `null`, all else as JSON, so that `{{tool}}` is a JSON text.
fn format(
    out: &mut Output<'_>,
    _: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    let written = match value.kind() {
        _ if value.is_safe() => write!(out, "{value}"),
        ValueKind::None | ValueKind::Undefined => write!(out, "null"),
        ValueKind::String | ValueKind::Bool | ValueKind::Number => write!(out, "{value}"),
        _ => match serde_json::to_string(value) {
            Ok(json) => out.write_str(&json),
            Err(error) => {
                let kind = minijinja::ErrorKind::BadSerialization;
                return Err(minijinja::Error::new(kind, "not a JSON value").with_source(error));
            }
        },
    };
    written.map_err(minijinja::Error::from)
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
