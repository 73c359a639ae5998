//! Cleans up when the program itself is killed.
//!
//! A program that is killed can't clean up: its tools' process groups would run on, and its scratch folder would stay. So a second,
//! tiny process waits at the end of a pipe that only the program holds open; when the pipe closes, it kills the groups that were
//! started and not gone, and removes the folder.

use std::{
    collections::BTreeSet,
    io::{self, BufRead as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
    sync::Mutex,
};

use jp_policy_runtime::tools::ProcessWatch;

/// The argument that makes this program the reaper. No verb, and not shown.
const ARGUMENT: &str = "__reaper";

/// Whether this process is to be the reaper.
pub(super) fn is_reaper() -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| argument == ARGUMENT)
}

/// Waits for the pipe to close, then kills what is left.
pub(super) fn run() -> ExitCode {
    let mut groups = BTreeSet::new();
    let mut folder = None;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match line.split_at_checked(1) {
            Some(("+", group)) => groups.extend(group.parse::<i32>()),
            Some(("-", group)) => {
                if let Ok(group) = group.parse() {
                    groups.remove(&group);
                }
            }
            Some(("~", path)) => folder = Some(path.to_owned()),
            _ => {}
        }
    }
    #[cfg(unix)]
    for group in groups.into_iter().filter_map(rustix::process::Pid::from_raw) {
        // One that is gone by now is what we want.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    if let Some(folder) = folder {
        // One that the program has removed itself is what we want.
        let _ = std::fs::remove_dir_all(folder);
    }
    ExitCode::SUCCESS
}

/// The program's end of the pipe.
pub(super) struct Reaper(Mutex<Option<(Child, ChildStdin)>>);

impl Reaper {
    /// Starts the reaper process. Without one the program works as well, but its being killed leaves tools behind.
    pub(super) fn start() -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(ARGUMENT).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // The terminal's Ctrl-C is not for the reaper.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take();
        Ok(Self(Mutex::new(pipe.map(|pipe| (child, pipe)))))
    }

    /// Removes this folder if the program does not come to do it. A folder whose name can't be told on a line is not.
    pub(super) fn scratch(&self, folder: &Path) {
        if let Some(path) = folder.to_str().filter(|path| !path.contains('\n')) {
            self.tell(&format!("~{path}\n"));
        }
    }

    fn tell(&self, line: &str) {
        let mut reaper = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, pipe)) = reaper.as_mut() {
            // A reaper that is gone guards no more; the calls go on.
            let _ = pipe.write_all(line.as_bytes());
        }
    }
}

impl ProcessWatch for Reaper {
    fn started(&self, group: u32) {
        self.tell(&format!("+{group}\n"));
    }

    fn gone(&self, group: u32) {
        self.tell(&format!("-{group}\n"));
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        let reaper = self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some((mut child, pipe)) = reaper {
            drop(pipe);
            // It ends as soon as the pipe is closed.
            let _ = child.wait();
        }
    }
}
