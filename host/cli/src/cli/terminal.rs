//! The terminal's own settings: as a moving view needs them, and as they were.

use super::screen::Screen;

/// The terminal while something moves on it. Dropped, it is as it was.
#[cfg(unix)]
pub(super) struct Terminal {
    before: Option<rustix::termios::Termios>,
    screen: Screen,
}

#[cfg(unix)]
impl Terminal {
    /// Stops the terminal from showing what is typed: the `^C` of a Ctrl-C at the end of the view's last row would move all of
    /// it by a line.
    pub(super) fn prepared(screen: &Screen) -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

        let before = tcgetattr(std::io::stdin()).ok().filter(|_| screen.moves());
        if let Some(mut modes) = before.clone() {
            modes.local_modes.remove(LocalModes::ECHO);
            // A view that is off by a line is no reason not to run.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &modes);
        }
        Self { before, screen: screen.clone() }
    }
}

#[cfg(unix)]
impl Drop for Terminal {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};

        if let Some(before) = &self.before {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
            if self.screen.is_taken() {
                // A prompt that nobody waits for any more has left the cursor hidden, in the middle of a line.
                super::say("\u{1b}[?25h");
            }
        }
    }
}

#[cfg(not(unix))]
pub(super) struct Terminal;

#[cfg(not(unix))]
impl Terminal {
    pub(super) fn prepared(_: &Screen) -> Self {
        Self
    }
}
