//! Shows errors and warnings, with a picture of the place where there is one.

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
    // A broken pipe is how `| head` says that it has seen enough.
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    };
    if !error.chain().any(broken) {
        say(&plain("error", &format!("{error:#}")));
    }
}

/// Prints diagnostics to standard error.
pub(super) fn print(problems: &[Diagnostic]) {
    for problem in problems {
        say(&format!("{}\n", render(problem)));
    }
}

/// Prints a warning to standard error.
pub(super) fn warn(message: &str) {
    say(&plain("warning", message));
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
