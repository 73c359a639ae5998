//! One process of a tool, and the group it leads: run, captured, stopped, and really gone in the end.

use std::{
    borrow::Cow,
    io::{self, Read as _},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, Command},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::spool::{IN_MEMORY, Spool, Spooled};

/// Bytes of standard output that are kept. A model can't read a thousandth of it.
const STDOUT: usize = 16 << 20;

/// Bytes of standard error that are kept, the last ones: that is where the error stands.
const STDERR: usize = 64 << 10;

/// Bytes that are read at once: each process that runs has room for two of these.
const CHUNK: usize = 32 << 10;

/// How long a process that was asked to stop may take before it is killed.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long a process's output is waited for once it has exited: what it left in the background may hold the pipes for ever.
pub const DRAIN: Duration = Duration::from_millis(500);

/// How long a killed group may take to disappear. It is dying; only the kernel is still busy with it.
const DYING: Duration = Duration::from_secs(5);

/// Is told of every process group that exists, so that something outside can end what outlives the host.
pub trait ProcessWatch: Send + Sync {
    /// A group came to be, led by this process.
    fn started(&self, group: u32);
    /// It is gone.
    fn gone(&self, group: u32);
}

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

/// Output, up to a bound; in memory as far as that is bearable.
#[derive(Debug)]
pub(super) struct Captured {
    /// All that is kept; its beginning, where the rest is spooled.
    pub(super) bytes: Vec<u8>,
    /// How many bytes there were.
    pub(super) total: u64,
    bound: usize,
    kind: Kind,
    /// All that is kept, where that is too much for memory.
    spooled: Option<Spooled>,
    /// Why not everything is kept that should be.
    pub(super) failure: Option<io::Error>,
}

/// What is kept of an output that is over its bound.
#[derive(Debug)]
enum Kind {
    /// Its beginning, spooled past a few bytes.
    Beginning(Spool),
    /// Its end.
    End,
}

impl Captured {
    fn new(bound: usize, kind: Kind) -> Self {
        Self { bytes: Vec::new(), total: 0, bound, kind, spooled: None, failure: None }
    }

    #[cfg(test)]
    pub(super) fn whole(bytes: &[u8]) -> Self {
        let mut captured = Self::new(usize::MAX, Kind::End);
        captured.push(bytes);
        captured
    }

    /// How many bytes are kept.
    pub(super) fn kept(&self) -> u64 {
        self.spooled.as_ref().map_or(self.bytes.len() as u64, Spooled::bytes)
    }

    pub(super) fn is_cut(&self) -> bool {
        self.total > self.kept()
    }

    /// All that is kept.
    pub(super) fn read_back(&self) -> io::Result<Cow<'_, [u8]>> {
        let Some(spooled) = &self.spooled else {
            return Ok(Cow::Borrowed(&self.bytes));
        };
        let mut bytes = Vec::with_capacity(usize::try_from(spooled.bytes()).unwrap_or(0));
        spooled.reader().read_to_end(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// The end of a text, for messages.
    pub(super) fn text_end(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.trim();
        if self.is_cut() { format!("...{text}") } else { text.to_owned() }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        match &self.kind {
            Kind::End => {
                self.bytes.extend_from_slice(chunk);
                // Cutting at twice the bound keeps the cost of moving bytes linear.
                if self.bytes.len() > self.bound.saturating_mul(2) {
                    self.bytes.drain(..self.bytes.len() - self.bound);
                }
            }
            Kind::Beginning(spool) => {
                let room = usize::try_from(self.bound as u64 - self.kept()).unwrap_or(0);
                let chunk = &chunk[..chunk.len().min(room)];
                if self.failure.is_some() || chunk.is_empty() {
                    return;
                }
                if self.spooled.is_none() && self.bytes.len() + chunk.len() <= IN_MEMORY {
                    return self.bytes.extend_from_slice(chunk);
                }
                if let Err(error) = spool_more(spool, &mut self.spooled, &self.bytes, chunk) {
                    self.failure = Some(error);
                }
            }
        }
    }

    fn finish(&mut self) {
        if matches!(self.kind, Kind::End) && self.bytes.len() > self.bound {
            self.bytes.drain(..self.bytes.len() - self.bound);
        }
    }

    /// Reads to the end; what does not fit is read and dropped, so that the process never blocks on a full pipe.
    async fn read(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(mut pipe) = pipe else {
            return;
        };
        let mut chunk = vec![0; CHUNK];
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            self.push(&chunk[..length]);
        }
    }
}

