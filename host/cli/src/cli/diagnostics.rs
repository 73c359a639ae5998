//! Shows errors and warnings, with a picture of the place where there is one.

use std::{io, path::Path};

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use jp_policy_config::{ConfigError, Diagnostic, Place, Severity};
use jp_policy_core::text::{escape, plural};
use jp_policy_harness::{InputError, SimulateError, check::CheckError};

use super::say;

/// Prints an error and its causes to standard error.
pub(super) fn print_error(error: &anyhow::Error) {
    if let Some(ConfigError(problems)) = of_configuration(error) {
        print(problems);
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        say(&format!("jp-policy: the configuration has {}", plural(errors, "error")));
        return;
    }
    let mut message = format!("{error:#}");
    // What goes wrong with files says which; only writing the outcome comes here without a word.
    if error.downcast_ref::<io::Error>().is_some() && error.chain().count() == 1 {
        message = format!("failed to write to standard output: {message}");
    }
    say(&plain("error", &message));
}

/// What is wrong with a configuration, whoever has read it.
fn of_configuration(error: &anyhow::Error) -> Option<&ConfigError> {
    match (error.downcast_ref(), error.downcast_ref(), error.downcast_ref()) {
        (Some(InputError::Scenario(error)), _, _)
        | (_, Some(SimulateError::Config(error)), _)
        | (_, _, Some(CheckError::Config(error))) => Some(error),
        _ => error.downcast_ref(),
    }
}

/// Whether it is how `| head` says that it has seen enough.
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Prints diagnostics to standard error.
pub(super) fn print(problems: &[Diagnostic]) {
    for problem in problems {
        say(&format!("{}\n", render(problem)));
    }
}

/// Prints a warning to standard error.
pub(super) fn warn(message: &str) {
    say(&warning(message));
}

/// A warning, as it is shown.
pub(super) fn warning(message: &str) -> String {
    plain("warning", message)
}

fn plain(severity: &str, message: &str) -> String {
    let level = if severity == "error" { Level::ERROR } else { Level::WARNING };
    Renderer::styled().render(&[Group::with_title(level.primary_title(message))])
}

fn render(problem: &Diagnostic) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(problem.message.as_str()));
    for snippet in snippets(problem) {
        group = group.element(snippet);
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    Renderer::styled().render(&[group])
}

/// The places of a problem, those in one file together.
fn snippets(problem: &Diagnostic) -> Vec<Snippet<'_, Annotation<'_>>> {
    let mut files: Vec<Vec<(usize, &Place, &str)>> = Vec::new();
    for (n, (place, label)) in problem.labels.iter().enumerate() {
        match files.iter_mut().find(|marks| marks[0].1.source.is(&place.source)) {
            Some(marks) => marks.push((n, place, label)),
            None => files.push(vec![(n, place, label)]),
        }
    }
    files.iter().map(|marks| snippet(marks)).collect()
}

fn snippet<'a>(marks: &[(usize, &'a Place, &'a str)]) -> Snippet<'a, Annotation<'a>> {
    let source = &marks[0].1.source;
    // Only the lines that are pointed at: the renderer walks through all that it is given, and a configuration may be large.
    let text = source.text();
    let spans = || marks.iter().map(|(_, place, _)| &place.span);
    let lines = source.lines();
    let first = spans().map(|span| span.start).min().unwrap_or(0);
    let line = lines.partition_point(|begin| *begin <= first).saturating_sub(1);
    let begin = lines.get(line).copied().unwrap_or(0);
    let last = spans().map(|span| span.end).max().unwrap_or(0);
    let after = lines.partition_point(|begin| *begin < last);
    let end = lines.get(after).copied().unwrap_or(text.len()).max(begin);
    let snippet =
        Snippet::source(&text[begin..end]).line_start(line + 1).path(shown(source.path()));
    snippet.annotations(marks.iter().map(|(n, place, label)| {
        let kind = if *n == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let span = place.span.start - begin..place.span.end.min(end) - begin;
        kind.span(span).label(*label)
    }))
}

/// A path, fit for a terminal.
pub(super) fn shown(path: &Path) -> String {
    escape(&path.display().to_string())
}
