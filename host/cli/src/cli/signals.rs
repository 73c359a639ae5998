//! What Ctrl-C and its like do to a running batch: a menu first where a person is there, then stop, then kill.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use inquire::{InquireError, Select, Text};
use jp_policy_runtime::coordinator::Handle;

use super::screen::Screen;

/// What the person at the terminal wants after a Ctrl-C.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    Continue,
    /// With what the calls that are cut short answer, if not their own words.
    Stop(Option<String>),
    Restart,
}

const CONTINUE: &str = "continue";
const ANSWER: &str = "stop, and answer with a message";
const RESTART: &str = "restart what has no response";
const STOP: &str = "stop";

/// Turns signals into what happens to the batch.
pub(super) struct Signals {
    screen: Screen,
    /// Whether a person can be asked.
    person: bool,
    handle: OnceLock<Handle>,
    /// The menu is open, or about to be.
    asking: AtomicBool,
    stopped: AtomicBool,
}

impl Signals {
    pub(super) fn new(screen: Screen, person: bool) -> Arc<Self> {
        let (asking, stopped) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self { screen, person, handle: OnceLock::new(), asking, stopped })
    }

    /// Whether the batch was stopped.
    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Listens for as long as it is polled.
    pub(super) async fn listen(self: Arc<Self>, handle: Handle) {
        // It is listened to one batch only.
        let _ = self.handle.set(handle);
        let mut endings = Endings::new();
        loop {
            match endings.next().await {
                Ending::Interrupt => self.interrupted(),
                Ending::Elsewhere => self.stop(None),
            }
        }
    }

    /// Ctrl-C. While a prompt has the terminal it is a key, and comes in by [`pressed`](Self::pressed): what comes here then was
    /// sent by somebody else, who can't answer a menu.
    fn interrupted(self: &Arc<Self>) {
        let asks = self.person && !self.stopped() && !self.screen.is_taken();
        if !asks || self.asking.swap(true, Ordering::SeqCst) {
            return self.stop(None);
        }
        let signals = self.clone();
        tokio::task::spawn_blocking(move || {
            signals.screen.suspended(|| {
                if !signals.stopped() {
                    signals.pressed();
                }
            });
            signals.asking.store(false, Ordering::SeqCst);
        });
    }

    /// Somebody who has the screen has read Ctrl-C from the keyboard: shows the menu and does what is chosen.
    pub(super) fn pressed(&self) {
        if self.stopped() {
            return self.stop(None);
        }
        match menu() {
            Choice::Continue => {}
            Choice::Stop(message) => self.stop(message),
            Choice::Restart => {
                self.screen.line("restarting what has no response");
                if let Some(handle) = self.handle.get() {
                    handle.restart();
                }
            }
        }
    }

    /// Stops, or kills what was told to stop before.
    fn stop(&self, message: Option<String>) {
        let Some(handle) = self.handle.get() else {
            return;
        };
        if self.stopped.swap(true, Ordering::SeqCst) {
            handle.kill();
        } else {
            self.screen.line("stopping; once more to kill");
            match message {
                Some(message) => handle.cancel_with(message),
                None => handle.cancel(),
            }
        }
    }
}

/// Asks. Another Ctrl-C stops; escape goes on.
fn menu() -> Choice {
    loop {
        let chosen = Select::new("Interrupted:", vec![CONTINUE, ANSWER, RESTART, STOP])
            .without_filtering()
            .with_help_message("↑↓ to move, enter to select, ctrl-c to stop")
            .prompt();
        match chosen {
            Ok(ANSWER) => match Text::new("What the calls that are cut short answer:").prompt() {
                Ok(message) if message.trim().is_empty() => return Choice::Stop(None),
                Ok(message) => return Choice::Stop(Some(message)),
                Err(InquireError::OperationCanceled) => {}
                Err(_) => return Choice::Stop(None),
            },
            Ok(RESTART) => return Choice::Restart,
            Ok(CONTINUE) | Err(InquireError::OperationCanceled) => return Choice::Continue,
            Ok(_) | Err(_) => return Choice::Stop(None),
        }
    }
}

/// A signal that ends programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Ctrl-C.
    Interrupt,
    /// Another one: nobody at the terminal sends it.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is Ctrl-C only"))]
    Elsewhere,
}

/// The signals that end programs, from the moment it is made; none come where they can't be listened for.
pub(super) struct Endings {
    #[cfg(unix)]
    signals: Option<[tokio::signal::unix::Signal; 3]>,
}

impl Endings {
    #[cfg(unix)]
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [Ok(interrupt), Ok(terminate), Ok(hangup)] = kinds.map(signal) else {
            return Self { signals: None };
        };
        Self { signals: Some([interrupt, terminate, hangup]) }
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Ending {
        let Some([interrupt, terminate, hangup]) = &mut self.signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => Ending::Interrupt,
            _ = terminate.recv() => Ending::Elsewhere,
            _ = hangup.recv() => Ending::Elsewhere,
        }
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> Self {
        Self {}
    }

    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Ending {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Ending::Interrupt
    }
}
