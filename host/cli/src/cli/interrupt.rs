//! Ctrl-C for verbs that only compute: the first press asks them to come to an end, the second ends the program at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use super::limits::enough_open_files;

/// What the program ends with then: 128 and the number of SIGINT, as a shell has it.
pub(super) const INTERRUPTED: i32 = 130;

/// Listens from now on. The flag is set once Ctrl-C was pressed, and `tell` is called then, to say that it was heard; `leave` is
/// called before the second press ends the program, to remove what nobody else will. Where signals can't be listened for the flag
/// is never set, and Ctrl-C does what it does to any program.
pub(super) fn listen(
    tell: impl Fn() + Send + 'static,
    leave: impl Fn() + Send + 'static,
) -> Arc<AtomicBool> {
    let pressed = Arc::new(AtomicBool::new(false));
    if enough_open_files().is_err() {
        return pressed;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        return pressed;
    };
    let Ok(mut signal) = runtime.block_on(async { Presses::new() }) else {
        return pressed;
    };
    let listener = {
        let pressed = pressed.clone();
        move || {
            runtime.block_on(async {
                while signal.next().await {
                    if pressed.swap(true, Ordering::SeqCst) {
                        leave();
                        std::process::exit(INTERRUPTED);
                    }
                    tell();
                }
            });
        }
    };
    // The program ends without it.
    let _ = thread::Builder::new().name("interrupt".to_owned()).spawn(listener);
    pressed
}

/// Presses of Ctrl-C, from the moment it is made.
#[cfg(unix)]
struct Presses(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Presses {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        signal(SignalKind::interrupt()).map(Self)
    }

    async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

#[cfg(windows)]
struct Presses(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Presses {
    fn new() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}
