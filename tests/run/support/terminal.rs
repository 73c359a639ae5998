//! The program on a terminal of its own.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    num::NonZero,
    os::fd::AsFd as _,
    path::PathBuf,
    process::Child,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use pty_process::blocking::{Command, Pty, open};
use rustix::{
    process::{Pid, Signal, kill_process},
    termios::{LocalModes, tcgetattr},
};

use super::{Ended, catches, plain, until, until_told};

pub(crate) const ENTER: &str = "\r";
pub(crate) const ESCAPE: &str = "\u{1b}";
pub(crate) const DOWN: &str = "\u{1b}[B";
pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const BACKSPACE: &str = "\u{7f}";

/// `jp-policy` on a terminal: a person's keys go in, and the screen is what a person would see. Standard output is a file.
pub(crate) struct OnTerminal {
    child: Child,
    pty: Arc<Pty>,
    /// The program's side, kept open so that what is set there can be looked at after its end.
    side: Option<pty_process::blocking::Pts>,
    reader: Option<thread::JoinHandle<()>>,
    screen: Arc<Mutex<vt100::Parser>>,
    root: PathBuf,
    shown: String,
}

impl OnTerminal {
    /// Starts it on a terminal of so many rows and columns.
    pub(super) fn start(command: &std::process::Command, root: PathBuf, size: (u16, u16)) -> Self {
        let (rows, columns) = size;
        let (pty, program_side) = open().expect("there are terminals");
        pty.resize(pty_process::Size::new(rows, columns)).expect("it can have any size");
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let stdout = File::create(root.join("stdout")).expect("a file can be made");
        let mut program = Command::new(command.get_program())
            .args(command.get_args())
            .env_clear()
            .envs(variables)
            .env("TERM", "xterm-256color")
            .current_dir(&root)
            .stdout(stdout);
        let child = program.spawn_borrowed(&program_side).expect("jp-policy can be started");
        let pty = Arc::new(pty);
        let size = |length: u16| NonZero::new(length).expect("a terminal has a size");
        let screen = vt100::Parser::new(size(rows), size(columns), 0);
        let screen = Arc::new(Mutex::new(screen));
        let (from, to) = (pty.clone(), screen.clone());
        // It ends when nobody has the terminal open any more.
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = (&*from).read(&mut bytes) {
                to.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..length]);
            }
        });
        Self {
            child,
            pty,
            side: Some(program_side),
            reader: Some(reader),
            screen,
            root,
            shown: format!("{command:?}"),
        }
    }

    /// What is on the screen, without what takes a different time in each run.
    pub(crate) fn screen(&self) -> String {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        // By rows: a line that fills its row and the next one are two.
        let columns = screen.screen().size().1.get();
        let lines = screen.screen().rows(0, columns).map(|row| row.trim_end().to_owned());
        let lines: Vec<String> = lines.collect();
        plain(lines.join("\n").trim_end())
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub(crate) fn until_shows(&mut self, text: &str) {
        let last = std::cell::RefCell::new(String::new());
        until_told(
            || format!("{text:?} on the screen:\n{}", last.borrow()),
            || {
                last.replace(self.screen());
                last.borrow().contains(text).then_some(())
            },
        );
    }

    /// Waits until it does something about a signal, where there is a `/proc` to tell.
    pub(crate) fn until_caught(&mut self, signal: Signal) {
        until("a handler of the signal", || catches(self.child.id(), signal).then_some(()));
    }

    /// Waits until there is a file.
    pub(crate) fn until_file(&mut self, path: &str) {
        let file = self.root.join(path);
        until(&format!("the file `{path}`"), || file.exists().then_some(()));
    }

    /// Presses keys.
    pub(crate) fn keys(&mut self, keys: &[&str]) {
        (&*self.pty).write_all(keys.concat().as_bytes()).expect("the terminal takes keys");
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Whether the terminal is as a shell wants it: it shows what is typed, and takes it by the line.
    pub(crate) fn is_sane(&self) -> bool {
        let side = self.side.as_ref().expect("it has not ended");
        let modes = tcgetattr(side.as_fd()).expect("it is a terminal").local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Waits for the end, and that nothing of the run is left; then the terminal has to be sane.
    pub(crate) fn end(mut self) -> Ended {
        until("the end of jp-policy", || self.child.try_wait().expect("it is ours"));
        let sane = self.is_sane();
        self.side = None;
        let reader = self.reader.take().expect("it ends once");
        reader.join().expect("all that was written is on the screen");
        let ended = Ended {
            status: self.child.wait().expect("it is ours"),
            stdout: fs::read(self.root.join("stdout")).unwrap_or_default(),
            stderr: self.screen().into_bytes(),
            shown: self.shown.clone(),
            root: self.root.clone(),
        };
        assert_eq!(ended.left(), Vec::<String>::new(), "processes are left");
        assert!(sane, "the terminal is left as it was while the program ran");
        ended
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // Both fail if it has ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
