//! The program: prepared, and running.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{Ended, OnTerminal, catches, until};

/// `jp-policy`, about to be started. Of the environment it has `PATH` and `HOME` only, so that no test depends on who runs it.
pub(crate) struct Program {
    command: Command,
    root: PathBuf,
    stdin: Option<Vec<u8>>,
    stderr: Option<File>,
}

impl Program {
    pub(crate) fn new(root: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jp-policy"));
        command
            .current_dir(root)
            .env_clear()
            .env("PATH", path())
            .env("HOME", root)
            .stdin(Stdio::null());
        Self { command, root: root.to_owned(), stdin: None, stderr: None }
    }

    pub(crate) fn args<S: AsRef<std::ffi::OsStr>>(
        mut self,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// What the program reads from a pipe as its standard input.
    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.command.stdin(Stdio::piped());
        self.stdin = Some(text.into());
        self
    }

    /// Where it writes its standard error, if that is not to be looked at.
    pub(crate) fn stderr(mut self, file: File) -> Self {
        self.stderr = Some(file);
        self
    }

    /// Starts it with both outputs in files.
    pub(crate) fn start(self) -> Running {
        let stdout = File::create(self.root.join("stdout")).expect("a file can be made");
        self.start_with(stdout.into())
    }

    /// Starts it with another standard output.
    pub(crate) fn start_with(mut self, stdout: Stdio) -> Running {
        let stderr = self.stderr.take().map_or_else(|| File::create(self.root.join("stderr")), Ok);
        let stderr = stderr.expect("a file can be made");
        let child = self.command.stdout(stdout).stderr(stderr).spawn();
        let mut child = child.expect("jp-policy can be started");
        if let (Some(text), Some(mut pipe)) = (self.stdin, child.stdin.take()) {
            pipe.write_all(&text).expect("it reads its standard input");
        }
        Running { child, shown: format!("{:?}", self.command), root: self.root }
    }

    /// Starts it on a terminal of so many rows and columns, with its standard output in a file.
    pub(crate) fn on_terminal(self, rows: u16, columns: u16) -> OnTerminal {
        OnTerminal::start(&self.command, self.root, (rows, columns))
    }

    /// Runs it to its end.
    pub(crate) fn end(self) -> Ended {
        self.start().end()
    }
}

/// The `PATH` of the tests, without folders that can't be looked into: a program that is in none of the others is there for
/// all one knows, and the message would be another one.
pub(crate) fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| fs::read_dir(folder).is_ok());
    std::env::join_paths(folders).expect("they were joined before")
}

/// The program while it runs. One that a failed test leaves behind is killed, and its guard ends its tools.
pub(crate) struct Running {
    child: Child,
    shown: String,
    root: PathBuf,
}

impl Running {
    /// Waits until something holds, and not longer than the program runs.
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        until(what, || {
            if holds() {
                return Some(());
            }
            // It may have come just before the end.
            let over = self.child.try_wait().expect("it is ours").is_some() && !holds();
            if over {
                drop(self.ended());
                panic!("jp-policy ended before {what}");
            }
            None
        });
    }

    /// Waits until there is a file.
    pub(crate) fn until_file(&mut self, path: &str) {
        let file = self.root.join(path);
        self.until(&format!("the file `{path}`"), || file.exists());
    }

    /// Waits until standard error says this of a call: `running`, `done`, `failed` ...
    pub(crate) fn until_said(&mut self, word: &str, call: &str) {
        let file = self.root.join("stderr");
        self.until(&format!("`{word} {call}` on standard error"), || {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let mut lines = text.lines().map(str::split_whitespace);
            lines.any(|mut words| words.next() == Some(word) && words.next() == Some(call))
        });
    }

    /// Waits until a line of a record says this.
    pub(crate) fn until_recorded(&mut self, path: &str, line: &str) {
        let file = self.root.join(path);
        self.until(&format!("`{line}` in `{path}`"), || {
            fs::read_to_string(&file).unwrap_or_default().contains(line)
        });
    }

    /// Waits until it does something about a signal, where there is a `/proc` to tell.
    pub(crate) fn until_caught(&mut self, signal: Signal) {
        let pid = self.child.id();
        self.until("a handler of the signal", || catches(pid, signal));
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it runs, so it can be signalled");
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_some()
    }

    /// Takes the other end of its standard output, if that is a pipe.
    pub(crate) fn stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.child.stdout.take()
    }

    /// Waits for the end, and that nothing of the run is left: no tool, and no guard.
    pub(crate) fn end(self) -> Ended {
        let ended = self.end_whatever_is_left();
        assert_eq!(ended.left(), Vec::<String>::new(), "processes are left");
        ended
    }

    /// Waits for the end.
    pub(crate) fn end_whatever_is_left(mut self) -> Ended {
        until("the end of jp-policy", || self.is_over().then_some(()));
        self.ended()
    }

    fn ended(&mut self) -> Ended {
        Ended {
            status: self.child.wait().expect("it is ours"),
            stdout: fs::read(self.root.join("stdout")).unwrap_or_default(),
            stderr: fs::read(self.root.join("stderr")).unwrap_or_default(),
            shown: self.shown.clone(),
            root: self.root.clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail if it has ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