/// Adds to what is spooled, which begins with what is in memory.
fn spool_more(
    spool: &Spool,
    spooled: &mut Option<Spooled>,
    beginning: &[u8],
    chunk: &[u8],
) -> io::Result<()> {
    let spooled = match spooled {
        Some(spooled) => spooled,
        None => {
            let mut begun = spool.begin()?;
            begun.push(beginning)?;
            spooled.insert(begun)
        }
    };
    spooled.push(chunk)
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
    let mut stopped = false;
    {
        let read = async { tokio::join!(stdout.read(stdout_pipe), stderr.read(stderr_pipe)) };
        tokio::pin!(read);
        let mut read_all = false;
        let mut kill_at: Option<Instant> = None;
        while status.is_none() || !read_all {
            tokio::select! {
                exited = child.wait(), if status.is_none() => {
                    status = Some(exited?);
                    // What it left in the background gets a moment to finish writing.
                    let at = Instant::now() + DRAIN;
                    kill_at = kill_at.or(Some(at));
                }
                _ = &mut read, if !read_all => read_all = true,
                () = stop.gently.cancelled(), if !stopped => {
                    stopped = true;
                    group.terminate();
                    kill_at = Some(Instant::now() + GRACE);
                }
                () = stop.now.cancelled(), if kill_at.is_none_or(|at| at > Instant::now()) => {
                    stopped = true;
                    kill_at = Some(Instant::now());
                }
                () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                    group.kill();
                    if status.is_some() {
                        // Whoever still holds a pipe has left the group.
                        let _ = tokio::time::timeout(DRAIN, &mut read).await;
                        break;
                    }
                    kill_at = Some(Instant::now() + GRACE);
                }
            }
        }
    }
    group.vanish(stopped && !stop.now.is_cancelled()).await;
    stdout.finish();
    stderr.finish();
    let status = match status {
        Some(status) => status,
        None => child.wait().await?,
    };
    Ok(Exit { success: status.success(), status: status.to_string(), stdout, stderr, stopped })
}

/// Where a program is: one that is given as a relative path is meant relative to the workspace, whatever the current folder is.
pub fn located(program: &str, root: &Path) -> PathBuf {
    if program.contains('/') { root.join(program) } else { PathBuf::from(program) }
}

/// A process group that is ended when this is dropped.
pub struct Group {
    leader: Option<u32>,
    watch: Option<Arc<dyn ProcessWatch>>,
}

impl Group {
    /// Starts a process as the leader of a group of its own, with both outputs piped: the terminal's Ctrl-C does not reach it, and
    /// a stop reaches all of it.
    pub fn start(
        mut command: Command,
        watch: Option<Arc<dyn ProcessWatch>>,
    ) -> io::Result<(Child, Self)> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn()?;
        let group = Self::new(child.id(), watch);
        Ok((child, group))
    }

    fn new(leader: Option<u32>, watch: Option<Arc<dyn ProcessWatch>>) -> Self {
        if let (Some(leader), Some(watch)) = (leader, &watch) {
            watch.started(leader);
        }
        Self { leader, watch }
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.pid() {
            // Nobody left to signal is what we want.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.leader?).ok()?)
    }

    /// Asks all of it to end.
    #[cfg(unix)]
    pub fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends all of it at once.
    #[cfg(unix)]
    pub fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    #[cfg(unix)]
    fn is_alive(&self) -> bool {
        self.pid().is_some_and(|pid| {
            rustix::process::test_kill_process_group(pid).is_ok()
                && !only_zombies(pid.as_raw_nonzero().get())
        })
    }

    /// Asks all of it to end.
    #[cfg(not(unix))]
    pub fn terminate(&self) {}

    /// Ends all of it at once.
    #[cfg(not(unix))]
    pub fn kill(&self) {}

    #[cfg(not(unix))]
    fn is_alive(&self) -> bool {
        false
    }

    /// Waits until nothing of the group is left; what is left of a group whose leader is gone is killed, after the grace time
    /// where it was asked gently.
    pub async fn vanish(mut self, gently: bool) {
        let start = Instant::now();
        let kill_at = if gently { start + GRACE } else { start };
        let mut pause = Duration::from_millis(1);
        while self.is_alive() && start.elapsed() < GRACE + DYING {
            if Instant::now() >= kill_at {
                self.kill();
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        self.forget();
    }

    fn forget(&mut self) {
        if let (Some(leader), Some(watch)) = (self.leader.take(), &self.watch) {
            watch.gone(leader);
        }
    }
}

/// Whether nothing of a group is left but processes that are over and that nobody has waited for: some parents of orphans never
/// do. Where the system does not say, they count as alive.
#[cfg(unix)]
fn only_zombies(group: i32) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    let texts = processes
        .flatten()
        .filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
    // `pid (name) state ppid pgrp ...`, and a name may have blanks and brackets in it.
    let mut members = texts.filter_map(|text| {
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?.to_owned();
        (fields.nth(1)?.parse::<i32>().ok()? == group).then_some(state)
    });
    let first = members.next();
    first.is_some_and(|state| state == "Z") && members.all(|state| state == "Z")
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.leader.is_some() {
            self.kill();
            self.forget();
        }
    }
}
