//! Standard error as a screen: what moves on it, and whose turn it is.

use std::{
    io::IsTerminal as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anstyle::Style;
use indicatif::{MultiProgress, ProgressDrawTarget};

use super::say;

/// Where the live view is drawn and prompts are shown. Cheap to clone.
///
/// While a prompt has the screen, nothing else is drawn: lines are kept back and printed afterwards. Nobody waits for that, so
/// the batch goes on behind an open prompt.
#[derive(Clone)]
pub(super) struct Screen {
    multi: Option<MultiProgress>,
    styled: bool,
    quiet: bool,
    /// Held for as long as a prompt is open.
    turn: Arc<Mutex<()>>,
    /// The lines to print afterwards, while a prompt is open.
    held: Arc<Mutex<Option<Vec<String>>>>,
}

impl Screen {
    /// Standard error as it is: a terminal or not, coloured or not.
    pub(super) fn stderr(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal()
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let multi = (terminal && !quiet)
            .then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(20)));
        let styled =
            anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
        Self { multi, styled, quiet, turn: Arc::default(), held: Arc::default() }
    }

    /// Whether ANSI styles are wanted.
    pub(super) fn styled(&self) -> bool {
        self.styled
    }

    /// Whether only what must be said is.
    pub(super) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether a part of it moves.
    pub(super) fn moves(&self) -> bool {
        self.multi.is_some()
    }

    /// Whether somebody has the terminal.
    pub(super) fn is_taken(&self) -> bool {
        lock(&self.held).is_some()
    }

    /// Waits for its turn, makes room, does something with the terminal, and draws again. Not from the batch's event loop: it
    /// would wait for a person.
    pub(super) fn suspended<T>(&self, f: impl FnOnce() -> T) -> T {
        let _turn = lock(&self.turn);
        {
            let mut held = lock(&self.held);
            *held = Some(Vec::new());
            if let Some(multi) = &self.multi {
                // A terminal that is gone shows nothing; the calls go on.
                let _ = multi.clear();
            }
        }
        let _release = Release(self);
        f()
    }

    /// Prints a line above what moves, or after the prompt that is open.
    pub(super) fn line(&self, line: &str) {
        match &mut *lock(&self.held) {
            Some(lines) => lines.push(line.to_owned()),
            None => self.print(line),
        }
    }

    /// Draws what moves, unless a prompt is open.
    pub(super) fn draw(&self, draw: impl FnOnce(&MultiProgress)) {
        let held = lock(&self.held);
        if let (Some(multi), None) = (&self.multi, &*held) {
            draw(multi);
        }
    }

    fn print(&self, line: &str) {
        match &self.multi {
            Some(multi) => drop(multi.println(line)),
            None => say(line),
        }
    }

    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        if self.styled { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// Gives the screen back, whatever happened to the prompt.
struct Release<'a>(&'a Screen);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        let mut held = lock(&self.0.held);
        for line in held.take().into_iter().flatten() {
            self.0.print(&line);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
