//! Shows errors and warnings, with a picture of the place where there is one.

use std::io;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::say;
use crate::config::{ConfigError, Diagnostic, Severity};

/// Prints an error and its causes to standard error.
pub(super) fn print_error(error: &anyhow::Error) {
    if let Some(ConfigError(problems)) = error.downcast_ref() {
        print(problems);
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        let plural = if errors == 1 { "" } else { "s" };
        say(&format!("jp-policy: the configuration has {errors} error{plural}"));
        return;
    }
    let mut message = format!("{error:#}");
    // What goes wrong with files says which; only writing the outcome comes here without a word.
    if error.downcast_ref::<io::Error>().is_some() && error.chain().count() == 1 {
        message = format!("failed to write to standard output: {message}");
    }
    say(&plain("error", &message));
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
    for (place, label) in snippets(problem) {
        let path = place.source.path().display().to_string();
        let mut snippet = Snippet::source(place.source.text()).path(path);
        for (kind, span, text) in label {
            snippet = snippet.annotation(kind.span(span).label(text));
        }
        group = group.element(snippet);
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    Renderer::styled().render(&[group])
}

type Mark<'a> = (AnnotationKind, std::ops::Range<usize>, &'a str);

/// The places of a problem, those in one file together.
fn snippets(problem: &Diagnostic) -> Vec<(&crate::config::Place, Vec<Mark<'_>>)> {
    let mut files: Vec<(&crate::config::Place, Vec<Mark<'_>>)> = Vec::new();
    for (n, (place, label)) in problem.labels.iter().enumerate() {
        let kind = if n == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let mark = (kind, place.span.clone(), label.as_str());
        match files.iter_mut().find(|(known, _)| known.source.path() == place.source.path()) {
            Some((_, marks)) => marks.push(mark),
            None => files.push((place, vec![mark])),
        }
    }
    files
}
