//! One process of a tool, and the group it leads: run, captured, stopped, and really gone in the end.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use tokio::{
    process::Command,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    captured::{Captured, Kind},
    group::{GRACE, Group, ProcessWatch},
    spool::Spool,
};

/// Bytes of standard output that are kept. A model can't read a thousandth of it.
const STDOUT: usize = 16 << 20;

/// Bytes of standard error that are kept, the last ones: that is where the error stands.
const STDERR: usize = 64 << 10;

/// How long a process's output is waited for once it has exited: what it left in the background may hold the pipes for ever.
pub const DRAIN: Duration = Duration::from_millis(500);

/// Asks executions to stop: first gently, then not.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// TERM, and KILL after a grace time.
    pub gently: CancellationToken,
    /// KILL.
    pub now: CancellationToken,
}

/// What to run.
pub(super) struct Spec {
    pub(super) words: Vec<String>,
    pub(super) folder: PathBuf,
    pub(super) environment: Vec<(String, String)>,
}

/// What a process left behind.
#[derive(Debug)]
pub(super) struct Exit {
    pub(super) success: bool,
    /// "exit status: 1", "signal: 9 (SIGKILL)".
    pub(super) status: String,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    /// It was stopped before it ended by itself.
    pub(super) stopped: bool,
}

/// Runs a process until its whole group is gone.
pub(super) async fn run(
    spec: Spec,
    spool: &Spool,
    stop: &Stop,
    watch: Option<Arc<dyn ProcessWatch>>,
) -> io::Result<Exit> {
    let (program, arguments) = spec.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&spec.folder).envs(spec.environment).stdin(Stdio::null());
    let (mut child, group) = Group::start(command, watch)?;
    let (stdout_pipe, stderr_pipe) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) =
        (Captured::new(STDOUT, Kind::Beginning(spool.clone())), Captured::new(STDERR, Kind::End));
    let mut status = None;
    let mut ending = Ending::default();
    {
        let read = async { tokio::join!(stdout.read(stdout_pipe), stderr.read(stderr_pipe)) };
        tokio::pin!(read);
        let mut read_all = false;
        while status.is_none() || !read_all {
            let kill_at = ending.kill_at;
            tokio::select! {
                exited = child.wait(), if status.is_none() => {
                    status = Some(exited?);
                    ending.exited(Instant::now());
                }
                _ = &mut read, if !read_all => read_all = true,
                () = stop.gently.cancelled(), if !ending.asked => {
                    group.terminate();
                    ending.asked(Instant::now());
                }
                () = stop.now.cancelled(), if !ending.hurried => ending.hurried(Instant::now()),
                () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                    group.kill();
                    if status.is_some() {
                        // Whoever still holds a pipe has left the group.
                        let _ = tokio::time::timeout(DRAIN, &mut read).await;
                        break;
                    }
                    ending.killed(Instant::now());
                }
            }
        }
    }
    let stopped = ending.asked || ending.hurried;
    group.vanish(stopped && !stop.now.is_cancelled()).await;
    stdout.finish();
    stderr.finish();
    let status = match status {
        Some(status) => status,
        None => child.wait().await?,
    };
    Ok(Exit { success: status.success(), status: status.to_string(), stdout, stderr, stopped })
}

/// How a process is brought to its end. Each step is taken once: a process that can't die, because the kernel is busy with it, is
/// waited for and not signalled without a pause.
#[derive(Debug, Default)]
struct Ending {
    /// It was asked to end.
    asked: bool,
    /// It is to end at once.
    hurried: bool,
    /// When it is killed, and killed again.
    kill_at: Option<Instant>,
}

impl Ending {
    /// The process is over. What it left in the background gets a moment to finish writing.
    fn exited(&mut self, now: Instant) {
        self.kill_at = self.kill_at.or(Some(now + DRAIN));
    }

    fn asked(&mut self, now: Instant) {
        self.asked = true;
        self.kill_at = Some(now + GRACE);
    }

    fn hurried(&mut self, now: Instant) {
        self.hurried = true;
        self.kill_at = Some(now);
    }

    fn killed(&mut self, now: Instant) {
        self.kill_at = Some(now + GRACE);
    }
}

/// Where a program is: one that is given as a relative path is meant relative to the workspace, whatever the current folder is.
pub fn located(program: &str, root: &Path) -> PathBuf {
    if program.contains('/') { root.join(program) } else { PathBuf::from(program) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that a kill does not end is killed again after the grace time, and not before, however it came to be killed.
    #[tokio::test(start_paused = true)]
    async fn a_process_that_cannot_die_is_signalled_with_pauses() {
        let start = Instant::now();
        for hurry in [false, true] {
            let stop = Stop::default();
            stop.gently.cancel();
            let mut ending = Ending::default();
            let mut kills = Vec::new();
            let mut turns = 0;
            let begun = start.elapsed();
            while kills.len() < 3 {
                turns += 1;
                let kill_at = ending.kill_at;
                tokio::select! {
                    () = stop.gently.cancelled(), if !ending.asked => {
                        ending.asked(Instant::now());
                        if hurry {
                            stop.now.cancel();
                        }
                    }
                    () = stop.now.cancelled(), if !ending.hurried => ending.hurried(Instant::now()),
                    () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                        kills.push(start.elapsed().saturating_sub(begun));
                        ending.killed(Instant::now());
                    }
                }
            }
            let first = if hurry { Duration::ZERO } else { GRACE };
            assert_eq!(kills, [first, first + GRACE, first + 2 * GRACE]);
            assert!(turns <= 5, "{turns} turns");
        }
    }
}
