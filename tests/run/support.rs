//! A folder of its own for each test, the program in it, and what came of a run.

mod dir;
mod ended;
mod program;
mod terminal;
mod text;

pub(crate) use dir::{Dir, files, repository};
pub(crate) use ended::Ended;
pub(crate) use program::{Program, Running, path};
pub(crate) use terminal::{BACKSPACE, CTRL_C, DOWN, ENTER, ESCAPE, OnTerminal};
pub(crate) use text::plain;

use std::{
    thread,
    time::{Duration, Instant},
};

/// How long anything is waited for. Far beyond what a busy machine takes: it only ends what would hang.
const PATIENCE: Duration = Duration::from_mins(1);

/// Polls until there is something.
pub(crate) fn until<T>(what: &str, probe: impl FnMut() -> Option<T>) -> T {
    until_told(|| what.to_owned(), probe)
}

/// The same, told what was waited for when it was in vain.
pub(crate) fn until_told<T>(what: impl Fn() -> String, mut probe: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {}", what());
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process is gone. One that nobody has waited for is: it runs no more.
pub(crate) fn is_gone(pid: i32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else {
        return true;
    };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat", pid = pid.as_raw_nonzero()));
    let dead = stat.is_ok_and(|stat| {
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']))
    });
    dead || rustix::process::test_kill_process(pid).is_err()
}

/// Whether a process does something about a signal. Where there is no `/proc` to tell, it does.
pub(crate) fn catches(pid: u32, signal: rustix::process::Signal) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else {
        return true;
    };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & (1 << (signal.as_raw() - 1)) != 0)
}
